# SPDX-License-Identifier: GPL-2.0
"""Requests that fail below, at random or chosen places: no acknowledged data is lost, and errors reach their writers."""

import contextlib
import json
import random
import subprocess
import time

import pytest

from lab.paths import OUT
from lab.plugins.extent import only_all
from rig.bad_blocks import BLOCK, faulty
from rig.control import Refused
from rig.direct import SECTOR, Disk, check, flush_fails, pattern
from rig.dm import Align, Device, sectors_of
from rig.faults import allocations_fail
from rig.memdisk import memory_disk
from rig.rig import STRESS_LIMIT
from rig.witness import eventually

pytestmark = pytest.mark.timeout(STRESS_LIMIT)

GEOMETRY = {"physical_block_size": 4096, "alignment_offset": 0}


@contextlib.contextmanager
def random_faults(below, seed):
    """Make a device: of the first 128 blocks four cannot be read and four others cannot be written."""
    print(f"seed {seed}")
    blocks = random.Random(seed).sample(range(128), 8)
    with faulty(below, bad_reads=blocks[:4], bad_writes=blocks[4:]) as (path, heal):
        yield path, heal


@pytest.mark.parametrize("mode,percent", [
    *(only_all("sim/test_sim.py: lives in each mode", *row) for row in (("report", 0), ("pad", 0), ("pad", 40), ("coalesce", 0))),
    ("coalesce", 40)])
def test_no_acknowledged_sector_is_lost_while_requests_fail(rig, mode, percent):
    """Bad blocks, and later none; with all memory, and with a percentage of failing allocations."""
    options = {"hold_ms": 20} if mode == "coalesce" else {}
    with rig.scsi_debug(physblk_exp=3) as disk, random_faults(disk, random.randrange(1 << 32)) as (path, heal), \
            Align(path, mode=mode, **GEOMETRY, **options) as device:
        with allocations_fail(percent), rig.stress(device.path, seconds=STRESS_LIMIT, beneath=disk, region=1024, flush=2,
                                                   fua=2, tolerate_errors=True) as load:
            # The stress retries its first and last requests until they succeed; fail the ones between.
            eventually(lambda: device.counter("fua") > 0, "the stress does not begin", timeout=60)
            time.sleep(rig.seconds / 3)
            if mode != "report":
                eventually(lambda: device.counter("rmw_drive_read_error") > 0, "no pad read failed", timeout=60)
            heal()
            if mode != "report":
                eventually(lambda: device.counter("rmw_host") > 0, "no pad read went well", timeout=60)
                eventually(lambda: not percent or device.counter("rmw_drive_no_memory") > 0, "no allocation failed", timeout=60)
            load.stop()
        assert load.read_errors + load.write_errors > 0, "no request failed: the test proves nothing"
        with Disk(device.path) as upper:
            eventually(lambda: not flush_fails(upper), "the device stays degraded")
        ledger = device.balanced()
        if mode != "report":
            assert (ledger["rmw_drive_no_memory"] > 0) == (percent > 0)


@pytest.mark.parametrize("percent", [0, 100])
@pytest.mark.parametrize("bad", ["reads", "writes"])
def test_a_bad_block_among_held_neighbours_concerns_no_other(rig, disk, bad, percent):
    """Eight neighbours are drained; the fourth fails. With and without memory for reading them together."""
    want = bytearray(pattern(1, 0, 64))
    with Disk(disk.path) as lower:
        lower.write(0, bytes(want))
        blocks = {f"bad_{bad}": [3]}
        with faulty(disk.path, **blocks) as (path, heal), \
                Align(path, mode="coalesce", hold_ms=60000, **GEOMETRY) as device, Disk(device.path) as upper:
            for block in range(8):
                sector = block * BLOCK + 2
                upper.write(sector, pattern(2, sector, 3))
                want[sector * SECTOR:(sector + 3) * SECTOR] = pattern(2, sector, 3)
            # The held sectors exceed a read's own room for pins.
            check(18, bytes(want[18 * SECTOR:22 * SECTOR]), upper.read(18, 4), "held")
            assert device.counter("held_blocks") == 8
            with allocations_fail(percent):
                assert flush_fails(upper) == (bad == "writes")
            ledger = device.ledger()
            if bad == "reads":
                assert (ledger["rmw_drive_read_error"], ledger["rmw_host"]) == (1, 7)
            else:
                assert ledger["degraded"] == ledger["rmw_pending"] == 1
                with pytest.raises(Refused):
                    device.set_mode("report")
                check(24, bytes(want[24 * SECTOR:32 * SECTOR]), upper.read(24, 8), "the block that could not be written")
            heal()
            assert not flush_fails(upper)
            device.balanced()
        check(0, bytes(want), lower.read(0, 64), "beneath the target")


