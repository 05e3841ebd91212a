# SPDX-License-Identifier: GPL-2.0
"""The programs' own unit tests, built with ASan and UBSan: each of their TAP lines is a subtest here."""

import re
import subprocess

import pytest

from dmalign.paths import OUT, REPO

PROGRAMS = sorted(path.parent.name for path in (REPO / "userspace").glob("*/Makefile"))


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.timeout(900)
def test_make_check_passes(program, subtests):
    done = subprocess.run(["make", "-C", REPO / "userspace" / program, f"OUT={OUT}", "check"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    # "make check" of one folder runs programs one after the other, each with its own numbering.
    for verdict, name in re.findall(r"^(not ok|ok) \d+ ?-? ?(.*)$", done.stdout, re.M):
        with subtests.test(name):
            assert verdict == "ok", done.stdout[-4000:]
    assert done.returncode == 0, done.stdout[-4000:]
