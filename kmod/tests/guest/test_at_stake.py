# SPDX-License-Identifier: GPL-2.0
"""
Data that would be lost with power now: held_bytes is the acknowledged bytes that the drive has not received, and held_oldest_ms
the age of the oldest held block, by the clock of the writer.
"""

import os
import threading
import time
from collections import Counter

import pytest

from rig.direct import RWF_DSYNC, SECTOR, Disk, Later, flush_fails, pattern
from rig.dm import Align
from rig.memdisk import memory_disk
from rig.stuck import Stuck
from rig.witness import TRACING, eventually

LONG = 60000		# a hold_ms longer than any test


def holding(path, **options):
    return Align(path, mode="coalesce", hold_ms=LONG, **options)


class Timed:
    """When a call was made: after `before` and before `after`, in ns."""

    def __init__(self, call, *args, **kwargs):
        self.before = time.monotonic_ns()
        call(*args, **kwargs)
        self.after = time.monotonic_ns()


def check_age(device, write, where):
    """The oldest held block is one that `write` began to hold."""
    asked = time.monotonic_ns()
    age = device.counter("held_oldest_ms") * 10**6
    answered = time.monotonic_ns()
    assert asked - write.after <= age <= answered - write.before + 10**6, \
        f"{where}: {age} ns, and the write was {asked - write.after} to {answered - write.before} ns ago"


def nothing(device):
    return (device.counter("held_bytes"), device.counter("held_oldest_ms"), device.counter("held_blocks")) == (0, 0, 0)


