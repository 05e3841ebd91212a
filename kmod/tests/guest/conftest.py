# SPDX-License-Identifier: GPL-2.0
"""
The lab that every test of the target works in. One test alone, on one kernel ("not linux-6.12" for the other one), and
longer than usual:

    scripts/python -m pytest kmod/tests/guest -k "linux-6.12 and starves"
    DM_ALIGN_STRESS_SECONDS=120 scripts/python -m pytest kmod/tests/guest -k "stress_on"    ten minutes on each kernel
    DM_ALIGN_POWER_CUTS=1000 scripts/python -m pytest kmod/tests/guest -rP -k "power_cuts"
    DM_ALIGN_HOSTILE_LINES=10000 scripts/python -m pytest kmod/tests/guest -k "hostile"
"""

import pytest

from dmalign import guest
from dmalign.paths import OUT
from rig.lab import LIFECYCLE_ROUNDS, LIFECYCLE_SMP_ROUNDS, Lab


@pytest.fixture
def lab():
    lab = Lab(guest.drive, OUT / "bin", guest.config()["module"])
    lab.has_drives = bool(guest.config()["drives"])
    lab.rounds = LIFECYCLE_SMP_ROUNDS if lab.has_drives else LIFECYCLE_ROUNDS
    return lab
