# SPDX-License-Identifier: GPL-2.0
"""
The lab that every test of the target works in. DM_ALIGN_STRESS_SECONDS is how long one stress runs (3; some tests run
half of it), DM_ALIGN_HOSTILE_LINES how many table lines the hostile test tries (500).
"""

import os

import pytest

from dmalign import guest
from dmalign.paths import OUT
from rig.lab import Lab


@pytest.fixture
def lab():
    return Lab(guest.drive, OUT / "bin", guest.config()["module"],
               seconds=float(os.environ.get("DM_ALIGN_STRESS_SECONDS", "3")),
               hostile_lines=int(os.environ.get("DM_ALIGN_HOSTILE_LINES", "500")))
