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
# Of the reference machine, for the tests of a program without their build.
CHECK_SECONDS = 120


@pytest.mark.parametrize("program, target", CHECKS)
@pytest.mark.timeout(900)
def test_make_check_passes(program, target, subtests):
    done = subprocess.run(["make", "-C", REPO / "userspace" / program, f"OUT={OUT}",
                           f"CHECK_SECONDS={round(patience(CHECK_SECONDS))}", target],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # "make check" of one folder runs several programs, each with its own numbering.
    for verdict, name in re.findall(r"^(not ok|ok) \d+ ?-? ?(.*)$", done.stdout, re.M):
        with subtests.test(name):
            assert verdict == "ok", done.stdout[-4000:]
    assert done.returncode == 0, done.stdout[-4000:]
    # A word that no test has must not pass for a success.
    if target == "check":
        assert subprocess.run([OUT / "bin" / f"{program}-unit", "no such test"], capture_output=True).returncode == 2
