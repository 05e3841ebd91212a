# SPDX-License-Identifier: GPL-2.0
"""The content of reads while touches are held, and the fate of held touches under newer data."""

import random

import pytest

from lab.pace import scaled
from lab.plugins.extent import only_all
from rig.direct import RWF_DSYNC, SECTOR, Disk, Later, check, pattern
from rig.dm import Align, Device, sectors_of
from rig.witness import eventually, reads

BLOCK = 8
LONG = 60000
GAP = 0.15


def holding(path, **options):
    return Align(path, mode="coalesce", hold_ms=LONG, **options)


def slow(path, read_ms, write_ms):
    """Make a device on `path` with delayed reads and writes, whose flushes are not delayed."""
    return Device(f"0 {sectors_of(path)} delay {path} 0 {round(scaled(read_ms))} {path} 0 {round(scaled(write_ms))} {path} 0 0")


class Content:
    """The content of a device's first sectors, and which of them are held."""

    def __init__(self, disk, sectors):
        self.data = bytearray(pattern(1000, 0, sectors))
        for at in range(0, sectors, 1024):
            disk.write(at, bytes(self.data[at * SECTOR:(at + 1024) * SECTOR]))
        self.held = set()

    def write(self, disk, tag, sector, sectors):
        data = pattern(tag, sector, sectors)
        disk.write(sector, data)
        self.data[sector * SECTOR:(sector + sectors) * SECTOR] = data
        self.held.update(range(sector, sector + sectors))

    def check(self, disk, sector, sectors, where):
        check(sector, bytes(self.data[sector * SECTOR:(sector + sectors) * SECTOR]), disk.read(sector, sectors), where)


@pytest.mark.parametrize("physical,offset", [
    only_all("the other offset is harder", 4096, 0), (4096, 512),
    only_all("sim/test_sim.py: pin-not-kept; lives have blocks of all sizes", 65536, 0)])
