# SPDX-License-Identifier: GPL-2.0
"""
The predictions of `alignctl plan` for every workload agree with the target's ledger, in every mode, here on large blocks
with an offset. guest/test_predictions.py has the drive's own counters.
"""

import pytest

from rig.dm import Align
from rig.predictions import CASES, HOLD_MS, Prediction

GEOMETRY = {"physical_block_size": 16384, "alignment_offset": 512}


@pytest.mark.check_all("sim/test_forecast.py has blocks of all sizes and offsets, with the engine on virtual time")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_prediction_is_what_the_ledger_says(rig, disk, case):
    with Align(disk.path, write_cache="on", hold_ms=HOLD_MS, **GEOMETRY) as device:
        prediction = Prediction(case, device, GEOMETRY)
        for mode in ("report", "pad", "coalesce"):
            prediction.measure(mode)