class Writer:
    """Writes, and knows from the drive's log which sectors are acknowledged and not received, and since when of each block."""

    def __init__(self, drive, device, block, first):
        self.drive, self.device, self.block, self.first = drive, device, block, first
        self.sectors, self.since = set(), {}

    def outstanding(self, written):
        received = {sector for request in self.drive.log() if request.op in "WD"
                    for sector in range(request.sector, request.sector + request.sectors)}
        return (self.sectors | written) - received

    def step(self, name, call, sector, sectors, *data, **options):
        self.drive.reset()
        timed = Timed(call, sector, *(data or [sectors]), **options)
        written = set(range(sector, sector + sectors))
        blocks = Counter()

        def settled():
            nonlocal blocks
            left = self.outstanding(written)
            blocks = Counter((each - self.first) // self.block for each in left)
            # a whole block is on its way
            return self.block not in blocks.values() and self.device.counter("held_bytes") == SECTOR * len(left)

        eventually(settled, f"{name}: held_bytes is not what the drive lacks")
        self.sectors = self.outstanding(written)
        self.since = {block: self.since.get(block, timed) for block in blocks}
        assert self.device.counter("held_blocks") == len(blocks), name
        if blocks:
            check_age(self.device, min(self.since.values(), key=lambda each: each.before), name)
        else:
            assert nothing(self.device), name


@pytest.mark.parametrize("name,physical,offset", [
    ("p4096", 4096, 0), ("p16384", 16384, 0), ("offset3584", 4096, 3584)])
def test_at_stake_is_what_was_acknowledged_and_not_received(rig, name, physical, offset):
    drive = rig.drive(name)
    block, first = physical // SECTOR, offset // SECTOR

    def at(number, inside):
        return first + number * block + inside

    with holding(drive.path, physical_block_size=physical, alignment_offset=offset) as device, Disk(device.path) as upper:
        assert nothing(device)
        writer = Writer(drive, device, block, first)

        def write(what, sector, sectors, **options):
            writer.step(what, upper.write, sector, sectors, pattern(1, sector, sectors), **options)

        write("what FUA takes along", at(4, 1), 2)
        # and a flush follows
        write("with FUA", at(4, 5), 1, flags=RWF_DSYNC)
        assert not writer.sectors
        write("one sector", at(1, 1), 1)
        write("the same one", at(1, 1), 1)
        write("over it", at(1, 0), 3)
        write("in another block", at(3, 2), 3)
        write("in two", at(5, block - 2), 4)
        write("and blocks between", at(8, block - 1), 3 * block)
        write("the rest of the first", at(1, 2), block - 2)
        write("all of another", at(3, 0), block)
        writer.step("zeroes", upper.zero, at(14, 1), 2)
        writer.step("a discard", upper.discard, at(14, 0), block)
        write("again", at(1, 1), 1)
        assert set(writer.since) == {1, 5, 6, 8, 11}
        writer.step("a flush", lambda *_: upper.flush(), 0, 0)
        assert not writer.sectors and nothing(device)


def test_what_the_drive_refuses_stays_at_stake_and_keeps_its_age(rig):
    drive = rig.drive("p4096")
    with holding(drive.path) as device, Disk(device.path) as upper:
        write = Timed(upper.write, 82, pattern(1, 82, 3))
        upper.write(163, pattern(1, 163, 2))
        drive.fail("write", 80, 8)
        try:
            for tag in range(2):
                assert flush_fails(upper)
                assert device.counter("held_bytes") == 3 * SECTOR
                check_age(device, write, "degraded")
                upper.write(203, pattern(tag, 203, 2))
                assert device.counter("held_bytes") == 5 * SECTOR
                check_age(device, write, "beside another block")
            device.suspend()
            assert device.counter("held_bytes") == 3 * SECTOR
            check_age(device, write, "suspended")
            device.resume()
            # overwritten data are at stake no more
            upper.write(160, pattern(2, 160, 8))
            check_age(device, write, "resumed")
            device.message("drop_failed")
            eventually(lambda: nothing(device), "what was dropped is at stake")
        finally:
            drive.heal()


def test_what_is_on_its_way_is_at_stake_and_the_figures_do_not_wait_for_it(rig):
    drive = rig.drive("p4096")
    with Stuck(drive.path) as stuck, holding(stuck.path) as device, Disk(device.path) as upper:
        write = Timed(upper.write, 1, pattern(1, 1, 3))
        reads = device.counter("pad_reads")
        stuck.stop()
        flush = Later(device.message, "flush")
        eventually(lambda: device.counter("pad_reads") > reads, "the block is not being read")
        assert device.counter("held_bytes") == 3 * SECTOR
        check_age(device, write, "in flight")
        assert not flush.done()
        stuck.flow()
        flush.result()
        assert nothing(device)


def test_the_oldest_is_that_of_all_targets(rig):
    drive = rig.drive("p4096")
    with holding(drive.path) as device, Disk(device.path) as upper:
        half = device.length // 2 // 8 * 8
        device.reload(*(f"0 {half} align {drive.path} 0 4 mode coalesce hold_ms {LONG}",
                        f"{half} {half} align {drive.path} {half} 4 mode coalesce hold_ms {LONG}"))
        second = Timed(upper.write, half + 1, pattern(1, half + 1, 2))
        first = Timed(upper.write, 1, pattern(1, 1, 3))
        assert device.counter("held_bytes") == 5 * SECTOR
        check_age(device, second, "of both")
        # all of the block
        upper.write(half, pattern(2, half, 8))
        eventually(lambda: device.counter("held_bytes") == 3 * SECTOR, "what was overwritten is at stake")
        check_age(device, first, "of the other one")
        upper.flush()
        assert nothing(device)


def functions_of_a_read(path):
    """Return how many functions the kernel calls for a read of a file of sysfs: of some reads the least, without interrupts."""
    least = []
    file = os.open(path, os.O_RDONLY)
    try:
        (TRACING / "tracing_on").write_text("0")
        (TRACING / "buffer_size_kb").write_text("8192\n")
        (TRACING / "set_ftrace_pid").write_text(f"{threading.get_native_id()}\n")
        (TRACING / "current_tracer").write_text("function")
        for _ in range(5):
            (TRACING / "trace").write_text("")
            (TRACING / "tracing_on").write_text("1")
            os.pread(file, 32, 0)
            (TRACING / "tracing_on").write_text("0")
            least.append(sum(not line.startswith("#") for line in (TRACING / "trace").read_text().splitlines()))
    finally:
        os.close(file)
        (TRACING / "current_tracer").write_text("nop")
        (TRACING / "set_ftrace_pid").write_text("\n")
        (TRACING / "tracing_on").write_text("1")
    return min(least)


@pytest.mark.check_all("the age itself; here what it costs")
def test_the_age_costs_the_same_however_much_is_held(rig, tracefs):
    """Every user may read the file, without limit, and each read takes locks of the target."""
    rig.load_module()
    blocks = 1000
    with memory_disk() as disk, holding(disk.path, physical_block_size=4096, alignment_offset=0) as device, \
            Disk(device.path) as upper:
        upper.write(1, pattern(1, 1, 1))
        few = functions_of_a_read(device.sysfs / "held_oldest_ms")
        assert few > 20, "a read is not traced: the test proves nothing"
        for block in range(1, blocks):
            upper.write(8 * block + 1, pattern(1, 8 * block + 1, 1))
        assert device.counter("held_blocks") == blocks
        many = functions_of_a_read(device.sysfs / "held_oldest_ms")
        print(f"{few} functions for 1 block, {many} for {blocks}")
        assert many < 2 * few, f"a read calls {few} functions with 1 block held, and {many} with {blocks}"