def test_reads_return_what_is_held_wherever_they_begin_and_end(rig, physical, offset):
    """Reads of any part of held and other blocks return the newest content, and each with held bytes is counted."""
    drive = rig.drive("p4096")
    choose = random.Random(physical + offset)
    block, first = physical // SECTOR, offset // SECTOR
    total = 16 * block + first
    geometry = {"physical_block_size": physical, "alignment_offset": offset}
    with Disk(drive.path) as lower, holding(drive.path, **geometry) as device, Disk(device.path) as upper:
        content = Content(lower, -(-total // 1024) * 1024)
        for tag, number in enumerate((1, 2, 3, 7, 9, 14)):
            inside = choose.randrange(block - 1)
            content.write(upper, tag, first + number * block + inside, choose.randint(1, min(3, block - 1 - inside)))
        assert device.counter("held_blocks") == 6
        held, expected = sorted(content.held), 0
        for _ in range(120):
            sectors = choose.choice([1, 1, 2, 7, 8, 9, choose.randint(1, 64)])
            sector = choose.choice([choose.randrange(total), choose.choice(held) - choose.randrange(sectors)])
            sector = max(0, min(sector, total - sectors))
            before = device.counter("reads")
            content.check(upper, sector, sectors, "while touches are held")
            assert device.counter("reads") == before + 1, "a read of this size is one"
            expected += not content.held.isdisjoint(range(sector, sector + sectors))
        assert device.counter("reads_overlaid") == expected > 20
        upper.flush()
        before = device.counter("reads_overlaid")
        content.check(upper, 0, total, "after a flush")
        content.check(lower, 0, total, "beneath the target")
        assert device.counter("reads_overlaid") == before


def test_large_reads_over_many_held_blocks(rig):
    """2 MiB with a sector held in every second block, more than a read's own room for pins."""
    drive = rig.drive("p4096")
    with Disk(drive.path) as lower, holding(drive.path, max_blocks=1024) as device, Disk(device.path) as upper:
        content = Content(lower, 5 * 1024)
        for i in range(0, 600, 2):
            content.write(upper, i, i * BLOCK + i % 7, 1)
        assert device.counter("held_blocks") == 300
        for start in (0, 1, 517):
            content.check(upper, start, 4096, "a read of 2 MiB")
        assert device.counter("reads_overlaid") > 0
        upper.flush()
        content.check(lower, 0, 5 * 1024, "beneath the target")
        device.balanced()


def test_a_read_that_is_all_held_asks_nobody(rig):
    drive = rig.drive("p4096")
    with holding(drive.path) as device, Disk(device.path) as upper:
        upper.write(2, pattern(1, 2, 5))
        drive.reset()
        check(3, pattern(1, 3, 3), upper.read(3, 3), "held")
        assert drive.stats()["reads"] == 0
        upper.read(1, 3)
        assert drive.stats()["reads"] == 1


@pytest.mark.parametrize("after", ["flush", "completed", "whole", "fua"])
def test_a_read_is_not_overtaken_by_the_write_of_what_was_held(rig, after):
    """
    The read gets the drive's content from its arrival, 600 ms earlier; meanwhile the block is written and released, or
    replaced. Sectors 0 to 3 were held when the read began.
    """
    late, drive = rig.drive("media_late"), rig.drive("media")
    ways = Device(f"0 {sectors_of(drive.path)} delay {late.path} 0 0 {drive.path} 0 0")

    def outlasts_the_write():
        """Check a read beside such a write; return whether the read ended behind it."""
        with ways, holding(ways.path) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
            lower.write(0, pattern(1000, 0, 16))
            upper.write(0, pattern(1, 0, 4))
            if after in ("flush", "fua"):
                # The block's write must not use the slow way, either.
                upper.write(4, pattern(1, 4, 3))
                lawful = [pattern(1, 0, 7) + pattern(1000, 7, 1)]
            else:
                lawful = [pattern(1, 0, 4) + pattern(1000, 4, 4)]
            late.reset()
            read = Later(upper.read, 0, 16)
            eventually(lambda: late.stats()["reads"] > 0, "the read does not reach the drive")
            if after in ("completed", "flush", "fua"):
                first = 4 if after == "completed" else 7
                upper.write(first, pattern(2, first, 8 - first), flags=RWF_DSYNC if after == "fua" else 0)
                if after == "flush":
                    upper.flush()
                lawful.append(lawful[0][:first * SECTOR] + pattern(2, first, 8 - first))
            else:
                upper.write(0, pattern(2, 0, 8))
                lawful.append(pattern(2, 0, 8))
            eventually(lambda: device.counter("held_blocks") == 0, "the block stays held")
            outlasts = not read.done()
            got = read.result()
            if got[:8 * SECTOR] not in lawful:
                check(0, lawful[0], got[:8 * SECTOR], "the read has returned old content")
            check(8, pattern(1000, 8, 8), got[8 * SECTOR:], "beside the held block")
            assert device.counter("reads_overlaid") == 1
            return outlasts

    # The drive's latency is that of the guest's boot, and load may have come since.
    eventually(outlasts_the_write, "the read has ended too early each time: the test proves nothing", timeout=60)


def test_a_read_beside_the_padding_of_its_block_returns_the_held_bytes(rig):
    """The pad read takes 400 ms, and so does the reader's."""
    drive = rig.drive("p4096")
    with Disk(drive.path) as lower, slow(drive.path, 400, 0) as below, holding(below.path) as device, \
            Disk(device.path) as upper:
        lower.write(0, pattern(1000, 0, 8))
        upper.write(2, pattern(1, 2, 1))
        read_first = Later(upper.read, 0, 8)
        flush = Later(upper.flush, after=GAP, behind=read_first)
        beside = Later(upper.read, 0, 8, after=GAP, behind=flush)
        flush.result()
        want = pattern(1000, 0, 2) + pattern(1, 2, 1) + pattern(1000, 3, 5)
        for read, name in ((read_first, "before"), (beside, "beside")):
            check(0, want, read.result(), f"a read that began {name} the padding")
        check(0, want, lower.read(0, 8), "beneath the target")


OVER = {
    "whole": lambda disk: disk.write(80, pattern(5, 80, 8)),
    "run": lambda disk: disk.write(72, pattern(5, 72, 24)),
    "long": lambda disk: disk.write(69, pattern(5, 69, 30)),
    "zero": lambda disk: disk.zero(80, 8),
}


@pytest.mark.parametrize("over", OVER)
def test_what_is_overwritten_as_a_whole_is_never_written(rig, over):
    drive = rig.drive("p4096")
    with Disk(drive.path) as lower, holding(drive.path) as device, Disk(device.path) as upper:
        lower.write(64, pattern(1000, 64, 64))
        upper.write(81, pattern(1, 81, 2))
        upper.write(84, pattern(2, 84, 2))
        drive.reset()
        OVER[over](upper)
        ledger = device.ledger()
        assert ledger["rmw_avoided_superseded"] == 2
        touches = 2 if over == "long" else 0
        assert ledger["held_blocks"] == ledger["rmw_pending"] == touches
        assert not reads(drive.log())
        got = upper.read(64, 64)
        if over in ("whole", "run", "long"):
            check(80, pattern(5, 80, 8), got[16 * SECTOR:24 * SECTOR], "through the target")
        else:
            check(80, bytes(8 * SECTOR), got[16 * SECTOR:24 * SECTOR], "through the target")
        upper.flush()
        check(64, got, lower.read(64, 64), "beneath the target")
        assert device.balanced()["rmw_avoided_superseded"] == 2


def test_what_is_overwritten_in_part_keeps_the_rest(rig):
    """Zeroes over a part of a held block go down unmodified, and the rest is still held."""
    drive = rig.drive("p4096")
    with Disk(drive.path) as lower, holding(drive.path) as device, Disk(device.path) as upper:
        lower.write(0, pattern(1000, 0, 8))
        upper.write(1, pattern(1, 1, 5))
        upper.zero(0, 3)
        want = bytes(3 * SECTOR) + pattern(1, 3, 3) + pattern(1000, 6, 2)
        check(0, want, upper.read(0, 8), "through the target")
        upper.flush()
        check(0, want, lower.read(0, 8), "beneath the target")
        device.balanced()


@pytest.mark.parametrize("physical", [2048, 4096])
def test_what_is_held_is_on_the_drive_before_a_discard_goes_down(rig, physical):
    """A drive may ignore a discard, as this one with less than 4096 bytes: the acknowledged content is then still there."""
    drive, block = rig.drive("p4096"), physical // SECTOR
    with Disk(drive.path) as lower, \
            holding(drive.path, physical_block_size=physical, alignment_offset=0) as device, Disk(device.path) as upper:
        lower.write(0, pattern(1000, 0, 8))
        upper.write(1, pattern(1, 1, 1))
        drive.reset()
        upper.discard(0, block)
        assert [(r.op, r.sector, r.sectors) for r in drive.log()] == \
            [("R", 0, block), ("W", 0, block), ("D", 0, block)]
        want = pattern(1000, 0, 1) + pattern(1, 1, 1) + pattern(1000, 2, 6) if physical < 4096 else bytes(8 * SECTOR)
        for disk in (upper, lower):
            check(0, want, disk.read(0, 8), disk.path)
        ledger = device.balanced()
        assert (ledger["rmw_host"], ledger["rmw_avoided_superseded"], ledger["held_blocks"]) == (1, 0, 0)


def test_a_discard_of_a_part_takes_nothing_of_what_is_held(rig):
    """The drive ignores a discard of a part of a block, and its content is older than the held touches."""
    drive = rig.drive("p4096")
    with Disk(drive.path) as lower, holding(drive.path) as device, Disk(device.path) as upper:
        lower.write(0, pattern(1000, 0, 24))
        for first in (1, 9, 17):
            upper.write(first, pattern(1, first, 4))
        upper.discard(2, 20)		# a part of the first block, all of the second, a part of the third
        want = pattern(1000, 0, 1) + pattern(1, 1, 4) + pattern(1000, 5, 3) + bytes(8 * SECTOR) + \
            pattern(1000, 16, 1) + pattern(1, 17, 4) + pattern(1000, 21, 3)
        check(0, want, upper.read(0, 24), "through the target")
        assert device.counter("held_blocks") == 0
        check(0, want, lower.read(0, 24), "beneath the target")
        device.balanced()


def test_a_flush_waits_for_the_write_that_supersedes_what_is_held(rig):
    """
    The held data was acknowledged before the flush. The write that replaces it is still in flight: until its end, neither
    the old nor the new data is on the drive.
    """
    drive = rig.drive("p4096")
    with slow(drive.path, 0, 600) as below, holding(below.path) as device, Disk(device.path) as upper:
        upper.write(2, pattern(1, 2, 1))
        whole = Later(upper.write, 0, pattern(2, 0, 8))
        flush = Later(upper.flush, after=GAP, behind=whole)
        flush.result()
        whole.result()
        # dm-delay counts in jiffies.
        assert flush.ended >= whole.began + scaled(0.6) - 0.01, "the flush has not waited"
        with Disk(drive.path) as lower:
            check(0, pattern(2, 0, 8), lower.read(0, 8), "beneath the target")
        assert device.balanced()["rmw_avoided_superseded"] == 1


def test_a_superseding_write_that_fails_supersedes_nothing(rig):
    drive = rig.drive("p4096")
    with Disk(drive.path) as lower, holding(drive.path) as device, Disk(device.path) as upper:
        lower.write(80, pattern(1000, 80, 8))
        upper.write(82, pattern(1, 82, 3))
        drive.fail("write", 80, 8)
        with pytest.raises(OSError):
            upper.write(80, pattern(2, 80, 8))
        want = pattern(1000, 80, 2) + pattern(1, 82, 3) + pattern(1000, 85, 3)
        check(80, want, upper.read(80, 8), "through the target")
        assert device.counter("rmw_avoided_superseded") == 0 and device.counter("held_blocks") == 1
        drive.heal()
        upper.flush()
        check(80, want, lower.read(80, 8), "beneath the target")
        device.balanced()


@pytest.mark.check_all("sim/test_exhaustive.py: write-under-rmw")
def test_an_aligned_write_in_flight_is_not_undone_by_a_touch_that_comes(rig):
    """The touch cannot be held while the write is in flight; in the end the drive has both, the touch on top."""
    drive = rig.drive("p4096")
    with slow(drive.path, 0, 600) as below, holding(below.path) as device, Disk(device.path) as upper:
        upper.write(0, pattern(1, 0, 8))
        whole = Later(upper.write, 0, pattern(2, 0, 8))
        part = Later(upper.write, 3, pattern(3, 3, 1), after=GAP, behind=whole)
        for request in (whole, part):
            request.result()
        want = pattern(2, 0, 3) + pattern(3, 3, 1) + pattern(2, 4, 4)
        check(0, want, upper.read(0, 8), "through the target")
        upper.flush()
        with Disk(drive.path) as lower:
            check(0, want, lower.read(0, 8), "beneath it")
        assert device.balanced()["rmw_drive"] == 0


@pytest.mark.two_processors
def test_two_writers_of_one_block_each_find_what_they_wrote(rig):
    drive = rig.drive("p4096")
    with holding(drive.path) as device, Disk(device.path) as upper, Disk(drive.path) as lower:

        def work(first):
            for tag in range(150):
                data = pattern(tag, first, 3)
                upper.write(first, data)
                check(first, data, upper.read(first, 3), f"writer of sector {first}")
                if tag % 25 == first:
                    upper.flush()

        writers = [Later(work, 0), Later(work, 4)]
        for writer in writers:
            writer.result()
        upper.flush()
        for first in (0, 4):
            check(first, pattern(149, first, 3), lower.read(first, 3), "beneath the target")
        device.balanced()
