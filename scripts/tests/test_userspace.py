# SPDX-License-Identifier: GPL-2.0
"""The programs' own unit tests, built with ASan and UBSan, and with TSan: each TAP line is a subtest here."""

import re
import subprocess

import pytest

from lab.pace import patience
from lab.paths import OUT, REPO
from lab.plugins.extent import only_all

MAKEFILES = sorted((REPO / "userspace").glob("*/Makefile"))
# "check" of every program, and "check-threads" of one that has threads.
CHECKS = [(path.parent.name, target) if target == "check" else
          only_all("the same tests with ASan and UBSan; TSan makes them slow", path.parent.name, target)
          for path in MAKEFILES for target in re.findall(r"^(check(?:-\w+)?):", path.read_text(), re.M)]


@pytest.mark.parametrize("program, target", CHECKS)
@pytest.mark.timeout(900)
def test_make_check_passes(program, target, subtests):
    done = subprocess.run(["make", "-C", REPO / "userspace" / program, f"OUT={OUT}", target],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # "make check" of one folder runs several programs, each with its own numbering.
    for verdict, name in re.findall(r"^(not ok|ok) \d+ ?-? ?(.*)$", done.stdout, re.M):
        with subtests.test(name):
            assert verdict == "ok", done.stdout[-4000:]
    assert done.returncode == 0, done.stdout[-4000:]
    # A word that no test has must not pass for a success.
    if target == "check":
        assert subprocess.run([OUT / "bin" / f"{program}-unit", "no such test"], capture_output=True).returncode == 2


@pytest.mark.parametrize("text, limits, passes", [
    ("sleep 2", {"CHECK_SECONDS": 1}, True),
    ("while :; do :; done", {"CHECK_SECONDS": 1}, False),
    ("sleep 600", {"CHECK_SECONDS": 1, "CHECK_STUCK": 1}, False),
])
def test_the_time_limit_of_unit_tests_is_of_a_processor(tmp_path, text, limits, passes):
    """A loaded machine lets tests wait, which must not end them; what hangs ends in the end, too."""
    program = tmp_path / "bin" / "alignctl-unit"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    done = subprocess.run(["make", "-C", REPO / "userspace" / "alignctl", f"OUT={tmp_path}", "UNIT_OBJECTS=", "check",
                           *(f"{name}={seconds}" for name, seconds in limits.items())], timeout=patience(60),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert (done.returncode == 0) is passes, done.stdout
