# SPDX-License-Identifier: GPL-2.0
"""What needs root says so, and what only looks does not need it."""

import os
import shutil
import subprocess
import tempfile

import pytest

from alignctl_program import ALIGNCTL
from lab.pace import patience

FINE, FINDINGS, USAGE, IO = range(4)


def as_nobody(*arguments, **environment):
    """Runs the program without privilege, from a place that another user can reach, unlike pytest's own folders."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = shutil.copy(ALIGNCTL, folder)
        nobody = {} if os.geteuid() else {"user": 65534, "group": 65534, "extra_groups": []}
        return subprocess.run([program, *arguments], text=True, capture_output=True, timeout=patience(60), check=False,
                              env={**os.environ, **environment}, **nobody)


@pytest.mark.parametrize("arguments", [["detach", "x"], ["set", "x", "--drop-failed"], ["set", "x", "--hold-ms", "5"]])
def test_what_needs_root_says_so(arguments):
    failed = as_nobody(*arguments)
    assert failed.returncode == IO
    assert "run alignctl as root" in failed.stderr


@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["stats"]])
def test_to_look_needs_no_root(arguments):
    done = as_nobody(*arguments)
    assert done.returncode == FINE and "root" not in done.stderr