def test_reads_need_no_memory_for_what_is_held(rig):
    """Without memory for the pins of many blocks, a read is served in parts."""
    with rig.scsi_debug(physblk_exp=3) as path, Disk(path) as lower, \
            Align(path, mode="coalesce", hold_ms=60000) as device, Disk(device.path) as upper:
        want = bytearray(pattern(1, 0, 256))
        lower.write(0, bytes(want))
        for block in range(20):
            sector = block * BLOCK + block % 7
            upper.write(sector, pattern(2, sector, 1))
            want[sector * SECTOR:(sector + 1) * SECTOR] = pattern(2, sector, 1)
        assert device.counter("held_blocks") == 20
        with allocations_fail():
            was = device.ledger()
            check(0, bytes(want), upper.read(0, 256), "without memory")
            now = device.ledger()
            assert now["reads_overlaid"] > was["reads_overlaid"] + 5, "the read was served at once: there was memory"
            # In however many parts, it is one read of so many bytes.
            assert (now["reads"] - was["reads"], now["read_bytes"] - was["read_bytes"]) == (1, 256 * SECTOR)
        check(0, bytes(want), upper.read(0, 256), "with memory")
        upper.flush()
        check(0, bytes(want), lower.read(0, 256), "beneath the target")
        device.balanced()


def test_what_can_neither_be_read_nor_written_is_kept(rig, disk):
    """Each part of the block goes down separately, and fails."""
    with Disk(disk.path) as lower:
        lower.write(24, pattern(1, 24, 8))
        with faulty(disk.path, bad_reads=[3], bad_writes=[3]) as (path, heal), \
                Align(path, mode="coalesce", hold_ms=60000, **GEOMETRY) as device, Disk(device.path) as upper:
            for sector in (25, 29):
                upper.write(sector, pattern(2, sector, 2))
            assert flush_fails(upper)
            ledger = device.balanced(pending=2)
            assert (ledger["degraded"], ledger["rmw_drive_read_error"]) == (1, 0)
            heal()
            assert not flush_fails(upper)
            device.balanced()
        check(24, pattern(1, 24, 1) + pattern(2, 25, 2) + pattern(1, 27, 2) + pattern(2, 29, 2) + pattern(1, 31, 1),
              lower.read(24, 8), "beneath the target")


def test_a_discard_of_a_part_leaves_what_could_not_be_written(rig, disk):
    """The drive may have left the block unmodified, and then the held content is still the newest."""
    with faulty(disk.path, bad_writes=[3]) as (path, heal), \
            Align(path, mode="coalesce", hold_ms=60000, **GEOMETRY) as device, Disk(device.path) as upper:
        upper.write(25, pattern(2, 25, 4))
        assert flush_fails(upper)
        heal()
        upper.discard(24, 3)
        assert device.balanced(pending=1)["degraded"] == 1, "the block was written before the discard"
        check(25, pattern(2, 25, 4), upper.read(25, 4), "the held sectors")
        assert not flush_fails(upper)
        device.balanced()
        with Disk(disk.path) as lower:
            check(25, pattern(2, 25, 4), lower.read(25, 4), "beneath the target")


@pytest.mark.parametrize("how", ["drop_failed", "suspend", "table", "removal"])
def test_what_cannot_be_written_is_kept_or_named_as_lost(rig, disk, how):
    with contextlib.ExitStack() as stack:
        path, heal = stack.enter_context(faulty(disk.path, bad_writes=[3, 5]))
        device = stack.enter_context(Align(path, mode="coalesce", hold_ms=60000, **GEOMETRY))
        with Disk(device.path) as upper:
            for block in (3, 4, 5):
                upper.write(block * BLOCK + 1, pattern(2, block * BLOCK + 1, 2))
            assert flush_fails(upper)
            assert device.balanced(pending=2)["degraded"] == 2
            with pytest.raises(Refused):
                device.message("flush")
        with rig.log() as log:
            if how == "drop_failed":
                device.message("drop_failed")
                assert device.balanced()["rmw_lost"] == 2
            elif how == "suspend":
                device.suspend()
                device.resume()
                assert device.counter("degraded") == 2
                heal()
                eventually(lambda: device.counter("degraded") == 0, "the block is not tried again", timeout=15)
                assert device.balanced()["rmw_lost"] == 0
            elif how == "table":
                device.reload(device.line(mode="pad", **GEOMETRY))
                assert device.balanced()["rmw_lost"] == 2
            else:
                device.remove()
        lost = [line for line in log.text.splitlines() if ": lost: " in line]
        assert len(lost) == (0 if how == "suspend" else 2), log.text


