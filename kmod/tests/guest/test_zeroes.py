# SPDX-License-Identifier: GPL-2.0
"""
Write-zeroes that cover physical blocks in part: counted in every mode, and in the fixing modes none is left to the drive,
which is the witness.
"""

import contextlib
import os

import pytest

from lab.plugins.extent import only_all
from rig.direct import SECTOR, Disk, Later, check, pattern
from rig.dm import Align, Device, queue, run, sectors_of, sysfs_folder
from rig.filesystem import fsck, mounted
from rig.rig import STRESS_LIMIT
from rig.stuck import Stuck
from rig.witness import Trace, eventually, touches_at, zeroed

FIXING = ["pad", "coalesce"]
# A minute of holding: no block is written by the timer.
HOLD = {"coalesce": 60000}
GIB = 1 << 21		# sectors
MIDDLE = 64		# sectors, where a range of RANGES has its first boundary

# First sector and length of write-zeroes on blocks of 8 sectors, and their partial touches.
RANGES = {"sub_block": (2, 3, 1), "sub_block_head": (0, 5, 1), "sub_block_tail": (6, 2, 1), "head": (3, 21, 1),
          "tail": (0, 21, 1), "both": (5, 30, 2), "neighbours": (5, 6, 2), "whole": (0, 24, 0)}
SHAPES = {"sub_block": "sub_block", "sub_block_head": "sub_block", "sub_block_tail": "sub_block", "head": "head_only",
          "tail": "tail_only", "both": "both_ends", "neighbours": "both_ends"}
TOUCHES = sum(touches for _, _, touches in RANGES.values())


def fixing(path, mode, **options):
    return Align(path, mode=mode, hold_ms=HOLD.get(mode), **options)


def zero_all(disk, before):
    """Zero each of RANGES in a separate stretch; return the content of all, which was pattern(before)."""
    content = bytearray(pattern(before, 0, MIDDLE * len(RANGES)))
    for i, (first, count, _) in enumerate(RANGES.values()):
        at = i * MIDDLE + first
        disk.zero(at, count)
        content[at * SECTOR:(at + count) * SECTOR] = bytes(count * SECTOR)
    return bytes(content)


def test_report_counts_what_the_drive_counts_and_changes_nothing(rig):
    drive = rig.drive("p4096")
    with Align(drive.path, mode="report") as device, Disk(device.path) as upper:
        upper.write(0, pattern(1, 0, MIDDLE * len(RANGES)))
        drive.reset()
        before = device.balanced()
        zero_all(upper, 1)
        ledger, sent = device.balanced(), zeroed(drive.log())
    assert touches_at(drive) == (0, TOUCHES)
    assert ledger["rmw_expected"] == ledger["rmw_expected_zeroes"] == ledger["rmw_drive_report"] == TOUCHES
    assert ledger["write_zeroes_misaligned"] == len(SHAPES)
    assert sent == [(i * MIDDLE + first, count) for i, (first, count, _) in enumerate(RANGES.values())]
    for name in ("writes", "write_bytes", "write_block_bytes", "sent_block_bytes", "writes_misaligned",
                 *{f"writes_{shape}" for shape in SHAPES.values()}):
        assert ledger[name] == before[name], f"{name} is about writes, and changed"


def test_the_histograms_are_those_of_writes(rig):
    drive = rig.drive("p4096")
    with Align(drive.path, mode="pad") as device, Disk(device.path) as upper:
        zero_all(upper, 1)
        for name in ("phase", "size", "latency_aligned", "latency_misaligned"):
            assert not any(device.histogram(name)), f"{name} has counted write-zeroes"


