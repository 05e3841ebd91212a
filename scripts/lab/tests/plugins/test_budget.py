# SPDX-License-Identifier: GPL-2.0
"""At the end of a session's time the other tests are reported as not run: no failure, no pass, and no exit status 0."""

import os
import subprocess
import sys
import time

import pytest

from lab import pace
from lab.plugins import budget

SESSION = """
import subprocess
import time
from pathlib import Path

import pytest

def test_passes():
    pass

@pytest.fixture
def made(request):
    made = Path(f"made-{request.node.name}")
    made.touch()
    yield
    made.unlink()

@pytest.mark.parametrize("number", range(2))
@pytest.mark.timeout(0)
def test_long(number, made):
    subprocess.run(["sleep", "600"])

@pytest.mark.parametrize("number", range(5))
def test_never(number):
    time.sleep(600)
"""
FAILS = "\ndef test_fails():\n    assert False\n"


@pytest.fixture
def session(tmp_path):
    """Return a function that runs pytest on given tests, with a budget of `minutes`."""
    def run(text, minutes, *arguments):
        (tmp_path / "test_session.py").write_text(text)
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        environment = {name: value for name, value in os.environ.items() if name != budget.DEADLINE}
        return subprocess.run([sys.executable, "-m", "pytest", "-p", "lab.plugins.budget", "-p", "no:cacheprovider",
                               *arguments],
                              cwd=tmp_path, capture_output=True, text=True, env={**environment, budget.VARIABLE: minutes},
                              timeout=pace.patience(60))
    return run


def stretched(minutes):
    """Return so many minutes of the reference machine: pytest has to start in them, and to run the first test."""
    return f"{pace.patience(minutes):.3f}"


@pytest.mark.parametrize("workers", ["0", "2"])
def test_what_is_not_reached_or_not_finished_is_counted_and_listed(session, workers, tmp_path):
    done = session(SESSION, stretched(0.1), "-n", workers, "--dist", "load")
    assert done.returncode == budget.EXIT_STATUS, done.stdout
    assert "\n1 passed, 0 failed, 7 not run: out of time; DM_ALIGN_BUDGET_MINUTES=N gives N minutes" in done.stdout
    assert "1 passed, 7 not run: out of time in" in done.stdout.splitlines()[-1]
    assert done.stdout.count("\ntest_session.py::test_never[") == 5
    assert not [*tmp_path.glob("made-*")], "a test that is interrupted is not cleaned up"


def test_a_failure_stays_a_failure_beside_it(session):
    done = session(FAILS + SESSION, stretched(0.05))
    assert done.returncode == 1, done.stdout
    assert "1 failed, 1 passed, 7 not run: out of time in" in done.stdout.splitlines()[-1]
    assert "\n1 passed, 1 failed, 7 not run: out of time;" in done.stdout


def test_what_is_not_run_is_no_skipped_test(session):
    done = session(SESSION, stretched(0.05), "-rs")
    assert "skipped" not in done.stdout.splitlines()[-1] and "SKIPPED" not in done.stdout


@pytest.mark.parametrize("minutes, said", [("0", "time: no end"), ("10", "time: 10 minutes")])
def test_a_session_that_is_done_in_time_ends_as_usual(session, minutes, said):
    done = session("def test_passes():\n    pass\n", minutes)
    assert done.returncode == 0 and said in done.stdout and budget.WORDS not in done.stdout, done.stdout


def test_words_that_are_no_minutes_are_refused(session):
    done = session("", "soon")
    assert done.returncode == 4 and "DM_ALIGN_BUDGET_MINUTES=soon: give minutes, or 0 for no end" in done.stderr


def test_a_test_that_takes_the_first_interruption_for_itself_gets_another(session, tmp_path):
    text = """
import time
import pytest

def test_stubborn():
    try:
        time.sleep(600)
    except BaseException:
        pass
    time.sleep(600)
"""
    began = time.monotonic()
    done = session(text, stretched(0.02))
    assert done.returncode == budget.EXIT_STATUS and "1 not run: out of time in" in done.stdout, done.stdout
    assert time.monotonic() - began < pace.patience(40)
