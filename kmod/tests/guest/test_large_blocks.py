# SPDX-License-Identifier: GPL-2.0
"""
Physical blocks above 64 KiB, as drives claim them: modes pad and coalesce fix those of 256 KiB, mode report counts those
of 1 MiB. The witness is the drive, which counts by itself; the bytes are compared with a model.
"""

import random

import pytest

from rig.control import Refused
from rig.direct import SECTOR, Disk, check, pattern
from rig.dm import Align, queue
from rig.one_by_one import play
from rig.oracle import Oracle
from rig.witness import touches_at

OFFSET = 3584
# Behind the first block, which begins before the drive does, and so is an edge.
FIRST = 2048
AREA = 6 * 2048
LENGTHS = [1, 8, 63, 127, 128, 129, 255, 256, 257, 300]


def requests(choose, number, block):
    """Yield random requests, a third of them around a boundary or around a half of a block: (kind, sector, sectors)."""
    for _ in range(number):
        length = choose.choice([*LENGTHS, choose.randint(1, 300)])
        sector = choose.randrange(0, AREA - 2 * 300)
        if choose.random() < 0.35:
            sector -= (FIRST + sector - OFFSET // SECTOR) % (block // SECTOR // 2)
            sector = max(0, sector + choose.choice([0, -1, 1, -length]))
        yield choose.choices(["write", "sync", "zero", "read", "flush"], [12, 3, 2, 4, 1])[0], FIRST + sector, length


@pytest.mark.each_kernel
@pytest.mark.parametrize("mode", ["pad", "coalesce"])
def test_blocks_of_256_kib_are_fixed(rig, mode):
    drive = rig.drive("p262144")
    assert queue(drive.path, "physical_block_size") == "262144"
    choose, oracle = random.Random(mode), Oracle(262144, offset=OFFSET)
    with Align(drive.path, mode=mode, alignment_offset=OFFSET) as device, Disk(device.path) as upper:
        drive.reset()
        model = play(upper, requests(choose, 250, 262144), FIRST, AREA, oracle)
        device.message("flush")
        ledger = device.balanced()
        assert sum(touches_at(drive)) == ledger["rmw_drive"] == 0
        # A read for padding is one block, and each block that was read is one read-modify-write of the host.
        assert ledger["pad_read_bytes"] == 262144 * ledger["rmw_host"] > 0
        assert ledger["rmw_expected"] == oracle.counters["rmw_expected"] > 100
        assert ledger["rmw_avoided"] > 0
        assert device.histogram("phase") == oracle.phase
        check(FIRST, model, upper.read(FIRST, AREA), "through the target")
    with Disk(drive.path) as lower:
        check(FIRST, model, lower.read(FIRST, AREA), "beneath it")


def test_a_stream_of_sub_blocks_in_coalesce_reads_its_two_ends(rig):
    """Each block of 256 KiB is completed by writes of 12 KiB, one at a time; a touch lies on the last sector of a block."""
    drive = rig.drive("p262144")
    with Align(drive.path, mode="coalesce", alignment_offset=OFFSET, hold_ms=600000) as device, Disk(device.path) as upper:
        drive.reset()
        first, step = FIRST + OFFSET // SECTOR + 511, 24
        for i in range(100):
            upper.write(first + i * step, pattern(1, first + i * step, step))
        upper.flush()
        ledger = device.balanced()
        assert sum(touches_at(drive)) == ledger["rmw_drive"] == 0
        assert ledger["rmw_host"] == 2
        check(first, pattern(1, first, 100 * step), upper.read(first, 100 * step), "the stream")


@pytest.mark.each_kernel
def test_blocks_of_1_mib_are_counted_and_not_fixed(rig):
    drive = rig.drive("p1048576")
    assert queue(drive.path, "physical_block_size") == "1048576"
    choose, oracle = random.Random(1), Oracle(1048576, offset=OFFSET)
    with Align(drive.path, alignment_offset=OFFSET) as device, Disk(device.path) as upper:
        drive.reset()
        play(upper, requests(choose, 200, 1048576), FIRST, AREA, oracle)
        ledger = device.balanced()
        assert ledger["rmw_expected"] == oracle.counters["rmw_expected"] > 100
        assert sum(touches_at(drive)) == ledger["rmw_drive_report"] == ledger["rmw_expected"]
        assert device.histogram("phase") == oracle.phase and sum(count > 0 for count in oracle.phase) > 20
        assert device.attribute("target0_physical_block_size") == "1048576"
        for mode in ("pad", "coalesce"):
            with rig.log() as log, pytest.raises(Refused):
                device.set_mode(mode)
            assert "pad and coalesce need physical blocks of at most 262144 bytes; use report" in log.text
    with rig.log() as log, pytest.raises(Refused), Align(drive.path, mode="pad", alignment_offset=OFFSET):
        pass
    assert "pad and coalesce need physical blocks of at most 262144 bytes; use report" in log.text
