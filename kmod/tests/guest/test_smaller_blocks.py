# SPDX-License-Identifier: GPL-2.0
"""
Logical blocks of 512 bytes on disks that have larger ones. scsi_debug refuses requests that are not whole in its own, and the
kernel those that do not begin there, so that each request that succeeds was whole below.
"""

import itertools
import json
import random
from pathlib import Path

import pytest

from lab.paths import OUT
from lab.plugins.extent import only_all
from rig.bad_blocks import faulty
from rig.control import Refused
from rig.direct import RWF_DSYNC, RWF_NOWAIT, SECTOR, Buffer, Disk, Later, Together, check, pattern
from rig.dm import Align, block_name, queue, run
from rig.filesystem import mounted
from rig.one_by_one import play
from rig.oracle import Oracle
from rig.rig import STRESS_LIMIT
from rig.stuck import Stuck
from rig.witness import Request, Trace, eventually, reads, writes

ALIGNCTL = OUT / "bin" / "alignctl"
AREA = 4096
# A logical block of the disk, in sectors.
BLOCK = 8
MODES = ["pad", "coalesce"]


def smaller(path, mode, **options):
    return Align(path, mode=mode, logical_block_size=512, **options)


def requests(choose, number):
    """Yield random requests of 1 to 40 sectors anywhere: (kind, sector, sectors)."""
    for _ in range(number):
        length = choose.randint(1, 40)
        sector = choose.randrange(AREA - length)
        yield choose.choices(["write", "sync", "zero", "read", "flush"], [10, 3, 2, 8, 1])[0], sector, length


def play_anywhere(upper, choose, number, oracle):
    """Play random requests from memory with and without gaps; return the model of the sectors."""
    return play(upper, requests(choose, number), 0, AREA, oracle, skew=lambda: choose.choice([0, 512, 1536]))


@pytest.mark.each_kernel
@pytest.mark.parametrize("mode", MODES)
def test_requests_of_512_bytes_reach_a_disk_of_4096(rig, mode):
    with rig.scsi_debug(sector_size=4096, lbpu=1, lbpws=1) as path:
        with smaller(path, mode) as device, Disk(device.path) as upper:
            assert queue(path, "logical_block_size") == "4096"
            assert (queue(device.path, "logical_block_size"), queue(device.path, "physical_block_size")) == ("512", "4096")
            assert f"mode {mode} logical_block_size 512" in device.table()
            oracle = Oracle(4096)
            model = play_anywhere(upper, random.Random(mode), 400, oracle)
            device.message("flush")
            ledger = device.balanced()
            assert ledger["rmw_expected"] == oracle.counters["rmw_expected"]
            assert ledger["rmw_drive"] == ledger["rmw_lost"] == 0 < ledger["rmw_host"] < ledger["rmw_expected"]
            assert 0 < ledger["bounce_reads"] <= 2 * ledger["reads_bounced"]
            check(0, model, upper.read(0, AREA), "through the target")
        with Disk(path) as lower:
            check(0, model, lower.read(0, AREA), "beneath it")


@pytest.mark.each_kernel
def test_parts_of_a_larger_physical_block_are_fixed_too(rig):
    """Logical blocks of 4096 bytes, physical ones of 16 KiB."""
    with rig.scsi_debug(sector_size=4096, physblk_exp=2) as path, smaller(path, "coalesce") as device, \
            Disk(device.path) as upper:
        oracle = Oracle(16384)
        model = play_anywhere(upper, random.Random(7), 200, oracle)
        ledger = device.balanced(pending=device.counter("rmw_pending"))
        assert (ledger["rmw_expected"], ledger["rmw_drive"]) == (oracle.counters["rmw_expected"], 0)
        check(0, model, upper.read(0, AREA), "through the target")


