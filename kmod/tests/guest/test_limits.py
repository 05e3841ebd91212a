# SPDX-License-Identifier: GPL-2.0
"""Requests to the drive are whole: large writes are cut at physical boundaries, and limits stack as for linear."""

import contextlib
import errno
import os
import re
from pathlib import Path

import pytest

from lab.plugins.extent import only_usual
from rig.control import Refused
from rig.direct import PAGE, SECTOR, Buffer, Disk, check, pattern
from rig.dm import Align, Device, alignment_offset, block_name, queue, run, sectors_of, sysfs_folder
from rig.rig import STRESS_LIMIT
from rig.witness import writes

MIB2 = 4096		# sectors
SKEW = 512

pytestmark = pytest.mark.each_kernel


def scattered(buffer, data):
    """
    Lay out `data` in every second page of `buffer`, from byte 512 of each to its end; return the pieces. No two pieces can
    be joined, wherever they lie in memory, so that each needs a separate segment.
    """
    views, size = [], PAGE - SKEW
    for i, at in enumerate(range(0, len(data), size)):
        first = 2 * i * PAGE + SKEW
        views.append(buffer.view[first:first + min(size, len(data) - at)])
        views[-1][:] = data[at:at + size]
    return views


def large_writes(disk, first, number):
    """Make 2 MiB writes from the boundary `first`: from one buffer, and from scattered pieces. Return the content."""
    content = b""
    for i in range(number):
        sector = first + i * MIB2
        data = pattern(i + 1, sector, MIB2)
        if i % 2:
            with contextlib.closing(Buffer(3 * len(data))) as buffer:
                views = scattered(buffer, data)
                disk.write_from(sector, views)
                for view in views:
                    view.release()
        else:
            disk.write(sector, data, skew=SKEW)
        content += data
    return content


@pytest.mark.parametrize("segments,offset", [
    only_usual("the other limit is lower", 254, 0), only_usual("the other start is shifted", 126, 0), (126, 3584),
    only_usual("the other limit is lower", 254, 3584)])
def test_large_writes_from_skewed_buffers_arrive_whole(rig, segments, offset):
    """The lower queue cuts raw writes inside physical blocks, which pad must avoid."""
    drive = rig.drive(f"segments{segments}" if offset == 0 else f"segments{segments}offset3584")
    assert queue(drive.path, "max_segments") == str(segments)
    first = offset // SECTOR
    with Disk(drive.path) as lower:
        drive.reset()
        large_writes(lower, first, 2)
        assert drive.stats()["touches"] > 0, "raw, these writes are not cut: the test proves nothing"
        with Align(drive.path, mode="pad", physical_block_size=4096, alignment_offset=offset) as device, \
                Disk(device.path) as upper:
            drive.reset()
            content = large_writes(upper, first, 4)
            ledger, stats, log = device.balanced(), drive.stats(), drive.log()
            assert stats["touches"] == 0, f"cut inside a block: {[r for r in writes(log) if r.touches][:4]}"
            assert ledger["rmw_drive"] == 0 and ledger["uncut"] == 0
            assert ledger["cuts"] > 0, "writes of this size need cuts"
            check(first, content, upper.read(first, 4 * MIB2), "through the target")
            check(first, content, lower.read(first, 4 * MIB2), "beneath it")


def test_report_counts_the_writes_that_the_lower_queue_will_cut(rig):
    """Equality of ledger and drive is claimed only while writes_over_limits is 0."""
    drive = rig.drive("segments126")
    with Align(drive.path, mode="report") as device, Disk(device.path) as upper:
        drive.reset()
        upper.write(0, pattern(1, 0, 8))
        assert device.counter("writes_over_limits") == 0
        assert drive.stats()["touches"] == device.counter("rmw_drive") == 0
        large_writes(upper, 0, 2)
        assert device.counter("writes_over_limits") > 0
        assert drive.stats()["touches"] > device.counter("rmw_drive")


