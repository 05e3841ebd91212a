# SPDX-License-Identifier: GPL-2.0
"""Mode coalesce acknowledges a touch before the drive receives it, and writes it when necessary."""

import os
import time

import pytest

from lab.pace import Limit, scaled
from lab.plugins.extent import only_all
from rig.control import NOFLUSH_FLAG, Refused
from rig.direct import RWF_DSYNC, SECTOR, Disk, Later, Together, check, pattern
from rig.dm import Align, Device, queue, run
from rig.oracle import Oracle
from rig.witness import eventually, reads, writes

BLOCK = 8		# sectors, P = 4096
LONG = 60000		# a hold_ms longer than any test


class Holding(Align):
    """The target in mode coalesce, with a long hold_ms."""

    def __init__(self, below, **options):
        super().__init__(below, **{"mode": "coalesce", "hold_ms": LONG, **options})


def heard(drive):
    """Return the drive's counts of (reads, writes)."""
    stats = drive.stats()
    return stats["reads"], stats["writes"]


def every_class(block):
    """Return (first sector in its block, sectors) of one write of each class, most of them without whole blocks."""
    return {
        "one sector": (1, 1), "first part": (0, block // 2), "last part": (block // 2, block // 2),
        "all but one": (0, block - 1), "head and tail": (block // 2, block), "head": (1, 2 * block - 1),
        "tail": (0, 2 * block - 1), "both, a run between": (block - 1, 3 * block),
    }


@pytest.mark.parametrize("name,physical,offset", [
    ("p4096", 4096, 0), ("offset3584", 4096, 3584), ("p16384", 16384, 0), ("p4096", 65536, 4096)])
def test_a_touch_of_every_class_is_acknowledged_before_the_drive_hears_of_it(rig, name, physical, offset):
    drive = rig.drive(name)
    block, first = physical // SECTOR, offset // SECTOR
    oracle = Oracle(physical, offset=offset)
    total = (len(every_class(block)) + 1) * 5 * block
    geometry = {"physical_block_size": physical, "alignment_offset": offset}
    with Disk(drive.path) as lower, Holding(drive.path, **geometry) as device, Disk(device.path) as upper:
        want = bytearray(pattern(1000, 0, total))
        lower.write(0, bytes(want))
        held = blocks = 0
        for tag, (kind, (inside, sectors)) in enumerate(every_class(block).items()):
            sector = first + (5 * tag + 1) * block + inside
            data = pattern(tag, sector, sectors)
            whole = sum(count == block for _, count, _ in oracle.split(sector, sectors))
            drive.reset()
            upper.write(sector, data)
            assert heard(drive) == (0, 1 if whole else 0), f"{kind}: {drive.log()}"
            assert drive.stats()["touches"] == 0, f"{kind}: {drive.log()}"
            want[sector * SECTOR:sector * SECTOR + len(data)] = data
            touches = oracle.write(sector, sectors)
            held, blocks = held + touches, blocks + touches
            ledger = device.balanced(pending=held)
            assert (ledger["touches_held"], ledger["held_blocks"]) == (held, blocks), kind
            check(0, bytes(want), upper.read(0, total), f"{kind}, while held")
        oracle.compare({**ledger, "reads": 0, "read_bytes": 0}, device.histogram("phase"), device.histogram("size"))
        assert lower.read(0, total) != bytes(want), "all content is on the drive: no touch was held"
        upper.flush()
        ledger = device.balanced()
        assert ledger["held_blocks"] == ledger["rmw_drive"] == 0 and ledger["touches_held"] == held
        assert sum(device.histogram("hold_time")) == blocks
        check(0, bytes(want), lower.read(0, total), "beneath the target, after a flush")


@pytest.mark.parametrize("parts", [[(0, 4), (4, 4)], [(7, 1), (0, 7)], [(i, 1) for i in (3, 0, 7, 5, 1, 2, 6, 4)],
                                   [(0, 5), (2, 5), (5, 3)]])
def test_a_block_that_is_completed_is_written_whole_and_not_read(rig, parts):
    drive = rig.drive("p4096")
    with Holding(drive.path) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        drive.reset()
        want = bytearray(4096)
        for tag, (first, sectors) in enumerate(parts, 1):
            assert heard(drive) == (0, 0), "held until the last part"
            data = pattern(tag, first, sectors)
            upper.write(first, data)
            want[first * SECTOR:(first + sectors) * SECTOR] = data
        eventually(lambda: device.counter("held_blocks") == 0, "the whole block is not written")
        assert [(r.op, r.sector, r.sectors) for r in drive.log()] == [("W", 0, 8)]
        ledger = device.balanced()
        assert ledger["rmw_avoided_complete"] == ledger["touches_held"] == len(parts)
        assert ledger["pad_writes"] == 1 and ledger["pad_reads"] == 0
        check(0, bytes(want), lower.read(0, 8), "beneath the target")


# The field's streams: one write at a time, (sectors of each in turn), all from sector 7.
STREAMS = {"w4k": [8], "w136k": [272], "w4k_132k": [8, 264], "w2560": [5], "w2m in requests": [1344, 1344, 1344, 64]}


@pytest.mark.parametrize("name", [name if name == "w4k_132k" else only_all("sim/test_forecast.py: streams-do-not-wait", name)
                                  for name in STREAMS])
def test_a_misaligned_stream_costs_two_reads_whatever_its_length(rig, name):
    drive = rig.drive("p4096")
    sizes = STREAMS[name]
    sent = [sizes[i % len(sizes)] for i in range(16)]
    oracle = Oracle(4096)
    with Holding(drive.path) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        lower.write(0, pattern(1000, 0, 16))
        drive.reset()
        at = 15
        for tag, sectors in enumerate(sent):
            upper.write(at, pattern(tag, at, sectors))
            oracle.write(at, sectors)
            at += sectors
        assert not reads(drive.log()), "no block is read before this is necessary"
        upper.flush()
        ledger, stats = device.balanced(), drive.stats()
        touches = oracle.counters["rmw_expected"]
        assert ledger["rmw_expected"] == ledger["touches_held"] == touches
        assert (stats["touches"], stats["reads"]) == (0, 2)
        assert (ledger["rmw_host"], ledger["rmw_avoided"], ledger["pad_reads"]) == (2, touches - 2, 2)
        assert stats["write_bytes"] == ledger["sent_block_bytes"]
        requests = [(r.sector, r.sectors) for r in writes(drive.log())]
        runs = sum(sectors >= 2 * BLOCK for sectors in sent)
        if runs:
            assert len(requests) == runs + 2, f"not one for each remainder with the held block in front, and the ends: {requests}"
        else:
            assert len(requests) <= len(sent) // 2, f"held neighbours were not written together: {requests}"
        at = 15
        for tag, sectors in enumerate(sent):
            check(at, pattern(tag, at, sectors), lower.read(at, sectors), "beneath the target")
            at += sectors
        check(8, pattern(1000, 8, 7), lower.read(8, 7), "the sectors before the stream")


def blocks_per_request(path):
    """Return the most blocks per request that the device below allows, if each page is a segment."""
    return min(int(queue(path, "max_sectors_kb")) // 4, int(queue(path, "max_segments")))


@pytest.mark.parametrize("segments", [30, 126, 254])
def test_neighbours_are_drained_in_runs(rig, segments):
    """512 bytes in each of 600 blocks, in any order: one read for a run of them, and one write."""
    drive = rig.drive(f"segments{segments}")
    most = blocks_per_request(drive.path)
    number = 600
    with Holding(drive.path, max_blocks=1024) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        for at in range(0, number * BLOCK, 1200):
            lower.write(at, pattern(1000, at, 1200))
        drive.reset()
        for i in range(number):
            at = i * 7 % number * BLOCK
            upper.write(at, pattern(i, at, 1))
        assert heard(drive) == (0, 0)
        assert device.counter("held_blocks") == number
        device.message("flush")
        ledger, stats = device.balanced(), drive.stats()
        requests = -(-number // most)
        print(f"{number} blocks, {most} per request: {stats['reads']} reads, {stats['writes']} writes")
        assert stats["reads"] == ledger["pad_reads"] == requests, [r.sectors for r in reads(drive.log())]
        assert stats["writes"] == requests, [r.sectors for r in writes(drive.log())]
        assert ledger["rmw_host"] == ledger["pad_writes"] == number, "a read for each block, in account"
        assert stats["touches"] == 0
        want = bytearray(pattern(1000, 0, number * BLOCK))
        for i in range(number):
            at = i * 7 % number * BLOCK
            want[at * SECTOR:(at + 1) * SECTOR] = pattern(i, at, 1)
        check(0, bytes(want), lower.read(0, number * BLOCK), "beneath the target")


def test_hold_ms_bounds_how_long_a_block_is_held(rig):
    """The time counts from the block's first touch, however often others follow."""
    drive = rig.drive("p4096")
    with Holding(drive.path, hold_ms=400) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        drive.reset()
        began, limit = time.monotonic(), Limit(5)
        upper.write(1, pattern(1, 1, 1))
        while not writes(drive.log()):
            time.sleep(0.02)
            assert not limit.over(), "the block is not written"
            upper.write(2, pattern(2, 2, 1))
        assert time.monotonic() - began >= 0.4, "the block was written too early"
        check(1, pattern(1, 1, 1), lower.read(1, 1), "beneath the target")
        # The last touch may be held anew.
        eventually(lambda: device.counter("held_blocks") == 0, "a block stays held")
        device.balanced()

        device.message(f"hold_ms {LONG}")
        upper.write(801, pattern(3, 801, 1))
        time.sleep(0.6)
        assert device.counter("held_blocks") == 1, "the new time does not hold"
        device.message("hold_ms 100")
        eventually(lambda: device.counter("held_blocks") == 0, "a shorter time does not apply to held blocks")
        check(801, pattern(3, 801, 1), lower.read(801, 1), "beneath the target")


def test_a_block_is_held_for_half_a_second_unless_told_otherwise(rig):
    drive = rig.drive("p4096")
    with Align(drive.path, mode="coalesce") as device, Disk(device.path) as upper:
        assert device.attribute("target0_hold_ms") == "500"
        upper.write(1, pattern(1, 1, 1))
        eventually(lambda: device.counter("held_blocks") == 0, "the block stays held", timeout=5)
        device.balanced()


def test_fua_takes_what_is_held_of_its_block_with_it(rig):
    drive = rig.drive("p4096")
    with Holding(drive.path) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        before = pattern(1000, 0, 8)
        lower.write(0, before)
        upper.write(1, pattern(1, 1, 1))
        drive.reset()
        upper.write(4, pattern(2, 4, 2), flags=RWF_DSYNC)
        log = drive.log()
        assert [(r.sector, r.sectors) for r in writes(log)] == [(0, 8)]
        assert len(reads(log)) == 1
        assert any(r.op == "F" for r in log[log.index(writes(log)[0]):]), f"no flush follows the write: {log}"
        want = before[:SECTOR] + pattern(1, 1, 1) + before[2 * SECTOR:4 * SECTOR] + pattern(2, 4, 2) + \
            before[6 * SECTOR:]
        check(0, want, lower.read(0, 8), "beneath the target")
        ledger = device.balanced()
        assert (ledger["touches_held"], ledger["rmw_host"], ledger["rmw_avoided_merged"]) == (1, 1, 1)


def ways_to_empty(device):
    """Return {name: action} of all actions that must leave no block held, and return the device to holding."""
    def suspended(flags=0):
        device.suspend(flags)
        return device.resume

    def message(text):
        device.message(text)
        return lambda: device.set_mode("coalesce")

    def reload(line):
        device.reload(line)
        return lambda: device.reload(device.line(mode="coalesce", hold_ms=LONG))

    return {
        "suspend": suspended,
        "suspend without a flush": lambda: suspended(NOFLUSH_FLAG),
        "message flush": lambda: message("flush"),
        "mode pad": lambda: message("mode pad"),
        "mode report": lambda: message("mode report"),
        "reload to linear": lambda: reload(device.linear()),
        "reload to the same": lambda: reload(device.line(mode="coalesce", hold_ms=LONG)),
        "reload to another block size": lambda: reload(device.line(mode="pad", physical_block_size=16384,
                                                                   alignment_offset=0)),
    }


@pytest.mark.each_kernel
def test_everything_that_ends_holding_leaves_it_all_on_the_drive(rig):
    drive = rig.drive("p4096")
    with Holding(drive.path) as device, Disk(drive.path) as lower:
        for tag, (name, empty) in enumerate(ways_to_empty(device).items()):
            places = [(40 * i + i % 8, 1 + i % 7) for i in range(20)]
            with Disk(device.path) as upper:
                for sector, sectors in places:
                    upper.write(sector, pattern(tag, sector, sectors))
                assert device.counter("held_blocks") >= 20, f"{name}: no touch is held"
            back = empty()
            for sector, sectors in places:
                check(sector, pattern(tag, sector, sectors), lower.read(sector, sectors), f"beneath, after {name}")
            back()
            left = {gauge: device.counter(gauge) for gauge in ("held_blocks", "held_bytes", "held_oldest_ms")}
            assert not any(left.values()), f"{name}: {left}"
            device.balanced()
        with Disk(device.path) as upper:
            upper.write(5, pattern(99, 5, 2))
            assert device.counter("held_blocks") == 1
        device.remove()
        check(5, pattern(99, 5, 2), lower.read(5, 2), "beneath, after the removal")


def test_nothing_is_held_of_what_comes_while_a_device_is_being_suspended(rig):
    """
    A suspend that freezes a file system has it write after presuspend: here a writer does so, while the suspend waits
    for the drive, which takes 300 ms for everything.
    """
    drive = rig.drive("slow300ms")
    with Holding(drive.path) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        upper.write(1, pattern(1, 1, 1))
        suspend = Later(device.suspend)
        late = Later(upper.write, 81, pattern(2, 81, 1), after=0.1, behind=suspend)
        suspend.result()
        check(1, pattern(1, 1, 1), lower.read(1, 1), "beneath the suspended target")
        if late.done():
            check(81, pattern(2, 81, 1), lower.read(81, 1), "a write acknowledged before the end of the suspend")
        device.resume()
        late.result()
        upper.flush()
        check(81, pattern(2, 81, 1), lower.read(81, 1), "beneath the target")
        device.balanced()


def test_a_suspend_that_fails_beside_a_change_of_the_mode_lets_nothing_be_held_in_report(rig):
    """
    The change waits for the drive, which takes two seconds; the suspend fails at once, because the page cache has a page
    that cannot be written, and the device goes on. Later writes must not be held, as writes in report would overtake them.
    """
    drive = rig.drive("p4096")
    bad = 65528
    with Device(f"0 {bad} delay {drive.path} 0 0 {drive.path} 0 {round(scaled(2000))}", f"{bad} {BLOCK} error") as below, \
            Holding(below.path, physical_block_size=4096, alignment_offset=0) as device, Disk(device.path) as upper, \
            Disk(drive.path) as lower:
        upper.write(82, pattern(1, 82, 2))
        change = Later(device.set_mode, "report")
        time.sleep(scaled(0.3))
        cached = os.open(device.path, os.O_RDWR)
        os.pwrite(cached, bytes(4096), bad * SECTOR)
        try:
            try:
                device.suspend()
            except Refused:
                pass
            else:
                device.resume()
                pytest.skip("this kernel suspends a device despite a page of its cache that cannot be written")
            assert not change.done(), "the change must still be waiting: the test proves nothing"
            upper.write(802, pattern(2, 802, 1))
            change.result()
            assert device.counter("held_blocks") == 0
            upper.write(802, pattern(3, 802, 1))
            check(802, pattern(3, 802, 1), upper.read(802, 1), "through the target")
            check(82, pattern(1, 82, 2), lower.read(82, 2), "the sectors held before")
            device.message("flush")
            check(802, pattern(3, 802, 1), lower.read(802, 1), "beneath the target")
            device.balanced()
        finally:
            os.close(cached)


def test_memory_is_bounded_and_the_oldest_go_first(rig):
    drive = rig.drive("p4096")
    order = [50, 10, 30, 70, 20, 60, 40]
    with Holding(drive.path, max_blocks=8) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        drive.reset()
        for tag, block in enumerate(order):
            assert not writes(drive.log()), "written before memory is short"
            upper.write(block * BLOCK + 3, pattern(tag, block * BLOCK + 3, 2))
        # The seventh block exceeds three quarters of eight; half of the eight may stay held.
        eventually(lambda: device.counter("held_blocks") == 4, "memory is short, and the oldest blocks are not written")
        assert {r.sector // BLOCK for r in writes(drive.log())} == set(order[:3])
        upper.flush()
        assert device.balanced()["rmw_drive"] == 0
        for tag, block in enumerate(order):
            check(block * BLOCK + 3, pattern(tag, block * BLOCK + 3, 2), lower.read(block * BLOCK + 3, 2), "beneath")


@pytest.mark.parametrize("physical", [1024, 4096, 32768, 65536])
@pytest.mark.parametrize("max_blocks", [1, 2, 16])
def test_memory_is_what_was_promised(rig, max_blocks, physical):
    """
    At rest the memory is at most max_blocks times the block with its overhead, however much is written; one block is
    enough.
    """
    drive = rig.drive("p4096")
    block = physical // SECTOR
    number = 24
    with Holding(drive.path, max_blocks=max_blocks, physical_block_size=physical, alignment_offset=0) as device, \
            Disk(device.path) as upper, Disk(drive.path) as lower:
        for i in range(number):
            upper.write(2 * i * block + 1, pattern(i, 2 * i * block + 1, 3))
        most = max_blocks * (physical + (512 if physical < 16384 else 1024))
        eventually(lambda: device.counter("target0_memory_bytes") <= most,
                   f"{device.counter('target0_memory_bytes')} bytes are in use, the limit is {most}")
        assert device.counter("target0_blocks") <= max_blocks
        assert device.counter("target0_memory_high_water_bytes") >= physical, "the high-water mark is too low"
        upper.flush()
        for i in range(number):
            check(2 * i * block + 1, pattern(i, 2 * i * block + 1, 3), lower.read(2 * i * block + 1, 3), "beneath")
        device.balanced()


def test_pad_reads_both_blocks_of_a_write_with_one_request(rig):
    """w4096_512: two touches a write, in neighbours; no touch is held, so each write is on the drive when it ends."""
    drive = rig.drive("p4096")
    number = 40
    with Align(drive.path, mode="pad") as device, Disk(device.path) as upper:
        drive.reset()
        for i in range(number):
            upper.write(16 * i + 1, pattern(i, 16 * i + 1, 8))
        ledger, stats, log = device.balanced(), drive.stats(), drive.log()
        assert (stats["reads"], stats["touches"]) == (number, 0)
        assert {r.sectors for r in reads(log)} == {16}
        assert (ledger["pad_reads"], ledger["rmw_host"], ledger["rmw_expected"]) == (number, 2 * number, 2 * number)
        assert ledger["pad_read_bytes"] == ledger["sent_block_bytes"] == 2 * number * 4096
        assert ledger["pad_writes"] == 2 * number
        assert ledger["touches_held"] == ledger["blocks_delayed"] == 0


@pytest.mark.parametrize("mode", ["pad", "coalesce"])
def test_blocks_far_apart_are_padded_at_the_same_time(rig, mode):
    """Sixteen blocks on a drive that takes 300 ms for a read and for a write, however many are in flight."""
    drive = rig.drive("slow300ms")
    with Align(drive.path, mode=mode, hold_ms=LONG) as device, Disk(device.path) as upper:
        drive.reset()
        sent = Together(upper, [(80 * i + 1, pattern(i, 80 * i + 1, 1)) for i in range(16)])
        assert sent.results() == [0] * 16
        upper.flush()
        kinds = "".join(request.op for request in drive.log() if request.op in "RW")
        assert kinds == 16 * "R" + 16 * "W", "a block was written before all blocks were requested"
        assert device.balanced()["pad_reads"] == 16


def test_a_tail_waits_for_the_head_that_is_on_its_way(rig):
    """A misaligned stream in pad, eight writes in flight: most blocks are completed by the write that follows."""
    drive = rig.drive("slow4ms")
    with Align(drive.path, mode="pad") as device:
        drive.reset()
        run("fio", "--name=stream", f"--filename={device.path}", "--ioengine=libaio", "--direct=1", "--rw=write",
            "--bs=4k", "--blockalign=512", "--offset=3584", "--size=2m", "--iodepth=8")
        ledger, stats = device.balanced(), drive.stats()
        assert ledger["rmw_expected"] == 1024 and stats["touches"] == 0
        assert ledger["blocks_delayed"] > 0
        assert ledger["rmw_host"] < 512 and stats["reads"] == ledger["pad_reads"] < 512, "undelayed, each block is read"


def test_one_writer_alone_is_never_delayed(rig):
    """Late decisions are for other writes in flight; a single write is not delayed."""
    drive = rig.drive("p4096")
    with Align(drive.path, mode="pad") as device, Disk(device.path) as upper:
        for i in range(60):
            upper.write(8 * i + 7, pattern(i, 8 * i + 7, 8))
        assert device.balanced()["blocks_delayed"] == 0
