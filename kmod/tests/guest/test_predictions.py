# SPDX-License-Identifier: GPL-2.0
"""
The predictions of `alignctl plan` for a workload agree with the counts of target and drive, in every mode. The workloads
are in rig/predictions.py; rig/test_predictions.py checks that none is missing. The rules of both modes are compared with
the engine on virtual time, sim/test_forecast.py, by any requests; here real ones arrive, and the drive counts.
"""

import pytest

from lab.plugins.extent import only_all
from rig.direct import SECTOR
from rig.dm import Align
from rig.oracle import Oracle
from rig.predictions import CASES, HOLD_MS, Prediction, TracePrediction

WHY = "a stream and commits are measured; the engine on virtual time gets all shapes of requests"
# With FUA, and a stream.
HERE = {"append-512-dsync", "w4k_132k"}
GEOMETRY = {"physical_block_size": 4096, "alignment_offset": 0}

# Requests to a partition at sector 63, whose blocks start at sectors 1, 9 and so on.
ZEROES = (
    "write-zeroes,81,16",                           # whole blocks
    "write-zeroes,160,16",                          # both ends, a block between them
    "write-zeroes,243,3", "write,246,4", "write-zeroes,241,2",     # a block that a write completes, and zeroes
    "write,321,12", "write-zeroes,333,4",           # and one that zeroes complete
    "write,405,2", "write-zeroes,401,64",           # superseded
    "write-zeroes,481,3", "write,484,1",            # known, if they were written
    "write,600,1", "write-zeroes,600,1", "write-zeroes,596,1",
    "flush,,", "write-zeroes,597,1",
    "write-zeroes,0,1", "write,0,1",                # the block at the partition's edge
)


@pytest.mark.parametrize("case", [case if case.name in HERE else only_all(WHY, case) for case in CASES], ids=str)
def test_a_prediction_is_what_the_target_and_the_drive_count(rig, case):
    drive = rig.drive("p4096")
    with Align(drive.path, write_cache="on", hold_ms=HOLD_MS, **GEOMETRY) as device:
        prediction = Prediction(case, device, GEOMETRY)
        requests = prediction.plan["requests"]
        for mode in ("report", "pad", "coalesce"):
            counted, predicted = prediction.measure(mode, drive.reset), prediction.plan["modes"][mode]
            stats = drive.stats()
            assert counted["writes"] == requests["write"]["requests"]
            # One final flush; with O_DSYNC the kernel adds one to each write.
            assert counted["flushes"] == requests["flush"]["requests"] + prediction.plan["fua"] + 1
            # The only read checks that the range was prepared.
            assert counted["read_bytes"] == SECTOR
            assert stats["touches"] == predicted["touches_left"]
            assert stats["read_bytes"] == predicted["pad_read_bytes"] + counted["read_bytes"]


@pytest.mark.parametrize("mode", [*(only_all(WHY, mode) for mode in ("report", "pad")), "coalesce"])
def test_a_prediction_of_write_zeroes_is_what_the_target_and_the_drive_count(rig, tmp_path, mode):
    trace, drive = tmp_path / "trace.csv", rig.drive("p4096")
    trace.write_text("op,offset_sectors,sectors\n" + "".join(f"{row}\n" for row in ZEROES))
    zeroes = [list(map(int, row.split(",")[1:])) for row in ZEROES if row.startswith("write-zeroes")]
    geometry = {"physical_block_size": 4096, "alignment_offset": 512}
    with rig.partition(drive.path, 63, 1 << 12) as path, \
            Align(path, write_cache="on", hold_ms=HOLD_MS, **geometry) as device:
        oracle = Oracle(4096, 512)
        prediction = TracePrediction(trace, device, geometry)
        counted, predicted = prediction.measure(mode, drive.reset), prediction.plan["modes"][mode]
        stats = drive.stats()
    assert prediction.plan["zero_touches"] == counted["rmw_expected_zeroes"] == \
        sum(oracle.touches(sector, sectors) for sector, sectors in zeroes)
    assert prediction.plan["write_zeroes_misaligned"] == counted["write_zeroes_misaligned"] == \
        sum(oracle.touches(*each) > 0 for each in zeroes)
    assert stats["touches"] == stats["rmws"] == predicted["touches_left"]
    if mode != "report":
        assert (stats["write_touches"], stats["zero_touches"]) == (1, 1), "not the touches of the edge"
