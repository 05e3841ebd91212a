# SPDX-License-Identifier: GPL-2.0
"""A test finds the signals of a terminal's first program wherever its session runs, and leaves them so for the next one."""

import signal
import subprocess
import sys

import pytest

from lab.pace import patience
from lab.paths import REPO

ENDS = """import os
import signal


def test_a_child_ends_by_its_signal():
    child = os.fork()
    if not child:
        os.kill(os.getpid(), signal.{name})
        os._exit(3)
    assert os.waitpid(child, 0)[1] == signal.{name}
"""

LEAVES = """import signal


def test_that_leaves():
    {left}


def test_behind_it():
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())
"""


def run(folder, text, *, plugin=True, before=None):
    """Run pytest on a file of that text; before: called in the process that becomes pytest."""
    (folder / "test_sample.py").write_text(text)
    done = subprocess.run([sys.executable, "-m", "pytest", *(["-p", "lab.plugins.signals"] if plugin else []), "-q",
                           "-p", "no:cacheprovider", str(folder)], cwd=folder, env={"PYTHONPATH": str(REPO / "scripts")},
                          capture_output=True, text=True, preexec_fn=before, timeout=patience(60), check=False)
    return done.stdout + done.stderr


BLOCKS = {"blocked": lambda number: signal.pthread_sigmask(signal.SIG_BLOCK, [number]),
          "ignored": lambda number: signal.signal(number, signal.SIG_IGN)}


@pytest.mark.parametrize("how", BLOCKS)
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGQUIT"])
def test_a_session_that_begins_without_a_signal_gives_it_to_its_tests(tmp_path, how, name):
    def before():
        BLOCKS[how](signal.Signals[name])
    text = ENDS.format(name=name)
    assert "1 passed" in run(tmp_path, text, before=before)
    assert "1 failed" in run(tmp_path, text, plugin=False, before=before), "the sample does not need the plugin"


@pytest.mark.parametrize("left", ["signal.signal(signal.SIGTERM, lambda *_: None)",
                                  "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])"])
def test_one_that_leaves_a_signal_otherwise_fails_and_the_next_one_does_not(tmp_path, left):
    said = run(tmp_path, LEAVES.format(left=left))
    assert "2 passed, 1 error" in said and "the test leaves signals otherwise than it found them" in said
