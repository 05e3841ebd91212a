# SPDX-License-Identifier: GPL-2.0
"""Requests across the border of two regions of 64 MiB, whose blocks have locks of their own."""

import pytest

from lab.pace import scaled
from lab.plugins.extent import only_all
from rig.direct import SECTOR, Disk, Later, check, pattern
from rig.dm import Align, Device, sectors_of
from rig.rig import STRESS_LIMIT
from rig.witness import writes

BORDER = (64 << 20) // SECTOR
LONG = 60000
BEFORE = BORDER - 64		# the sectors of these tests
COUNT = 128


@pytest.fixture
def drive(rig):
    drive = rig.drive("p4096")
    with Disk(drive.path) as lower:
        lower.write(BEFORE, pattern(1000, BEFORE, COUNT))
    return drive


class Content:
    """The content of the sectors around the border."""

    def __init__(self):
        self.data = bytearray(pattern(1000, BEFORE, COUNT))

    def put(self, sector, data):
        at = (sector - BEFORE) * SECTOR
        self.data[at:at + len(data)] = data

    def check(self, *disks):
        for disk in disks:
            check(BEFORE, bytes(self.data), disk.read(BEFORE, COUNT), disk.path)


@pytest.mark.parametrize("mode", ["pad", "coalesce"])
def test_a_write_across_the_border_is_one_write(drive, mode):
    content = Content()
    with Align(drive.path, mode=mode, hold_ms=LONG) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        drive.reset()
        for tag, (sector, sectors) in enumerate([(BORDER - 3, 7), (BORDER - 19, 38), (BORDER - 24, 48)]):
            data = pattern(tag, sector, sectors)
            upper.write(sector, data)
            content.put(sector, data)
            content.check(upper)
        upper.flush()
        content.check(upper, lower)
        ledger = device.balanced()
        assert drive.stats()["touches"] == ledger["rmw_drive"] == 0
        assert ledger["rmw_expected"] == 4


def test_held_neighbours_on_both_sides_are_read_overlaid_flushed_and_superseded(drive):
    content = Content()
    with Align(drive.path, mode="coalesce", hold_ms=LONG) as device, Disk(device.path) as upper, \
            Disk(drive.path) as lower:
        places = [BORDER - 16 + 1, BORDER - 8 + 2, BORDER + 3, BORDER + 8 + 4]
        for tag, sector in enumerate(places):
            upper.write(sector, pattern(tag, sector, 2))
            content.put(sector, pattern(tag, sector, 2))
        assert device.counter("held_blocks") == 4
        content.check(upper)
        assert device.counter("reads_overlaid") > 0
        upper.flush()
        content.check(upper, lower)
        assert device.balanced()["pad_reads"] <= 2

        for tag, sector in enumerate(places):
            upper.write(sector, pattern(10 + tag, sector, 1))
            content.put(sector, pattern(10 + tag, sector, 1))
        upper.discard(BORDER - 8, 16)
        content.put(BORDER - 8, bytes(16 * SECTOR))
        assert device.counter("rmw_avoided_superseded") == 0
        assert device.counter("held_blocks") == 2
        content.check(upper)
        upper.write(BORDER - 32, pattern(20, BORDER - 32, 64))
        content.put(BORDER - 32, pattern(20, BORDER - 32, 64))
        assert device.counter("rmw_avoided_superseded") == 2
        content.check(upper, lower)
        device.balanced()


@pytest.mark.parametrize("sizes", [[8], [5, 29], [16]])
def test_a_stream_across_the_border_costs_two_reads(drive, sizes):
    content = Content()
    with Align(drive.path, mode="coalesce", hold_ms=LONG) as device, Disk(device.path) as upper, \
            Disk(drive.path) as lower:
        drive.reset()
        at, tag = BEFORE + 3, 0
        while at + max(sizes) < BEFORE + COUNT:
            data = pattern(tag, at, sizes[tag % len(sizes)])
            upper.write(at, data)
            content.put(at, data)
            at, tag = at + len(data) // SECTOR, tag + 1
        content.check(upper)
        upper.flush()
        content.check(upper, lower)
        ledger, stats = device.balanced(), drive.stats()
        assert at % 8, "a stream that ends with a block needs one read less"
        assert (stats["touches"], ledger["rmw_host"], ledger["pad_reads"]) == (0, 2, 2)
        assert ledger["touches_held"] == ledger["rmw_expected"]
        covered = {s for r in writes(drive.log()) for s in range(r.sector, r.sector + r.sectors)}
        assert covered >= set(range(BEFORE + 3, at))


@pytest.mark.parametrize("mode", [only_all("in coalesce the same requests wait for each other", "pad"), "coalesce"])
def test_overlapping_requests_across_the_border_keep_their_order(drive, mode):
    """An aligned write across the border is in flight; touches arrive at both ends, and then an aligned write over all."""
    content = Content()
    length = sectors_of(drive.path)
    with Device(f"0 {length} delay {drive.path} 0 0 {drive.path} 0 {round(scaled(400))}") as slow, \
            Align(slow.path, mode=mode, hold_ms=LONG) as device, Disk(device.path) as upper, \
            Disk(drive.path) as lower:
        requests = [(1, BORDER - 16, 32), (2, BORDER - 2, 4), (3, BORDER - 15, 2), (4, BORDER + 13, 5)]
        sent = []
        for tag, sector, sectors in requests:
            sent.append(Later(upper.write, sector, pattern(tag, sector, sectors), after=0.1, behind=sent[-1] if sent else None))
        for write, (tag, sector, sectors) in zip(sent, requests):
            write.result()
            content.put(sector, pattern(tag, sector, sectors))
        content.check(upper)
        upper.flush()
        content.check(lower)
        over = pattern(9, BORDER - 24, 48)
        part = Later(upper.write, BORDER - 1, pattern(8, BORDER - 1, 2))
        whole = Later(upper.write, BORDER - 24, over, after=0.1, behind=part)
        for write in (part, whole):
            write.result()
        content.put(BORDER - 24, over)
        upper.flush()
        content.check(upper, lower)
        assert device.balanced()["rmw_drive"] == 0


@pytest.mark.two_processors
@pytest.mark.timeout(STRESS_LIMIT)
@pytest.mark.parametrize("mode", [only_all("coalesce makes the requests of pad, too", "pad"), "coalesce"])
def test_stress_across_the_border_is_clean(rig, drive, mode):
    with Align(drive.path, mode=mode) as device:
        load = rig.stress(device.path, beneath=drive.path, offset=BORDER - 512, region=1024, flush=1, fua=3, zeroes=2,
                          discard=2, seconds=rig.seconds / 2)
        load.finish()
        assert device.balanced()["rmw_expected"] == load.touches + load.zero_touches