def needed(sector, sectors):
    """Work out a read's requests to the disk: those for blocks with an end inside, and that for the blocks between."""
    end = sector + sectors
    # A set: both ends may lie inside the same block.
    blocks = {at // BLOCK for at in (sector, end) if at % BLOCK}
    whole = range(-(-sector // BLOCK), end // BLOCK)
    return ([Request("R", block * BLOCK, BLOCK) for block in sorted(blocks)],
            [Request("R", whole.start * BLOCK, len(whole) * BLOCK)] if whole else [])


def reads_of_each_kind(choose, number):
    """Yield random reads of up to five blocks, of which half of the ends are boundaries: (sector, sectors)."""
    while number:
        block = choose.randrange(AREA // BLOCK - 5)
        first, last = (choose.choice([0, choose.randrange(1, BLOCK)]) for _ in range(2))
        sectors = choose.randint(0, 4) * BLOCK + last - first
        if sectors > 0:
            yield block * BLOCK + first, sectors
            number -= 1


@pytest.mark.parametrize("mode", MODES)
def test_reads_cost_the_disk_what_they_need_and_the_ledger_says_so(rig, mode):
    content, asked = pattern(1, 0, AREA), list(reads_of_each_kind(random.Random(mode), 400))
    wanted = [needed(*read) for read in asked]
    # One end or two inside a block, or none, and with and without whole blocks between.
    assert {(len(ends), len(middle)) for ends, middle in wanted} == {(0, 1), (1, 0), (1, 1), (2, 0), (2, 1)}
    with rig.scsi_debug(sector_size=4096) as path:
        with Disk(path) as lower:
            lower.write(0, content)
        with smaller(path, mode) as device, Disk(device.path) as upper:
            with Trace(path) as trace:
                for sector, sectors in asked:
                    check(sector, content[sector * SECTOR:(sector + sectors) * SECTOR], upper.read(sector, sectors), "read")
            ledger = device.balanced()
    seen = iter(trace.requests)
    for read, (ends, middle) in zip(asked, wanted, strict=True):
        assert sorted(itertools.islice(seen, len(ends + middle))) == sorted(ends + middle), f"requests of the read {read}"
    assert not list(seen)
    assert ledger["reads"] == len(asked)
    assert ledger["reads_bounced"] == sum(bool(ends) for ends, _ in wanted)
    assert ledger["bounce_reads"] == sum(len(ends) for ends, _ in wanted)


@pytest.mark.parametrize("mode", MODES)
def test_reads_of_one_block_at_once_share_requests_and_the_ledger_says_so(rig, mode):
    """
    The first read's request is stuck, so one more serves all others of the block, which come meanwhile. The memory has no gap
    inside a block, as dm-linear takes only whole ones.
    """
    content = pattern(1, 0, 256)
    asked = [(81, 1), (80, 7), (82, 3), (87, 1), (85, 15), (81, 6), (72, 9), (82, 3)]
    with rig.scsi_debug(sector_size=4096) as path:
        with Disk(path) as lower:
            lower.write(0, content)
        with Stuck(path) as stuck, smaller(stuck.path, mode) as device, Disk(device.path) as upper:
            with Trace(path) as trace:
                stuck.stop()
                together = Together(upper, asked, in_step=True)
                stuck.flow()
                assert together.results() == [0] * len(asked)
            ledger = device.balanced()
    for (sector, sectors), got in zip(asked, together.contents(), strict=True):
        check(sector, content[sector * SECTOR:(sector + sectors) * SECTOR], got, "read")
    assert all(Request("R", 80, BLOCK) in needed(*read)[0] for read in asked)
    # One has the block at 88 between its ends, the other one of which lies in the block at 96; one begins with the block at 72.
    assert sorted(trace.requests) == [Request("R", sector, BLOCK) for sector in (72, 80, 80, 88, 96)]
    assert ledger["reads_bounced"] == len(asked)
    assert ledger["bounce_reads"] == len(trace.requests) - sum(len(needed(*read)[1]) for read in asked) == 3


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("start", "length", "offset"),
                         [(8, AREA + 16, 0), (24, AREA - 24, 12288), (8, AREA, 12288), (40, 16, 0)])
def test_what_lies_beside_a_target_that_ends_inside_physical_blocks_is_left_alone(rig, mode, start, length, offset):
    """Physical blocks of 16 KiB; at offset 12288 the target may begin in one that the disk has only the end of."""
    before, end = pattern(9, 0, 2 * AREA), start + length
    with rig.scsi_debug(sector_size=4096, physblk_exp=2) as path, Disk(path) as lower:
        lower.write(0, before)
        with smaller(path, mode, start=start, length=length, physical_block_size=16384, alignment_offset=offset) as device, \
                Disk(device.path) as upper, Trace(path) as trace:
            model = bytearray(upper.read(0, length))
            choose = random.Random(f"{mode} {start} {length}")
            for tag in range(1, 200):
                sectors = choose.randint(1, min(40, length))
                # Two thirds of the requests lie at the ends.
                sector = choose.choice([0, length - sectors, choose.randrange(length - sectors + 1)])
                at = slice(sector * SECTOR, (sector + sectors) * SECTOR)
                if choose.random() < 0.3:
                    check(sector, bytes(model[at]), upper.read(sector, sectors), f"read {tag}")
                    continue
                model[at] = pattern(tag, sector, sectors)
                upper.write(sector, bytes(model[at]))
            device.message("flush")
            assert device.balanced()["rmw_drive"] == 0
            check(0, bytes(model), upper.read(0, length), "through the target")
        for request in reads(trace.requests) + writes(trace.requests):
            assert start <= request.sector and request.sector + request.sectors <= end
            assert request.sector % 8 == request.sectors % 8 == 0
        check(0, before[:start * SECTOR], lower.read(0, start), "in front of the target")
        check(start, bytes(model), lower.read(start, length), "beneath it")
        check(end, before[end * SECTOR:], lower.read(end, 2 * AREA - end), "behind it")


@pytest.mark.parametrize("mode", MODES)
def test_writers_and_readers_at_the_same_time(rig, mode):
    with rig.scsi_debug(sector_size=4096, lbpu=1, lbpws=1) as path, smaller(path, mode) as device:
        load = rig.stress(device.path, beneath=path, physical=4096, torn_reads=True, memory_align=512, seconds=rig.seconds / 4)
        load.finish()
        assert device.balanced()["rmw_expected"] == load.touches


def test_pieces_of_memory_smaller_than_a_block_of_the_disk(rig):
    with rig.scsi_debug(sector_size=4096) as path, smaller(path, "pad") as device, Disk(device.path) as upper:
        data = pattern(3, 64, 24)
        buffers = [Buffer(SECTOR, skew) for skew in [0, 512, 1024] * 8]
        try:
            for i, buffer in enumerate(buffers):
                buffer.fill(data[i * SECTOR:(i + 1) * SECTOR])
            upper.write_from(64, [buffer.view for buffer in buffers])
        finally:
            for buffer in buffers:
                buffer.close()
        check(64, data, upper.read(64, 24), "from 24 pieces")
        assert device.balanced()["rmw_expected"] == 0


def test_a_discard_leaves_the_parts_of_blocks_alone(rig):
    with rig.scsi_debug(sector_size=4096, lbpu=1, lbprz=1) as path, smaller(path, "pad") as device, \
            Disk(device.path) as upper:
        upper.write(0, pattern(1, 0, 64))
        upper.discard(3, 42)
        check(0, pattern(1, 0, 8), upper.read(0, 8), "in front of it")
        check(40, pattern(1, 40, 24), upper.read(40, 24), "behind it")
        check(8, bytes(32 * SECTOR), upper.read(8, 32), "what was discarded")
        upper.discard(50, 3)
        check(40, pattern(1, 40, 24), upper.read(40, 24), "a discard inside a block")


def test_write_zeroes_are_exact_and_whole_below(rig):
    with rig.scsi_debug(sector_size=4096, lbpu=1, lbpws=1) as path, smaller(path, "pad") as device, \
            Disk(device.path) as upper:
        upper.write(0, pattern(1, 0, 64))
        upper.zero(3, 42)
        check(0, pattern(1, 0, 3) + bytes(42 * SECTOR) + pattern(1, 45, 19), upper.read(0, 64), "zeroes between its ends")
        upper.zero(49, 2)
        check(48, pattern(1, 48, 1) + bytes(2 * SECTOR) + pattern(1, 51, 5), upper.read(48, 8), "zeroes inside a block")
        assert device.balanced()["rmw_expected_zeroes"] == 3


def test_a_block_that_cannot_be_read_fails_its_writes_and_is_named(rig):
    """Block 10, of which no part may go down unmodified."""
    with rig.scsi_debug(sector_size=4096) as path, Disk(path) as lower:
        before = pattern(1, 0, 256)
        lower.write(0, before)
        with faulty(path, bad_reads=[10]) as (bad, heal), smaller(bad, "pad") as device, Disk(device.path) as upper:
            with rig.log() as log:
                for sector, sectors in ((82, 3), (78, 4)):
                    assert Later(upper.write, sector, pattern(2, sector, sectors)).error.errno == 5
            assert "cannot read the block at sector 80 of" in log.text
            upper.write(90, pattern(3, 90, 2))
            ledger = device.balanced()
            assert (ledger["rmw_lost"], ledger["rmw_host"], ledger["rmw_drive"]) == (2, 2, 0)
            # Whole in the drive's blocks, or beside the one that cannot be read.
            upper.write(80, pattern(4, 80, 8))
            check(72, before[72 * SECTOR:78 * SECTOR], upper.read(72, 6), "in front of it")
            for sector, sectors in ((80, 1), (79, 2), (85, 10)):
                assert Later(upper.read, sector, sectors).error.errno == 5
            check(88, before[88 * SECTOR:90 * SECTOR], upper.read(88, 2), "behind it")
            heal()
            upper.write(81, pattern(5, 81, 1))
            check(80, pattern(4, 80, 1) + pattern(5, 81, 1) + pattern(4, 82, 6), upper.read(80, 8), "healed")


@pytest.mark.parametrize("mode", MODES)
def test_fua_stays_on_what_is_made_of_a_write(rig, mode):
    with rig.scsi_debug(sector_size=4096) as path:
        if queue(path, "fua") != "1":
            pytest.fail("this scsi_debug does not support FUA: the test proves nothing")
        with smaller(path, mode) as device, Disk(device.path) as upper:
            with Trace(path) as trace:
                upper.write(5, pattern(1, 5, 30), flags=RWF_DSYNC)
            assert writes(trace.requests) and all(request.fua for request in writes(trace.requests))


def test_what_is_held_goes_down_as_a_waiting_program_s_where_touches_wait_for_its_room(rig):
    """blk-wbt would throttle the write, and with it the waiting touches. Without any, it goes down as a write that nothing waits
    for."""
    slots = 16
    sent = [(at + 1, pattern(2, at + 1, 1)) for at in range(0, 4 * slots * BLOCK, 2 * BLOCK)]
    held = {sector - 1 for sector, _ in sent[:slots]}

    def met():
        """Check the flags of writes; return whether a held block was written where touches wait for its room."""
        with smaller(stuck.path, "coalesce", max_blocks=slots, hold_ms=100) as device, Disk(device.path) as upper:
            with Trace(path) as alone:
                upper.write(AREA + 1, pattern(1, AREA + 1, 1))
                eventually(lambda: not device.counter("held_blocks"), "the block stays held")
            stuck.stop()
            together = Together(upper, sent)
            eventually(lambda: device.counter("touches_starved"), "no touch waits for room")
            with Trace(path) as crowded:
                stuck.flow()
                assert not any(together.results())
            assert [request.sector for request in writes(alone.requests)] == [AREA] and not alone.sync
            # A touch that waits needs the reserve, or a block whose write has ended: all but the last two of so many writes find
            # one in the queue. A block that is still held after them may have no touch behind it.
            awaited = writes(crowded.requests)[:len(sent) - slots - 2]
            assert set(awaited) <= crowded.sync
            for sector, data in sent:
                assert upper.read(sector, 1) == data
            device.message("flush")
            device.balanced()
            return held & {request.sector for request in awaited}

    with rig.scsi_debug(sector_size=4096) as path, Stuck(path) as stuck:
        # All touches may pass through the reserve, one after the other, before a held block finds a processor: then again.
        eventually(met, "no held block is written before the touches", timeout=60)


def test_a_write_that_must_not_wait_is_sent_back_or_done(rig):
    again = 0
    with rig.scsi_debug(sector_size=4096) as path, smaller(path, "pad") as device, Disk(device.path) as upper:
        for i in range(24):
            sector, sectors = 24 * i + i % 4, 1 + 5 * i % 16
            before, data = upper.read(sector, sectors), pattern(i, sector, sectors)
            try:
                upper.write(sector, data, flags=RWF_NOWAIT)
            except BlockingIOError:
                again, data = again + 1, before
            check(sector, data, upper.read(sector, sectors), f"after write {i}")
            try:
                data = upper.read(sector, sectors, flags=RWF_NOWAIT)
            except BlockingIOError:
                continue
            check(sector, data, upper.read(sector, sectors), f"read without a wait {i}")
        assert 0 < device.counter("nowait_again") <= again * 2 + 24
        device.balanced()


@pytest.mark.parametrize("mode", MODES)
def test_suspend_and_changes_of_the_mode_under_load(rig, mode):
    with rig.scsi_debug(sector_size=4096, lbpu=1, lbpws=1) as path, smaller(path, mode) as device:
        load = rig.stress(device.path, beneath=path, physical=4096, torn_reads=True, memory_align=512, flush=1,
                          seconds=STRESS_LIMIT)
        load.shake([device.suspend, device.resume, lambda: device.set_mode("pad"),
                    lambda: device.reload(device.line(mode="coalesce", logical_block_size=512)),
                    lambda: device.set_mode(mode)])
        device.resume()
        load.finish()
        assert device.balanced()["rmw_drive"] == 0


@pytest.mark.parametrize("mode", MODES)
def test_conform_finds_no_fault(rig, mode):
    with rig.scsi_debug(sector_size=4096, lbpu=1, lbpws=1) as path, smaller(path, mode) as device:
        done = run(ALIGNCTL, "conform", device.path, "--json", "--rounds", 312, "--depth", 4)
        found = json.loads(done.stdout)
    assert (found["logical_block_size"], found["faulty"], found["rounds"]) == (512, 0, 312)


@pytest.mark.parametrize(("kind", "megabytes"), [("ext4", 64), only_all("one file system shows it", "xfs", 400)])
def test_a_file_system_of_512_byte_sectors_that_was_made_elsewhere_is_mounted(rig, tmp_path, kind, megabytes):
    """An image with a table of partitions and a file system, made for sectors of 512 bytes, is copied to the disk."""
    image, start = tmp_path / "image", 2049
    with open(image, "wb") as file:
        file.truncate(megabytes << 20)
    run("sh", "-c", f"echo 'start={start}, type=L' | sfdisk --quiet --label gpt {image}")
    run("modprobe", "loop")
    loop = run("losetup", "--show", "--find", "--offset", start * SECTOR, "--sizelimit", (megabytes - 3) << 20,
               image).stdout.strip()
    try:
        run(*{"xfs": ["mkfs.xfs", "-q", "-s", "size=512"], "ext4": ["mkfs.ext4", "-q", "-b", "1024"]}[kind], loop)
        with mounted(kind, loop) as folder:
            (folder / "file").write_bytes(pattern(5, 0, 999))
    finally:
        run("losetup", "--detach", loop)
    with rig.scsi_debug(megabytes=megabytes, sector_size=4096) as path:
        run("dd", f"if={image}", f"of={path}", "bs=1M", "oflag=direct", "status=none")
        with smaller(path, "coalesce") as device:
            run("kpartx", "-a", "-s", device.path)
            try:
                part = f"{device.path}p1" if device.path[-1].isdigit() else f"{device.path}1"
                with mounted(kind, part) as folder:
                    assert (folder / "file").read_bytes() == pattern(5, 0, 999)
                    (folder / "new").write_bytes(pattern(6, 0, 77))
                with mounted(kind, part) as folder:
                    assert (folder / "new").read_bytes() == pattern(6, 0, 77)
            finally:
                run("kpartx", "-d", device.path)
            device.message("flush")
            assert device.balanced()["rmw_drive"] == 0


@pytest.mark.parametrize(("options", "why"), [
    ({"logical_block_size": 1024, "mode": "pad"}, "logical_block_size must be 512"),
    ({"logical_block_size": 512}, "logical_block_size needs mode pad or coalesce"),
    ({"logical_block_size": 512, "mode": "pad", "physical_block_size": 2048, "alignment_offset": 0},
     "physical_block_size must not be less than the device's logical block size"),
    ({"logical_block_size": 512, "mode": "pad", "physical_block_size": 8192, "alignment_offset": 512},
     "alignment_offset must be a multiple of the device's logical block size"),
    ({"logical_block_size": 512, "mode": "pad", "start": 4}, "needs start and length in the device's logical blocks"),
    ({"logical_block_size": 512, "mode": "pad", "length": 8004},
     "needs start and length in the device's logical blocks"),
])
def test_what_is_refused_says_why(rig, options, why):
    with rig.scsi_debug(sector_size=4096) as path, rig.log() as log, pytest.raises(Refused), Align(path, **options):
        pass
    assert why in log.text


def test_a_block_that_no_request_takes_is_refused_where_the_target_has_only_a_part_of_it(rig):
    with rig.scsi_debug(sector_size=4096, physblk_exp=2) as path:
        Path("/sys/block", block_name(path), "queue/max_sectors_kb").write_text("8\n")
        with rig.log() as log, pytest.raises(Refused), smaller(path, "pad", start=40, length=16):
            pass
        assert "a block exceeds the device's max_sectors" in log.text
        # As large as the device's logical block, it is taken.
        with smaller(path, "pad", start=40, length=16, physical_block_size=4096, alignment_offset=0):
            pass


def test_mode_report_is_refused_by_message_and_a_device_of_512_is_as_without_the_argument(rig):
    with rig.scsi_debug(sector_size=4096) as path, smaller(path, "pad") as device:
        with rig.log() as log, pytest.raises(Refused):
            device.set_mode("report")
        assert "logical_block_size needs mode pad or coalesce" in log.text
        device.set_mode("coalesce")
    drive = rig.drive("p4096")
    with Align(drive.path, logical_block_size=512) as device:
        device.set_mode("pad")
        device.set_mode("report")