def test_what_is_missing_is_asked_for_again_after_a_device_comes_back(rig, disk):
    """A failed block whose sectors are all overwritten in parts is whole, and no longer degraded."""
    with faulty(disk.path, bad_writes=[3]) as (path, heal), \
            Align(path, mode="coalesce", hold_ms=60000, **GEOMETRY) as device, Disk(device.path) as upper:
        upper.write(25, pattern(2, 25, 2))
        assert flush_fails(upper)
        for sector, sectors in ((24, 1), (27, 5)):
            with pytest.raises(OSError):
                upper.write(sector, pattern(3, sector, sectors))
        heal()
        upper.write(24, pattern(4, 24, 1))
        assert not flush_fails(upper)
        device.balanced()
        check(24, pattern(4, 24, 1) + pattern(2, 25, 2), upper.read(24, 3), "through the target")


def test_every_sector_is_right_on_a_device_that_fails_now_and_then(rig, disk):
    """dm-flakey fails all requests each third second."""
    length = sectors_of(disk.path)
    with Device(f"0 {length} flakey {disk.path} 0 2 1") as below, Align(below.path, mode="pad", **GEOMETRY) as device:
        load = rig.stress(device.path, seconds=max(4, rig.seconds), region=1024, flush=2, tolerate_errors=True)
        load.finish()
        device.balanced()
        assert load.write_errors > 0, "no request failed: the test proves nothing"


def test_a_bad_sector_is_healed_by_writing_it(rig, disk):
    """dm-dust fails reads of a bad sector until it is written."""
    length = sectors_of(disk.path)
    with Device(f"0 {length} dust {disk.path} 0 512") as below, Align(below.path, mode="pad", **GEOMETRY) as device, \
            Disk(device.path) as upper:
        upper.write(0, pattern(1, 0, 16))
        device.message("flush")
        below.message("addbadblock 5")
        below.message("enable")
        upper.write(2, pattern(2, 2, 1))
        assert device.balanced()["rmw_drive_read_error"] == 1, "the block cannot be read"
        with pytest.raises(OSError):
            upper.read(5, 1)
        upper.write(5, pattern(2, 5, 1))
        upper.write(6, pattern(2, 6, 1))
        ledger = device.balanced()
        assert (ledger["rmw_drive_read_error"], ledger["rmw_host"]) == (2, 1)
        want = pattern(1, 0, 2) + pattern(2, 2, 1) + pattern(1, 3, 2) + pattern(2, 5, 2) + pattern(1, 7, 9)
        check(0, want, upper.read(0, 16), "through the target")


def test_a_write_that_is_sent_again_goes_back_to_where_its_bio_is_from(rig, tmp_path):
    """
    Above a disk that can be polled device-mapper has a cache of bios, from its second table on. The bio of an io_uring write
    comes from the cache; the bios that dm-align makes of it do not. The first write makes block 0 known; the second one
    completes the block, goes down in one request with its remainder, and the request fails.
    """
    trace = tmp_path / "trace.csv"
    trace.write_text("time_us,op,offset,bytes\n0,write,0,2048\n100000,write,2048,10240\n")
    with memory_disk(poll_queues=1) as disk:
        length = sectors_of(disk.path)
        with Device(f"0 16 linear {disk.path} 0", f"16 {length - 16} flakey {disk.path} 16 0 100 1 error_writes") \
                as below, Align(below.path, mode="pad", **GEOMETRY) as device:
            device.reload(*device.lines)
            done = subprocess.run([OUT / "bin" / "alignctl", "replay", trace, "--on", device.path, "--no-check",
                                   "--json", "--force", device.path], capture_output=True, text=True, check=False)
            result = json.loads(done.stdout)
            assert (result["method"], result["failed"]) == ("io_uring", 1), done.stderr
            ledger = device.balanced()
            assert (ledger["rmw_avoided_known"], ledger["pad_writes"]) == (1, 3), "not one request, then its parts"
