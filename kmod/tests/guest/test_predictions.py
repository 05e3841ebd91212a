# SPDX-License-Identifier: GPL-2.0
"""
What `alignctl plan` says of a workload is what the target and the drive count when it is done, in every mode. The
workloads are in rig/predictions.py; that none is left out is checked here.
"""

import pytest

from rig.direct import SECTOR
from rig.dm import Align
from rig.predictions import CASES, HOLD_MS, Prediction, alignctl

GEOMETRY = {"physical_block_size": 4096, "alignment_offset": 0}


def test_every_workload_is_tried():
    assert {case.name for case in CASES} == \
        {workload["name"] for workload in alignctl("workloads")["workloads"]
         if workload["writes"] and not workload["buffered"]}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_prediction_is_what_the_target_and_the_drive_count(lab, case):
    drive = lab.drive("p4096")
    with Align(drive.path, write_cache="on", hold_ms=HOLD_MS, **GEOMETRY) as device:
        prediction = Prediction(case, device, GEOMETRY)
        requests = prediction.plan["requests"]
        for mode in ("report", "pad", "coalesce"):
            counted, predicted = prediction.measure(mode, drive.reset), prediction.plan["modes"][mode]
            stats = drive.stats()
            assert counted["writes"] == requests["write"]["requests"]
            # One at the end; with O_DSYNC the kernel adds one to each write.
            assert counted["flushes"] == requests["flush"]["requests"] + prediction.plan["fua"] + 1
            # Read is nothing but what was prepared, to see that it is there.
            assert counted["read_bytes"] == SECTOR
            assert stats["touches"] == predicted["rmw_drive"]
            assert stats["read_bytes"] == predicted["pad_read_bytes"] + counted["read_bytes"]
