# SPDX-License-Identifier: GPL-2.0
"""Two minutes of stress under KASAN, lockdep and the atomic sleep check, on disks that the kernel makes.

DM_ALIGN_KASAN_SECONDS: how long each of the four runs takes (30).
"""

import os
import shlex

import pytest

from dmalign import uml
from dmalign.paths import OUT
from dmalign.vm import GUEST, explain

SECONDS = float(os.environ.get("DM_ALIGN_KASAN_SECONDS", "30"))
TIMEOUT = 120 + 4 * SECONDS


@pytest.mark.parametrize("mode", ["report", "pad"])
@pytest.mark.parametrize("disk", ["null_blk", "scsi_debug"])
@pytest.mark.timeout(0)
def test_stress_finds_no_wrong_sector_and_the_kernel_no_fault(disk, mode):
    command = shlex.join(["/usr/bin/python3", str(GUEST / "stress.py"), str(uml.module()), str(OUT / "bin"), disk, mode,
                          str(SECONDS)])
    run = uml.run(command, timeout=TIMEOUT, name=f"stress-{disk}-{mode}")
    said = (run.folder / "output").read_text(errors="replace")
    print(said)
    assert run.ok, f"{explain(run, TIMEOUT)}\n{said[-3000:]}"
