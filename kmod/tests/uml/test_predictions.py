# SPDX-License-Identifier: GPL-2.0
"""
What `alignctl plan` says of every workload is what the target's ledger says when it is done, in every mode, here on
large blocks that do not start where the disk does. Of the drive's own counters see guest/test_predictions.py. In make
check each workload runs in one of the two places.
"""

import pytest

from lab.plugins.extent import only_all
from rig.dm import Align
from rig.predictions import CASES, HOLD_MS, Prediction

GEOMETRY = {"physical_block_size": 16384, "alignment_offset": 512}


@pytest.mark.parametrize("case", [case if case.like else only_all("make check measures it on a drive in a guest", case)
                                  for case in CASES], ids=str)
def test_a_prediction_is_what_the_ledger_says(rig, disk, case):
    with Align(disk.path, write_cache="on", hold_ms=HOLD_MS, **GEOMETRY) as device:
        prediction = Prediction(case, device, GEOMETRY)
        for mode in ("report", "pad", "coalesce"):
            prediction.measure(mode)
