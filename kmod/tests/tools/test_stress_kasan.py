# SPDX-License-Identifier: GPL-2.0
"""A stress under KASAN, lockdep, the atomic sleep check and kmemleak, on the kernel's own test disks.

DM_ALIGN_KASAN_SECONDS: total time of the stress; DM_ALIGN_KMEMLEAK_LINES: hostile table lines; see lab/plugins/extent.py.
"""

import re
import shlex

import pytest

from lab.machines import uml
from lab.machines.vm import explain
from lab.paths import OUT, REPO
from lab.plugins import extent

SECONDS = extent.count("DM_ALIGN_KASAN_SECONDS")
LINES = extent.count("DM_ALIGN_KMEMLEAK_LINES")
# Time for set-up and checks besides the stress, more on a loaded machine.
TIMEOUT = 120 + 3 * SECONDS + LINES / 5


@pytest.mark.timeout(0)
def test_stress_finds_no_wrong_sector_and_the_kernel_no_fault(subtests):
    command = shlex.join(["sh", str(REPO / "kmod/tests/tools/uml_stress.sh"), str(OUT / "bin"), str(uml.module()),
                          str(SECONDS), str(LINES)])
    run = uml.run(command, timeout=TIMEOUT, name="stress", append=uml.KMEMLEAK)
    said = (run.folder / "output").read_text(errors="replace")
    rounds = re.findall(r"^uml_stress: (.*)$", said, re.M)
    assert rounds, said
    for number, name in enumerate(rounds[:-1], 1):
        with subtests.test(name):
            # Each line announces a round, which ends before the next line.
            assert number < len(rounds) - 1 or run.ok, said[-3000:]
    assert run.ok, f"{explain(run)}\n{said[-3000:]}"
    assert rounds[-1] == "clean"
