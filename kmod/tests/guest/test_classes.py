# SPDX-License-Identifier: GPL-2.0
"""Every position of a write relative to physical blocks, in both modes, with the drive as witness."""

import pytest

from lab.plugins.extent import only_all
from rig.direct import SECTOR, Disk, check, pattern
from rig.dm import Align, alignment_offset, queue
from rig.oracle import Oracle
from rig.witness import Trace, reads, writes


def all_ways(physical):
    """Return (first sector in the block, sectors) of writes of all classes, with lengths around one and more blocks."""
    block = physical // SECTOR
    starts = range(block) if block <= 8 else (0, 1, 2, 7, 8, block // 2, block - 1)
    lengths = sorted({1, 2, 8, block - 1, block, block + 1, 2 * block - 1, 2 * block, 2 * block + 1, 3 * block + 5})
    return [(start, length) for start in starts for length in lengths]


def write_ways(device, oracle, first, physical, ways, skew=512):
    """
    Make one write of each way, each in separate blocks, from the boundary `first` on.

    Return the writes as (sector, sectors, content).
    """
    stride = 5 * physical // SECTOR
    done = []
    with Disk(device.path) as disk:
        for i, (start, length) in enumerate(ways):
            sector = first + i * stride + start
            data = pattern(i + 1, sector, length)
            disk.write(sector, data, skew=skew if i % 2 else 0)
            oracle.write(sector, length)
            done.append((sector, length, data))
    return done


def patched(before, first, done):
    after = bytearray(before)
    for sector, _, data in done:
        at = (sector - first) * SECTOR
        after[at:at + len(data)] = data
    return bytes(after)


def span(physical, ways):
    """Return the number of sectors that write_ways() may cover, from its first boundary on."""
    return (len(ways) + 1) * 5 * physical // SECTOR


@pytest.mark.parametrize("mode", ["report", "pad"])
@pytest.mark.parametrize("physical", [4096, 16384])
def test_every_class_of_misalignment_is_counted_and_arrives(rig, physical, mode):
    drive = rig.drive(f"p{physical}")
    block = physical // SECTOR
    ways = all_ways(physical)
    oracle = Oracle(physical)
    with Align(drive.path, mode=mode) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        assert queue(device.path, "physical_block_size") == str(physical)
        total = span(physical, ways) + 2 * block
        before = lower.read(0, total)
        drive.reset()
        done = write_ways(device, oracle, block, physical, ways)
        ledger = device.balanced()
        stats, log = drive.stats(), drive.log()

        oracle.compare(ledger, device.histogram("phase"), device.histogram("size"))
        expected = oracle.counters["rmw_expected"]
        assert stats["touches"] == ledger["rmw_drive"], f"the drive and the ledger disagree: {stats} {ledger}"
        if mode == "report":
            assert ledger["rmw_drive"] == ledger["rmw_drive_report"] == expected
            assert [(r.sector, r.sectors) for r in writes(log)] == [(sector, length) for sector, length, _ in done]
            assert not reads(log), "report makes no reads"
            assert ledger["sent_block_bytes"] == ledger["write_block_bytes"]
        else:
            assert ledger["rmw_drive"] == 0
            assert ledger["rmw_host"] == expected, "each block here has one touch, which needs a read"
            for request in writes(log):
                assert request.sector % block == 0 and request.sectors % block == 0, f"{request} is not whole blocks"
            assert stats["reads"] == ledger["pad_reads"] <= expected
            assert stats["read_bytes"] == ledger["pad_read_bytes"] == expected * physical
            assert stats["write_bytes"] == ledger["sent_block_bytes"] == ledger["write_block_bytes"]

        want = patched(before, 0, done)
        check(0, want, upper.read(0, total), f"through the target ({mode}, {physical})")
        check(0, want, lower.read(0, total), f"beneath it ({mode}, {physical})")


@pytest.mark.parametrize("mode", ["report", "pad"])
def test_a_drive_with_its_first_boundary_at_3584(rig, mode):
    """QEMU cannot present an alignment_offset, so the table line gives it; the drive counts by it."""
    drive = rig.drive("offset3584")
    ways = all_ways(4096)
    oracle = Oracle(4096, offset=3584)
    with Align(drive.path, mode=mode, physical_block_size=4096, alignment_offset=3584) as device, \
            Disk(device.path) as upper, Disk(drive.path) as lower:
        assert device.attribute("target0_alignment_offset") == "3584"
        total = span(4096, ways) + 16
        before = lower.read(0, total)
        drive.reset()
        done = write_ways(device, oracle, 7, 4096, ways)
        ledger, stats = device.balanced(), drive.stats()
        oracle.compare(ledger, device.histogram("phase"), device.histogram("size"))
        assert stats["touches"] == ledger["rmw_drive"] == (oracle.counters["rmw_expected"] if mode == "report" else 0)
        want = patched(before, 0, done)
        check(0, want, upper.read(0, total), f"through the target ({mode})")
        check(0, want, lower.read(0, total), f"beneath it ({mode})")


@pytest.mark.parametrize("lowest", [1, *(only_all("KUnit has every offset", lowest) for lowest in range(2, 7)), 7])
def test_the_alignment_offset_of_a_scsi_disk_is_found_by_itself(rig, lowest):
    """lowest_aligned: the logical block at the first boundary; the trace of the requests is the witness."""
    offset = lowest * SECTOR
    ways = [(start, length) for start in range(8) for length in (1, 8, 13)]
    with rig.scsi_debug(sector_size=512, physblk_exp=3, lowest_aligned=lowest) as path:
        assert queue(path, "physical_block_size") == "4096"
        for mode in ("report", "pad"):
            oracle = Oracle(4096, offset=offset)
            with Align(path, mode=mode) as device, Disk(device.path) as upper, Disk(path) as lower:
                assert device.attribute("target0_alignment_offset") == str(offset)
                assert alignment_offset(device.path) == offset
                total = span(4096, ways) + 16
                before = lower.read(0, total)
                with Trace(path) as trace:
                    done = write_ways(device, oracle, lowest, 4096, ways)
                oracle.compare(device.balanced(), device.histogram("phase"), device.histogram("size"))
                seen = sum(oracle.touches(r.sector, r.sectors) for r in writes(trace.requests))
                assert len(writes(trace.requests)) >= len(done), "the trace must have seen the writes"
                assert seen == device.counter("rmw_drive") == (
                    oracle.counters["rmw_expected"] if mode == "report" else 0)
                want = patched(before, 0, done)
                check(0, want, upper.read(0, total), f"through the target ({mode})")
                check(0, want, lower.read(0, total), f"beneath it ({mode})")


@pytest.mark.parametrize("mode", ["report", "pad"])
@pytest.mark.parametrize("physical,length", [(4096, 803), (4096, 802), (16384, 803)])
def test_a_target_inside_physical_blocks_leaves_its_neighbours_alone(rig, physical, length, mode):
    """Offset 101: the first block, and with some lengths the last, lies only partly inside the target."""
    start = 101
    end = start + length
    block = physical // SECTOR
    drive = rig.drive(f"p{physical}")
    oracle = Oracle(physical, start=start)
    with Disk(drive.path) as lower:
        lower.write(0, pattern(99, 0, end + 200))
        with Align(drive.path, start=start, length=length, mode=mode, physical_block_size=physical,
                   alignment_offset=0) as device, Disk(device.path) as upper:
            drive.reset()
            model = bytearray(pattern(99, 0, end + 200))
            edges = 0
            runs = [(0, n) for n in range(1, 13)] + [(length - n, n) for n in range(1, 13)] + [
                (0, length), (1, length - 1), (0, length - 1), (300, 40), (0, block - start % block),
                (length - 256, 256)]
            for tag, (sector, sectors) in enumerate(runs, 1):
                data = pattern(tag, start + sector, sectors)
                upper.write(sector, data)
                model[(start + sector) * SECTOR:(start + sector + sectors) * SECTOR] = data
                oracle.write(sector, sectors)
                edges += sum(count < block and (number * block < start or (number + 1) * block > end)
                             for number, count, _ in oracle.split(sector, sectors))
            upper.flush()
            ledger, stats, log = device.balanced(), drive.stats(), drive.log()

            oracle.compare(ledger, device.histogram("phase"), device.histogram("size"))
            assert edges > 12, "this test is about edges"
            if mode == "pad":
                assert ledger["rmw_drive"] == ledger["rmw_drive_edge"] == edges
            assert stats["touches"] == ledger["rmw_drive"]
            for request in writes(log):
                assert start <= request.sector and request.sector + request.sectors <= end, \
                    f"{request} writes outside of {start}..{end}"
            check(0, bytes(model), lower.read(0, end + 200), f"beneath the target ({mode})")
            check(start, bytes(model[start * SECTOR:end * SECTOR]), upper.read(0, length), "through the target")


@pytest.mark.parametrize("mode", ["report", "pad"])
def test_a_partition_at_sector_63_of_a_drive_that_claims_512(rig, mode):
    """The claim hides the geometry; physical_block_size alone must be enough, as the partition's start is known."""
    drive = rig.drive("claims512")
    assert queue(drive.path, "physical_block_size") == "512"
    with rig.partition(drive.path, 63, 65536) as path, Disk(drive.path) as lower:
        oracle = Oracle(4096, offset=512)
        with Align(path, mode=mode, physical_block_size=4096) as device, Disk(device.path) as upper:
            assert device.attribute("target0_alignment_offset") == "512", "-63 * 512 modulo 4096"
            assert queue(device.path, "physical_block_size") == "4096"
            drive.reset()
            for i in range(64):
                upper.write(8 + i * 24, pattern(i, i * 24, 8))
                oracle.write(8 + i * 24, 8)
            ledger, stats = device.balanced(), drive.stats()
            oracle.compare(ledger, device.histogram("phase"), device.histogram("size"))
            assert ledger["rmw_expected"] == 128, "each 4096-byte write is cut by a boundary"
            assert stats["touches"] == ledger["rmw_drive"] == (128 if mode == "report" else 0)
            for i in range(64):
                check(i * 24, pattern(i, i * 24, 8), lower.read(63 + 8 + i * 24, 8), "beneath the target")


def test_a_drive_whose_blocks_have_no_inside_needs_nothing(rig):
    """P = L: no write has a touch, in any mode."""
    drive = rig.drive("claims512")
    with Align(drive.path, mode="pad") as device, Disk(device.path) as upper:
        assert device.attribute("target0_physical_block_size") == "512"
        drive.reset()
        sent = [(3, 1), (17, 5), (100, 13)]
        for tag, (sector, sectors) in enumerate(sent):
            upper.write(sector, pattern(tag, sector, sectors))
        assert device.balanced()["rmw_expected"] == 0
        assert [(r.sector, r.sectors) for r in drive.log()] == sent