@pytest.mark.parametrize("offset", [0, 3584])
@pytest.mark.parametrize("mode", FIXING)
def test_none_is_left_to_the_drive(rig, mode, offset):
    """The partial blocks are written whole, the blocks between them go down as write-zeroes."""
    drive = rig.drive("p4096" if offset == 0 else "offset3584")
    total = MIDDLE * len(RANGES)
    base = 64 + offset // SECTOR
    with Disk(drive.path) as lower:
        lower.write(base, pattern(1, 0, total))
        with fixing(drive.path, mode, start=base, physical_block_size=4096, alignment_offset=offset) as device, \
                Disk(device.path) as upper:
            drive.reset()
            want = zero_all(upper, 1)
            check(0, want, upper.read(0, total), "through the target")
            upper.flush()
            ledger, stats, sent = device.balanced(), drive.stats(), zeroed(drive.log())
        check(0, want, lower.read(base, total), "beneath it")
    assert touches_at(drive) == (0, 0)
    assert stats["rmws"] == 0
    assert ledger["rmw_expected"] == ledger["rmw_expected_zeroes"] == TOUCHES
    assert ledger["rmw_drive"] == ledger["rmw_lost"] == 0
    assert (ledger["touches_held"] > 0) == (mode == "coalesce")
    middles = [(base + i * MIDDLE + -(-first // 8) * 8, (first + count) // 8 * 8 - -(-first // 8) * 8)
               for i, (first, count, _) in enumerate(RANGES.values())]
    assert sent == [middle for middle in middles if middle[1] > 0]


def test_two_that_meet_in_a_block_complete_it(rig):
    """Zeroes one after the other in coalesce: only the blocks at the two ends are read."""
    drive = rig.drive("p4096")
    with Disk(drive.path) as lower, fixing(drive.path, "coalesce") as device, Disk(device.path) as upper:
        lower.write(0, pattern(1, 0, 64))
        drive.reset()
        for first, count in ((3, 10), (13, 17), (30, 10)):
            upper.zero(first, count)
        upper.flush()
        ledger, stats = device.balanced(), drive.stats()
        want = pattern(1, 0, 3) + bytes(37 * SECTOR) + pattern(1, 40, 24)
        check(0, want, lower.read(0, 64), "beneath the target")
        assert stats["rmws"] == 0 and ledger["rmw_host"] == 1
        assert ledger["rmw_avoided_complete"] == ledger["rmw_expected"] - 1 == 4


def test_a_write_completes_what_zeroes_have_begun(rig):
    drive = rig.drive("p4096")
    with Disk(drive.path) as lower, fixing(drive.path, "coalesce") as device, Disk(device.path) as upper:
        drive.reset()
        upper.zero(0, 3)
        upper.write(3, pattern(2, 3, 5))
        upper.zero(12, 4)
        upper.write(8, pattern(2, 8, 4))
        upper.flush()
        ledger, stats = device.balanced(), drive.stats()
        check(0, bytes(3 * SECTOR) + pattern(2, 3, 9) + bytes(4 * SECTOR), lower.read(0, 16), "beneath the target")
        assert (stats["reads"], stats["rmws"], ledger["rmw_avoided_complete"]) == (0, 0, 4)


def test_blocks_that_only_zeroes_touched_are_not_in_the_amplification_of_writes(rig):
    """sent_block_bytes counts the blocks with bytes of a write, with any other content."""
    drive = rig.drive("p4096")
    with Align(drive.path, mode="pad") as device, Disk(device.path) as upper:
        zero_all(upper, 1)
        ledger = device.balanced()
        assert ledger["pad_writes"] > 0 and ledger["sent_block_bytes"] == 0
        upper.write(3, pattern(1, 3, 2))
        assert device.counter("sent_block_bytes") == device.counter("write_block_bytes") == 4096


def test_blocks_held_with_bytes_of_writes_are_in_the_amplification(rig):
    drive = rig.drive("p4096")
    with fixing(drive.path, "coalesce") as device, Disk(device.path) as upper:
        upper.zero(0, 3)
        upper.flush()
        assert device.counter("sent_block_bytes") == 0
        upper.write(17, pattern(1, 17, 3))
        upper.zero(20, 2)
        upper.flush()
        assert device.counter("sent_block_bytes") == device.counter("write_block_bytes") == 4096


# ---- limits ----

def round_down(number, to):
    return number - number % to


@pytest.mark.each_kernel
@pytest.mark.parametrize("mode", ["report", *FIXING])
def test_the_limit_is_a_multiple_of_the_block_in_the_fixing_modes(rig, mode):
    drive = rig.drive("p16384")
    below = int(queue(drive.path, "write_zeroes_max_bytes"))
    assert below % 16384, "the drive's own limit is a multiple: the test proves nothing"
    with Align(drive.path, mode=mode) as device:
        want = below if mode == "report" else round_down(below, 16384)
        assert int(queue(device.path, "write_zeroes_max_bytes")) == want


@pytest.mark.each_kernel
@pytest.mark.parametrize("unmaps", [True, False])
@pytest.mark.parametrize("mode", ["report", *FIXING])
def test_the_limit_of_those_that_unmap_is_the_same_or_0(rig, mode, unmaps):
    """The kernel refuses limits that differ."""
    with rig.scsi_debug(sector_size=512, physblk_exp=3, **({"lbpu": 1, "lbpws": 1} if unmaps else {})) as path:
        if not (sysfs_folder(path) / "queue" / "write_zeroes_unmap_max_hw_bytes").exists():
            pytest.skip("this kernel has no limit for write-zeroes that unmap")
        own = queue(path, "write_zeroes_max_bytes")
        assert queue(path, "write_zeroes_unmap_max_hw_bytes") == (own if unmaps else "0") and own != "0"
        with Align(path, mode=mode, physical_block_size=16384, alignment_offset=512) as device:
            want = int(own) if mode == "report" else round_down(int(own), 16384)
            assert int(queue(device.path, "write_zeroes_max_bytes")) == want
            assert int(queue(device.path, "write_zeroes_unmap_max_hw_bytes")) == (want if unmaps else 0)


@pytest.mark.each_kernel
def test_where_the_drive_takes_none_the_kernel_writes_instead(rig):
    with rig.brd() as path, Align(path, mode="pad") as device, Disk(device.path) as upper:
        assert queue(device.path, "write_zeroes_max_bytes") == "0"
        upper.write(0, pattern(1, 0, 64))
        upper.zero(3, 26)
        ledger = device.balanced()
        assert (ledger["write_zeroes"], ledger["rmw_expected_zeroes"], ledger["rmw_drive"]) == (0, 0, 0)
        want = pattern(1, 0, 3) + bytes(26 * SECTOR) + pattern(1, 29, 35)
        check(0, want, upper.read(0, 64), "through the target")


@pytest.mark.parametrize("limit,pieces", [(1003, 19), (67, 300)])
@pytest.mark.parametrize("mode", FIXING)
def test_the_middle_is_cut_at_boundaries_that_fit_the_device_below(rig, mode, limit, pieces):
    """The disk's limit is no multiple of the block, its boundaries are no multiples of 4096 bytes."""
    with rig.scsi_debug(sector_size=512) as path, Disk(path) as lower, \
            fixing(path, mode, physical_block_size=4096, alignment_offset=3584, write_cache="on") as device, \
            Disk(device.path) as upper:
        # After the target has advertised the larger limit, so that one bio has all the pieces.
        next(sysfs_folder(path).glob("device/scsi_disk/*/max_write_same_blocks")).write_text(str(limit))
        assert queue(path, "write_zeroes_max_bytes") == str(limit * SECTOR)
        assert int(queue(device.path, "write_zeroes_max_bytes")) > 20000 * SECTOR
        lower.write(0, pattern(1, 0, 2048))
        with Trace(path) as trace:
            upper.zero(10, 20000)
            upper.flush()
        want = pattern(1, 0, 10) + bytes(2038 * SECTOR)
        check(0, want, lower.read(0, 2048), "beneath the target")
        ledger = device.balanced()
        assert ledger["rmw_drive"] == ledger["uncut"] == 0
        assert (ledger["write_zeroes"], ledger["cuts"] >= pieces) == (1, True)
        # Linux has no letter for write-zeroes.
        changes = [request for request in trace.requests if request.op in "W?"]
        assert len(changes) >= pieces
        for request in changes:
            assert (request.sector - 7) % 8 == request.sectors % 8 == 0, f"not whole: {request}"


def test_a_change_from_report_leaves_no_touch_to_the_drive(rig):
    """The limit advertised in report stays; so the kernel cuts inside blocks."""
    drive = rig.drive("huge")
    with Align(drive.path, mode="report") as device, Disk(device.path) as upper:
        limit = int(queue(device.path, "write_zeroes_max_bytes")) // SECTOR
        assert limit % 8 and 3 * limit < upper.sectors
        device.set_mode("pad")
        drive.reset()
        upper.zero(0, 3 * limit // 8 * 8)
        stats, ledger = drive.stats(), device.balanced()
    assert ledger["rmw_expected_zeroes"] > 0, "no cut was inside a block: the test proves nothing"
    assert ledger["rmw_avoided_complete"] == ledger["rmw_expected"]
    assert (stats["rmws"], stats["reads"], touches_at(drive)) == (0, 0, (0, 0))


@pytest.mark.timeout(STRESS_LIMIT)
@pytest.mark.parametrize("start", [only_all("63 has whole blocks as well", 0), 63])
def test_nine_gibibytes_at_once(rig, start):
    """blkdiscard -z, of whole blocks and at sector 63, where each block of 4096 bytes straddles two of the drive's."""
    drive = rig.drive("huge")
    first, end = start + 8, start + 8 + 9 * GIB
    with Disk(drive.path) as lower, contextlib.ExitStack() as stack:
        for at in (first, end):
            lower.write(at - 8, pattern(1, at - 8, 16))
        path = stack.enter_context(rig.partition(drive.path, start, 9 * GIB + 64)) if start else drive.path
        with Align(path, mode="pad") as device:
            drive.reset()
            run("blkdiscard", "-z", "-o", 8 * SECTOR, "-l", 9 * GIB * SECTOR, device.path, timeout=600)
            stats, ledger = drive.stats(), device.balanced()
        check(first - 8, pattern(1, first - 8, 8) + bytes(8 * SECTOR), lower.read(first - 8, 16), "at its start")
        check(end - 8, bytes(8 * SECTOR) + pattern(1, end, 8), lower.read(end - 8, 16), "at its end")
    assert (stats["rmws"], touches_at(drive)) == (0, (0, 0))
    assert ledger["write_zeroes_bytes"] == 9 * GIB * SECTOR
    assert ledger["rmw_drive"] == 0
    if start:
        assert ledger["rmw_host"] == ledger["pad_reads"] == 2, "only the two ends need a read each"
        assert ledger["rmw_avoided_complete"] == ledger["rmw_expected"] - 2
    else:
        assert ledger["rmw_expected"] == 0


# ---- file systems ----

ZERO_RANGE = 0x10


@pytest.mark.timeout(STRESS_LIMIT)
@pytest.mark.parametrize("mode", FIXING)
def test_making_ext4_and_zeroing_in_its_files_costs_no_rmw_on_a_shifted_partition(rig, mode):
    """mkfs.ext4 initialises inode tables and journal at once, by write-zeroes."""
    drive = rig.drive("p4096")
    with rig.partition(drive.path, 63, 1 << 19) as path, fixing(path, mode, length=(1 << 19) - 8) as device:
        drive.reset()
        run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", device.path)
        with mounted("ext4", device.path) as folder:
            file = os.open(folder / "file", os.O_RDWR | os.O_CREAT)
            os.write(file, b"x" * (4 << 20))
            os.fsync(file)
            run("fallocate", "-z", "-o", 4096, "-l", 3 << 20, folder / "file")
            os.fsync(file)
            assert os.pread(file, 8192, 4096) == bytes(8192)
            os.close(file)
        device.message("flush")
        ledger, stats = device.balanced(), drive.stats()
        fsck("ext4", device.path)
    assert ledger["rmw_expected_zeroes"] > 0, "no write-zeroes came: the test proves nothing"
    # The shifted partition starts inside a block: an edge.
    assert stats["rmws"] + stats["rmws_saved_by_cache"] == sum(touches_at(drive)) == ledger["rmw_drive_edge"]
    assert ledger["rmw_drive"] == ledger["rmw_drive_edge"]


@pytest.mark.parametrize("mode", FIXING)
def test_zeroing_a_device_file_by_fallocate_costs_no_rmw(rig, mode):
    drive = rig.drive("p4096")
    with rig.partition(drive.path, 63, 1 << 17) as path, fixing(path, mode) as device:
        drive.reset()
        run("fallocate", "-z", "-o", 4096, "-l", 1 << 20, device.path)
        device.message("flush")
        ledger, stats = device.balanced(), drive.stats()
    assert (ledger["rmw_expected_zeroes"], ledger["rmw_drive"], stats["rmws"]) == (2, 0, 0)
    assert touches_at(drive) == (0, 0)


# ---- failures ----

@pytest.mark.parametrize("mode", FIXING)
def test_an_edge_block_gets_zeroes_as_they_came(rig, mode):
    drive = rig.drive("p4096")
    with Disk(drive.path) as lower, fixing(drive.path, mode, start=3, length=64) as device, Disk(device.path) as upper:
        lower.write(0, pattern(1, 0, 80))
        drive.reset()
        upper.zero(0, 64)
        ledger = device.balanced()
        check(0, pattern(1, 0, 3) + bytes(64 * SECTOR) + pattern(1, 67, 13), lower.read(0, 80), "beneath the target")
    assert ledger["rmw_drive_edge"] == ledger["rmw_expected"] == 2
    assert touches_at(drive) == (0, 2)
    assert drive.stats()["writes"] == 0


def test_without_room_for_a_block_zeroes_go_as_they_came(rig):
    drive = rig.drive("p4096")
    with Disk(drive.path) as lower, Align(drive.path, mode="pad", max_blocks=1) as device, Disk(device.path) as upper:
        lower.write(0, pattern(1, 0, 64))
        drive.reset()
        upper.zero(3, 40)
        ledger = device.balanced()
        check(0, pattern(1, 0, 3) + bytes(40 * SECTOR) + pattern(1, 43, 21), lower.read(0, 64), "beneath the target")
    assert (ledger["rmw_host"], ledger["rmw_drive_max_blocks"]) == (1, 1)
    assert touches_at(drive) == (0, 1)


@pytest.mark.parametrize("mode", FIXING)
def test_a_block_that_cannot_be_read_gets_its_zeroes_all_the_same(rig, mode):
    """In pad the zeroes go down unmodified; in coalesce they are held, and go down as a partial write."""
    drive = rig.drive("p4096")
    with Disk(drive.path) as lower, fixing(drive.path, mode) as device, Disk(device.path) as upper:
        lower.write(0, pattern(1, 0, 64))
        lower.flush()
        drive.reset()
        drive.fail("read", 0, 8)
        try:
            upper.zero(3, 29)
            upper.flush()
        finally:
            drive.heal()
        ledger = device.balanced()
        check(0, pattern(1, 0, 3) + bytes(29 * SECTOR) + pattern(1, 32, 32), lower.read(0, 64), "beneath the target")
    assert ledger["rmw_drive_read_error"] == ledger["rmw_drive"] == 1
    assert touches_at(drive) == ((0, 1) if mode == "pad" else (1, 0))


@pytest.mark.parametrize("bad,lost", [(0, True), (16, False), (32, True)])
def test_an_error_of_any_part_is_the_callers(rig, bad, lost):
    """The head, the middle or the tail fails."""
    drive = rig.drive("p4096")
    with Align(drive.path, mode="pad") as device, Disk(device.path) as upper:
        upper.write(0, pattern(1, 0, 64))
        drive.fail("write", bad, 8)
        try:
            with pytest.raises(OSError) as caught:
                upper.zero(3, 32)
        finally:
            drive.heal()
        assert caught.value.errno == 5
        # Linux 6.1 then retries with writes.
        assert (device.balanced()["rmw_lost"] > 0) == lost
        upper.zero(3, 32)
        check(0, pattern(1, 0, 3) + bytes(32 * SECTOR) + pattern(1, 35, 29), upper.read(0, 64), "through the target")


def test_held_zeroes_that_cannot_be_written_make_a_flush_fail(rig):
    drive = rig.drive("p4096")
    with Disk(drive.path) as lower, fixing(drive.path, "coalesce") as device, Disk(device.path) as upper:
        lower.write(0, pattern(1, 0, 8))
        upper.zero(3, 2)
        drive.fail("write", 0, 8)
        try:
            with pytest.raises(OSError):
                upper.flush()
            assert device.counter("degraded") == 1
            want = pattern(1, 0, 3) + bytes(2 * SECTOR) + pattern(1, 5, 3)
            check(0, want, upper.read(0, 8), "through the target")
        finally:
            drive.heal()
        upper.flush()
        check(0, want, lower.read(0, 8), "beneath the target")
        assert device.balanced()["degraded"] == 0


@pytest.mark.parametrize("mode", ["report", *FIXING])
def test_a_device_below_that_takes_none_any_more_gets_writes(rig, mode):
    """The layer below has changed beneath a live target: the error reaches the kernel, which writes zeroes instead."""
    drive = rig.drive("p4096")
    length = sectors_of(drive.path)
    with Device(f"0 {length} linear {drive.path} 0") as below, Disk(drive.path) as lower, \
            fixing(below.path, mode, physical_block_size=4096, alignment_offset=0) as device, \
            Disk(device.path) as upper:
        lower.write(0, pattern(1, 0, 64))
        below.reload(f"0 {length} delay {drive.path} 0 0")
        assert queue(below.path, "write_zeroes_max_bytes") == "0" != queue(device.path, "write_zeroes_max_bytes")
        upper.zero(3, 40)
        want = pattern(1, 0, 3) + bytes(40 * SECTOR) + pattern(1, 43, 21)
        check(0, want, upper.read(0, 64), "through the target")
        upper.flush()
        check(0, want, lower.read(0, 64), "beneath it")
        ledger = device.balanced()
        assert ledger["write_zeroes"] == 1 and ledger["writes"] > 0
        assert ledger["rmw_lost"] == 0


# ---- order ----

def test_a_read_sees_held_zeroes_over_what_is_beneath(rig):
    drive = rig.drive("p4096")
    with Disk(drive.path) as lower, fixing(drive.path, "coalesce") as device, Disk(device.path) as upper:
        lower.write(0, pattern(1, 0, 64))
        upper.zero(5, 22)
        assert device.counter("rmw_pending") == device.counter("touches_held") == 2
        check(0, pattern(1, 0, 64)[:5 * SECTOR] + bytes(22 * SECTOR) + pattern(1, 27, 37), upper.read(0, 64),
              "through the target")
        check(0, pattern(1, 0, 8), lower.read(0, 8), "beneath the target, where nothing may be yet")
        assert device.counter("reads_overlaid") > 0


def test_two_partial_zeroes_in_flight_share_one_read_and_one_write(rig):
    drive = rig.drive("p4096")
    length = sectors_of(drive.path)
    with Stuck(drive.path) as stuck, Align(stuck.path, mode="pad") as device, Disk(device.path) as upper, \
            Device(f"0 {length} linear {device.path} 0") as lane, Disk(lane.path) as other:
        upper.write(0, pattern(1, 0, 8))
        device.message("flush")
        drive.reset()
        stuck.stop()
        # The kernel lets one of a device run at a time: a device for each.
        first = Later(upper.zero, 0, 2)
        eventually(lambda: device.counter("pad_reads"), "the block is not read")
        second = Later(other.zero, 5, 2)
        eventually(lambda: device.counter("rmw_expected") == 2, "the second one does not come")
        stuck.flow()
        first.result()
        second.result()
        stats, ledger = drive.stats(), device.balanced()
        assert (stats["reads"], stats["writes"], stats["rmws"]) == (1, 1, 0)
        assert (ledger["rmw_host"], ledger["rmw_avoided_merged"]) == (1, 1)
        want = bytes(2 * SECTOR) + pattern(1, 2, 3) + bytes(2 * SECTOR) + pattern(1, 7, 1)
        check(0, want, upper.read(0, 8), "through the target")


@pytest.mark.two_processors
@pytest.mark.timeout(STRESS_LIMIT)
@pytest.mark.parametrize("mode", [*(only_all("sim/test_sim.py: lives in each mode", mode) for mode in ("report", "pad")),
                                  "coalesce"])
def test_stress_with_many_write_zeroes_is_clean(rig, mode):
    drive = rig.drive("p4096")
    with fixing(drive.path, mode) as device:
        drive.reset()
        load = rig.stress(device.path, beneath=drive.path, zeroes=50, flush=2, region=256, max_run=40)
        load.finish()
        ledger, stats = device.balanced(), drive.stats()
        assert load.zero_touches > 0
        assert ledger["rmw_expected"] == load.touches + load.zero_touches
        assert ledger["rmw_expected_zeroes"] == load.zero_touches
        if mode == "report":
            assert touches_at(drive) == (load.touches, load.zero_touches)
        else:
            assert (ledger["rmw_drive"], stats["rmws"], touches_at(drive)) == (0, 0, (0, 0))
