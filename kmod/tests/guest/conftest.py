# SPDX-License-Identifier: GPL-2.0
"""
The rig of every test of the target. To run one test on one kernel ("not linux-6.12" for the others), or longer:

    scripts/python -m pytest kmod/tests/guest -k "linux-6.12 and starves"
    DM_ALIGN_STRESS_SECONDS=120 scripts/python -m pytest kmod/tests/guest -k "stress_on"    ten minutes on each kernel
    DM_ALIGN_POWER_CUTS=1000 scripts/python -m pytest kmod/tests/guest -rP -k "power_cuts"
    DM_ALIGN_HOSTILE_LINES=10000 scripts/python -m pytest kmod/tests/guest -k "hostile"
"""

import pytest

from lab.paths import OUT
from lab.plugins import inside
from rig.dm import run
from rig.recording import INSTANCES
from rig.rig import Rig
from rig.witness import TRACING


@pytest.fixture(scope="session")
def rig():
    # User Mode Linux has no drives.
    drive = inside.drive if inside.config()["drives"] else None
    return Rig(drive, OUT / "bin", inside.config()["module"])


@pytest.fixture
def tracefs():
    """Tracefs, in which alignctl record leaves nothing behind."""
    if not INSTANCES.exists():
        run("mount", "-t", "tracefs", "tracefs", TRACING)
    yield
    assert not list(INSTANCES.glob("alignctl-*")), "an instance was left behind"
