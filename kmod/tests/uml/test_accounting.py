# SPDX-License-Identifier: GPL-2.0
"""The kernel's own accounts of bios that the target keeps for a while: destinations and numbers."""

import re
import time
from pathlib import Path

import pytest

from rig.direct import RWF_NOWAIT, Disk, Later, pattern
from rig.dm import Align, Device, number_of, run, sectors_of
from rig.stuck import Stuck
from rig.witness import TRACING, eventually

GEOMETRY = {"physical_block_size": 4096, "alignment_offset": 0}
DELAY = 200		# milliseconds of a request below
GAP = 0.05		# seconds in which a request reaches its waiting place


@pytest.fixture
def slow(disk):
    with Device(f"0 {sectors_of(disk.path)} delay {disk.path} 0 {DELAY}") as slow:
        yield slow


class Remaps:
    """The bios that a mapped device passes on: [(flags, sector, sectors, sector above)] after a `with` block."""

    def __init__(self, path):
        self._device = number_of(path).replace(":", ",")
        self.seen = []

    def __enter__(self):
        if not (TRACING / "trace").exists():
            run("mount", "-t", "tracefs", "tracefs", TRACING)
        self._event = TRACING / "events/block/block_bio_remap/enable"
        (TRACING / "trace").write_text("\n")
        self._event.write_text("1\n")
        return self

    def __exit__(self, *_):
        self._event.write_text("0\n")
        line = rf"block_bio_remap: \d+,\d+ (\S+) (\d+) \+ (\d+) <- \({self._device}\) (\d+)"
        for flags, *numbers in re.findall(line, (TRACING / "trace").read_text()):
            self.seen.append((flags, *map(int, numbers)))


class Statistics:
    """The disk statistics of a device since the creation of this object."""

    def __init__(self, device):
        self._file = Path("/sys/block", device.block, "stat")
        self._before = self._read()

    def _read(self):
        return [int(word) for word in self._file.read_text().split()]

    def since(self):
        after = [now - before for now, before in zip(self._read(), self._before, strict=True)]
        return {"reads": after[0], "read_sectors": after[2], "writes": after[4], "written_sectors": after[6],
                "write_ms": after[7], "flushes": after[15], "in_flight": self._read()[8]}


def test_a_write_that_waits_for_a_block_is_seen_to_go_down(rig, disk):
    with Stuck(disk.path) as stuck, Align(stuck.path, mode="pad", **GEOMETRY) as device, Disk(device.path) as upper:
        with Remaps(device.path) as remaps:
            stuck.stop()
            partial = Later(upper.write, 3, pattern(1, 3, 2))
            eventually(lambda: device.counter("pad_reads"), "the partial write is not in flight")
            whole = Later(upper.write, 0, pattern(2, 0, 8))
            eventually(lambda: device.counter("waits"), "the whole write does not wait for the block")
            stuck.flow()
            partial.result()
            whole.result()
        assert device.counter("waits") == 1
        assert [seen[1:] for seen in remaps.seen] == [(0, 8, 0)]


def test_a_write_in_front_of_the_gate_is_seen_to_go_down(rig, slow):
    with Align(slow.path, mode="report", **GEOMETRY) as device, Disk(device.path) as upper:
        with Remaps(device.path) as remaps:
            first = Later(upper.write, 64, pattern(1, 64, 8))
            eventually(lambda: device.counter("writes"), "the first write does not come")
            change = Later(device.set_mode, "pad")
            time.sleep(GAP)
            behind = Later(upper.write, 16, pattern(2, 16, 8))
            for request in (first, change, behind):
                request.result()
        assert [seen[1:] for seen in remaps.seen] == [(64, 8, 64), (16, 8, 16)]


@pytest.mark.parametrize("targets", [1, 2])
def test_a_flush_that_waits_for_what_is_held_is_accounted_once(rig, disk, targets):
    """The bio is also traced as going down, if it is the only one of its device."""
    half = sectors_of(disk.path) // 2
    # held until the flush, however slow the machine is
    options = " 10 mode coalesce write_cache on physical_block_size 4096 alignment_offset 0 hold_ms 60000"
    lines = [f"{i * half} {half} align {disk.path} {i * half}{options}" for i in range(targets)]
    with Device(*lines) as device, Disk(device.path) as upper:
        before = Statistics(device)
        for _ in range(50):
            for i in range(targets):
                upper.write(i * half + 3, pattern(1, 3, 2))
            with Remaps(device.path) as remaps:
                upper.flush()
            flushes = [seen for seen in remaps.seen if seen[2] == 0]
            assert len(flushes) == (1 if targets == 1 else 0)
        counted = before.since()
        assert counted["in_flight"] == 0
        assert counted["flushes"] + counted["writes"] == 50 * (targets + 1), counted


def test_pieces_of_a_write_are_seen_to_go_down(rig):
    """A write with an end for the engine: the remainder goes down as a piece made from the write."""
    with rig.scsi_debug(physblk_exp=3) as path, Align(path, mode="pad") as device, Disk(device.path) as upper:
        with Remaps(device.path) as remaps:
            upper.write(16, pattern(1, 16, 19))
        assert [seen[1:] for seen in remaps.seen] == [(16, 16, 16)]


@pytest.mark.parametrize("mode", ["report", "pad", "coalesce"])
def test_each_request_counts_once_in_the_statistics_of_the_device(rig, disk, mode):
    """Bios that go down, in one or several pieces, and bios that the engine ends, are counted; bios sent back are not."""
    with Align(disk.path, mode=mode, write_cache="on", **GEOMETRY) as device, Disk(device.path) as upper:
        before = Statistics(device)
        sent = [(3, 2), (16, 8), (27, 30), (80, 19), (120, 16)]
        for tag, (sector, sectors) in enumerate(sent):
            upper.write(sector, pattern(tag, sector, sectors))
        if mode != "report":
            with pytest.raises(BlockingIOError):
                upper.write(205, pattern(9, 205, 1), flags=RWF_NOWAIT)
        upper.read(3, 2)
        upper.read(0, 64)
        upper.flush()
        counted = before.since()
        assert (counted["reads"], counted["read_sectors"]) == (2, 66)
        assert counted["writes"] + counted["flushes"] == len(sent) + 1
        assert counted["written_sectors"] == sum(sectors for _, sectors in sent)
        assert counted["in_flight"] == 0


def test_the_time_that_a_write_spends_in_the_engine_is_in_the_statistics_of_the_device(rig, slow):
    with Align(slow.path, mode="pad", **GEOMETRY) as device, Disk(device.path) as upper:
        before = Statistics(device)
        for tag in range(3):
            upper.write(tag * 64 + 3, pattern(tag, tag * 64 + 3, 2))
        assert before.since()["write_ms"] >= 3 * DELAY * 0.9
