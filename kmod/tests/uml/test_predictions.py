# SPDX-License-Identifier: GPL-2.0
"""
The predictions of `alignctl plan` for every workload agree with the target's ledger, in every mode, here on large blocks
with an offset. guest/test_predictions.py has the drive's own counters. In make check some workloads run here that do not
run there.
"""

import pytest

from lab.plugins.extent import only_all
from rig.dm import Align
from rig.predictions import CASES, HOLD_MS, Prediction

GEOMETRY = {"physical_block_size": 16384, "alignment_offset": 512}
# Of the streams, the journals and the databases each one.
HERE = {"w136k", "areasync-512-128k", "journal-64k-rand", "db-randwrite", "db-daemon"}


def test_each_workload_that_make_check_measures_here_is_one():
    assert {case.name for case in CASES if case.like} >= HERE


@pytest.mark.parametrize("case", [
    case if case.name in HERE and case.like else only_all("make check measures it, or one like it, on a drive in a guest", case)
    for case in CASES], ids=str)
def test_a_prediction_is_what_the_ledger_says(rig, disk, case):
    with Align(disk.path, write_cache="on", hold_ms=HOLD_MS, **GEOMETRY) as device:
        prediction = Prediction(case, device, GEOMETRY)
        for mode in ("report", "pad", "coalesce"):
            prediction.measure(mode)