LIMITS = ["logical_block_size", "physical_block_size", "minimum_io_size", "optimal_io_size", "max_sectors_kb",
          "max_segments", "max_segment_size", "discard_granularity", "discard_max_bytes", "write_zeroes_max_bytes",
          "rotational", "write_cache", "fua", "zoned", "dma_alignment", "chunk_sectors", "stable_writes"]


@pytest.mark.parametrize("kind", ["p4096", "p16384", "claims512", "brd", "scsi_debug"])
def test_limits_stack_as_for_linear(rig, kind):
    """Limits of write-zeroes differ: the core cuts there, which must not be inside a block."""
    with contextlib.ExitStack() as stack:
        if kind == "brd":
            path = stack.enter_context(rig.brd())
        elif kind == "scsi_debug":
            path = stack.enter_context(rig.scsi_debug(sector_size=512, physblk_exp=3, lowest_aligned=7))
        else:
            path = rig.drive(kind).path
        align = stack.enter_context(Align(path, mode="pad"))
        linear = stack.enter_context(Device(f"0 {sectors_of(path)} linear {path} 0"))
        for name in LIMITS:
            want = queue(linear.path, name)
            if name == "write_zeroes_max_bytes":
                want = str(int(want) - int(want) % int(queue(path, "physical_block_size")))
            assert queue(align.path, name) == want, f"queue/{name} on {kind}"
        assert alignment_offset(align.path) == alignment_offset(linear.path)


@pytest.mark.parametrize("size", [1024, 8192, 65536])
def test_report_takes_every_logical_block_that_linear_takes(rig, size):
    """Only newer kernels have blocks larger than a page. Where no write can be misaligned, a fixing mode is accepted, too."""
    with rig.loop(size) as path:
        if not path:
            pytest.skip(f"this kernel has no logical blocks of {size} bytes")
        sectors = size // SECTOR
        with Device(f"0 {sectors_of(path)} linear {path} 0") as linear, Align(path) as device, Disk(device.path) as upper:
            for name in LIMITS:
                assert queue(device.path, name) == queue(linear.path, name), f"queue/{name}"
            assert queue(device.path, "logical_block_size") == str(size)
            upper.write(sectors, pattern(1, sectors, 2 * sectors))
            check(sectors, pattern(1, sectors, 2 * sectors), upper.read(sectors, 2 * sectors), "through the target")
            ledger = device.balanced()
            assert (ledger["writes"], ledger["write_bytes"], ledger["rmw_expected"]) == (1, 2 * size, 0)
            device.set_mode("pad")
            upper.write(4 * sectors, pattern(2, 4 * sectors, sectors))
            check(4 * sectors, pattern(2, 4 * sectors, sectors), upper.read(4 * sectors, sectors), "in pad")
            assert device.balanced()["rmw_expected"] == 0


@pytest.mark.parametrize("size, physical", [(1024, 4096), (8192, 65536)])
def test_a_mode_that_fixes_is_refused_for_logical_blocks_that_no_drive_has(rig, size, physical):
    with rig.loop(size) as path:
        if not path:
            pytest.skip(f"this kernel has no logical blocks of {size} bytes")
        with Align(path, physical_block_size=physical, alignment_offset=0) as device, Disk(device.path) as upper:
            with rig.log() as log, pytest.raises(Refused):
                device.set_mode("pad")
            assert "pad and coalesce need a logical block size of 512 or 4096" in log.text
            # Misaligned writes are counted all the same.
            upper.write(size // SECTOR, pattern(1, size // SECTOR, size // SECTOR))
            assert device.balanced()["rmw_drive_report"] == 1


@pytest.mark.parametrize("wanted", ["0", "1"])
def test_stable_writes_are_asked_for_where_linear_asks_for_them(rig, wanted):
    """The engine copies its data, so the drive alone decides whether pages may change during a write."""
    with rig.brd() as path:
        own = sysfs_folder(path) / "queue/stable_writes"
        own.write_text(wanted)
        with Align(path, mode="coalesce", write_cache="on") as align, \
                Device(f"0 {sectors_of(path)} linear {path} 0") as linear:
            assert queue(linear.path, "stable_writes") == wanted
            assert queue(align.path, "stable_writes") == wanted


def test_overrides_are_advertised(rig):
    drive = rig.drive("claims512")
    with Align(drive.path, physical_block_size=4096, alignment_offset=512) as device:
        assert queue(device.path, "logical_block_size") == "512"
        assert queue(device.path, "physical_block_size") == "4096"
        assert alignment_offset(device.path) == 512


# Programs take the physical block for atomic, so it must be; a larger block is only the drive's preference.
@pytest.mark.parametrize("kind,physical,offset", [
    ("claims512", 16384, 4096), only_usual("the offset of the first is not 0", "claims512", 65536, 0),
    only_usual("the first has an offset, too", "p4096", 16384, 512), only_usual("it has no limits of its own", "brd", 16384, 0),
    ("scsi_debug", 8192, 3584)])
def test_an_override_above_4096_is_advertised_as_minimum_io_size_only(rig, kind, physical, offset):
    """A device on top is not reported as misaligned, wherever it starts."""
    with contextlib.ExitStack() as stack:
        if kind == "brd":
            path = stack.enter_context(rig.brd())
        elif kind == "scsi_debug":
            path = stack.enter_context(rig.scsi_debug(sector_size=512, physblk_exp=3, lowest_aligned=7))
        else:
            path = rig.drive(kind).path
        linear = stack.enter_context(Device(f"0 {sectors_of(path)} linear {path} 0"))
        align = stack.enter_context(Align(path, mode="pad", physical_block_size=physical, alignment_offset=offset))
        changed = {"minimum_io_size": str(physical),
                   "optimal_io_size": str(int(queue(linear.path, "optimal_io_size")) // physical * physical),
                   "write_zeroes_max_bytes": str(int(queue(linear.path, "write_zeroes_max_bytes")) // physical * physical)}
        for name in LIMITS:
            assert queue(align.path, name) == changed.get(name, queue(linear.path, name)), f"queue/{name}"
        assert alignment_offset(align.path) == alignment_offset(linear.path)
        for start in (0, 8, 2048, 2047):
            length = 8192
            above = stack.enter_context(Device(f"0 {length} linear {align.path} {start}"))
            plain = stack.enter_context(Device(f"0 {length} linear {linear.path} {start}"))
            assert queue(above.path, "physical_block_size") == queue(plain.path, "physical_block_size")
            assert queue(above.path, "minimum_io_size") == str(physical)
            assert (alignment_offset(above.path) < 0) == (alignment_offset(plain.path) < 0), f"misaligned from {start}"


def test_mkfs_xfs_takes_its_sector_from_what_the_drive_writes_atomically(rig):
    """With physical blocks of 16384 bytes it would rely on atomic sectors of that size."""
    drive = rig.drive("claims512")

    def sectors(path, *arguments):
        said = run("mkfs.xfs", "-f", "-N", *arguments, path).stdout
        print(said)
        return re.findall(r"sectsz=(\d+)", said)

    with Device(f"0 {sectors_of(drive.path)} linear {drive.path} 0") as linear, \
            Align(drive.path, mode="pad", physical_block_size=16384, alignment_offset=0) as align:
        for arguments in ((), ("-b", "size=16384")):
            assert sectors(align.path, *arguments) == sectors(linear.path, *arguments) == ["512"] * 2


@pytest.mark.timeout(STRESS_LIMIT)
def test_a_mode_that_fixes_wants_each_logical_block_in_one_piece_of_memory(rig):
    """The fixing modes' requirement is dm-crypt's, report's is linear's. A mode set by a message accepts any buffer."""
    with rig.scsi_debug(sector_size=4096, physblk_exp=2) as path:
        with Device(f"0 {sectors_of(path)} linear {path} 0") as linear, Align(path, mode="report") as device, \
                Disk(device.path) as upper:
            of_linear = queue(linear.path, "dma_alignment")
            assert int(of_linear) < 4095
            assert queue(device.path, "dma_alignment") == of_linear
            device.set_mode("pad")
            assert queue(device.path, "dma_alignment") == of_linear, "running programs do not learn of a change"
            want = bytearray(upper.read(0, 512))
            for tag, (sector, sectors) in enumerate([(8, 8), (40, 32), (72, 256), (400, 64)], 1):
                data = pattern(tag, sector, sectors)
                upper.write(sector, data, skew=SKEW)
                want[sector * SECTOR:(sector + sectors) * SECTOR] = data
            check(0, bytes(want), upper.read(0, 512), "through the target")
            assert device.balanced()["rmw_host"] > 0
        with Align(path, mode="pad") as device, Disk(device.path) as upper:
            assert queue(device.path, "dma_alignment") == "4095"
            with pytest.raises(OSError):
                upper.write(8, pattern(1, 8, 8), skew=SKEW)
            upper.write(8, pattern(1, 8, 8))


@pytest.mark.timeout(STRESS_LIMIT)
def test_logical_blocks_of_4096_bytes(rig):
    """A large-unit drive: 4096 logical, 16384 physical."""
    with rig.scsi_debug(sector_size=4096, physblk_exp=2) as path:
        assert (queue(path, "logical_block_size"), queue(path, "physical_block_size")) == ("4096", "16384")
        with Align(path, mode="pad") as device, Disk(device.path) as upper:
            before = upper.read(0, 128)
            upper.write(8, pattern(1, 8, 8))
            upper.write(40, pattern(2, 40, 32))
            ledger = device.balanced()
            assert ledger["rmw_expected"] == 3 and ledger["rmw_drive"] == 0
            want = before[:8 * SECTOR] + pattern(1, 8, 8) + before[16 * SECTOR:40 * SECTOR] + pattern(2, 40, 32) + \
                before[72 * SECTOR:]
            check(0, want, upper.read(0, 128), "through the target")
            # In a fixing mode, buffers have to be aligned to logical blocks.
            load = rig.stress(device.path, beneath=path, physical=16384, torn_reads=True, memory_align=4096,
                              seconds=rig.seconds / 4)
            load.finish()
            assert device.balanced()["rmw_expected"] == load.touches + 3


# Lengths of pieces of memory; each begins at an address that is a multiple of 512.
PIECES = [[100, 412], [4, 508, 1020, 4], [508, 4], [1532, 4, 4096, 512, 1000, 24], [4092, 4] * 16, [500, 524] * 24]


def laid_out(buffer, data, lengths):
    """Return views of `buffer` with the pieces of `data`, each in a separate page, or two."""
    views, at = [], 0
    for number, length in enumerate(lengths):
        first = 2 * number * PAGE + (number % 3) * SECTOR
        views.append(buffer.view[first:first + length])
        views[-1][:] = data[at:at + length]
        at += length
    return views


def in_pieces(disk, call, sector, data, lengths):
    """Write `data`, or read as much, in pieces of memory; return their content, None if the kernel refuses them."""
    with contextlib.closing(Buffer(2 * len(lengths) * PAGE)) as buffer:
        views = laid_out(buffer, data, lengths)
        try:
            assert call(disk.fd, views, sector * SECTOR) == len(data)
            return b"".join(map(bytes, views))
        except OSError as error:
            assert error.errno == errno.EINVAL, error
            return None
        finally:
            for view in views:
                view.release()


@pytest.mark.timeout(STRESS_LIMIT)
@pytest.mark.parametrize("mode", ["report", only_usual("what is accepted is one for all modes", "pad"),
                                  only_usual("what is accepted is one for all modes", "coalesce")])
def test_data_in_pieces_shorter_than_a_sector_arrive_whole_or_not_at_all(rig, mode):
    """
    Newer kernels accept such pieces from a program if the device does. Devices of device-mapper do not, up to 7.2; where
    linear accepts them so does the target, however it splits them, and a refused write changes nothing.
    """
    taken = 0
    with rig.scsi_debug(physblk_exp=3) as path, Align(path, mode=mode) as device, Disk(device.path) as upper, \
            Device(f"0 {sectors_of(path)} linear {path} 0") as linear, Disk(linear.path) as beside:
        for tag, lengths in enumerate(PIECES, 2):
            sectors = sum(lengths) // SECTOR
            assert sum(lengths) == sectors * SECTOR
            for sector in (82, 85, 87, 80):
                upper.write(64, pattern(1, 64, 192))
                data = pattern(tag, sector, sectors)
                with_linear = in_pieces(beside, os.pwritev, 1024 + sector, data, lengths)
                written = in_pieces(upper, os.pwritev, sector, data, lengths)
                assert (with_linear is None) == (written is None), f"{lengths} at {sector}: not as linear"
                want = bytearray(pattern(1, 64, 192))
                if written is not None:
                    want[(sector - 64) * SECTOR:(sector - 64 + sectors) * SECTOR] = data
                check(64, bytes(want), upper.read(64, 192), f"{lengths} at {sector}")
                with_linear = in_pieces(beside, os.preadv, sector, bytes(len(data)), lengths)
                got = in_pieces(upper, os.preadv, sector, bytes(len(data)), lengths)
                assert (with_linear is None) == (got is None), f"{lengths} at {sector}: not as linear"
                if got is not None:
                    check(sector, bytes(want[(sector - 64) * SECTOR:(sector - 64 + sectors) * SECTOR]), got, f"{lengths}")
                upper.flush()
                check(64, bytes(want), beside.read(64, 192), f"{lengths} at {sector}, beneath")
                taken += written is not None
        device.balanced()
    print(f"{taken} writes of {4 * len(PIECES)} taken")


def test_a_larger_unit_is_suggested_where_the_drive_names_one(rig):
    """A drive without rotation that reports 4096 and prefers writes of 16384."""
    with rig.scsi_debug(sector_size=512, physblk_exp=3, opt_xferlen_exp=5) as path:
        assert (queue(path, "minimum_io_size"), queue(path, "rotational")) == ("16384", "0")
        with Align(path) as device:
            assert device.attribute("suggested_physical_block_size") == "16384"
    with Align(rig.drive("p4096").path) as device:
        assert device.attribute("suggested_physical_block_size") == "0"


def test_pad_is_refused_where_one_request_cannot_carry_a_block(rig):
    drive = rig.drive("claims512")
    most = Path("/sys/block", block_name(drive.path), "queue/max_sectors_kb")
    before = most.read_text()
    most.write_text("8")
    try:
        with Align(drive.path, mode="report", physical_block_size=16384, alignment_offset=0) as device:
            with rig.log() as log, pytest.raises(Refused):
                device.set_mode("pad")
            assert "max_sectors" in log.text, log.text
    finally:
        most.write_text(before)


def test_pad_is_refused_on_a_zoned_device(rig):
    with rig.null_blk(zoned=1, zone_size=4, gb=1) as path:
        with Align(path, mode="report", length=8192, physical_block_size=4096, alignment_offset=0) as device:
            with rig.log() as log, pytest.raises(Refused):
                device.set_mode("pad")
            assert "zoned" in log.text, log.text


def test_limits_that_fall_below_a_block_send_touches_to_the_drive(rig):
    drive = rig.drive("p16384")
    most = Path("/sys/block", block_name(drive.path), "queue/max_sectors_kb")
    before = most.read_text()
    with Align(drive.path, mode="pad") as device, Disk(device.path) as upper:
        most.write_text("8")
        try:
            drive.reset()
            for i in range(10):
                upper.write(32 * i + 3, pattern(i, 32 * i + 3, 1))
            ledger, stats = device.balanced(), drive.stats()
        finally:
            most.write_text(before)
        assert ledger["rmw_drive_limits"] == ledger["rmw_drive"] == stats["touches"] == 10
        assert stats["reads"] == 0
