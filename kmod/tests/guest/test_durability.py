# SPDX-License-Identifier: GPL-2.0
"""Flush and FUA reach the drive, and an acknowledged write is one that the drive acknowledged."""

import pytest

from lab.plugins.extent import only_all
from rig.direct import RWF_DSYNC, RWF_NOWAIT, Disk, Later, check, pattern
from rig.dm import Align, Device, queue, run, sectors_of
from rig.witness import Trace

MODES = ["report", "pad", "coalesce"]
# First sector and length of writes of whole blocks, inside a block, and with both ends inside blocks.
SHAPES = [(8, 8), (27, 2), (37, 30)]


@pytest.mark.each_kernel
@pytest.mark.parametrize("mode", MODES)
def test_every_flush_reaches_the_drive(rig, mode):
    drive = rig.drive("p4096")
    assert queue(drive.path, "write_cache") == "write back"
    with Align(drive.path, mode=mode) as device, Disk(device.path) as upper:
        drive.reset()
        for i in range(10):
            upper.write(i * 16 + 1, pattern(i, i, 3))
            upper.flush()
        assert drive.stats()["flushes"] == device.counter("flushes") == 10
        log = drive.log()
        # Each flush is served after the write before it.
        kinds = [request.op for request in log if request.op in "WF"]
        assert kinds == ["W", "F"] * 10


@pytest.mark.each_kernel
@pytest.mark.parametrize("mode", MODES)
def test_a_write_with_fua_is_on_the_medium_when_it_ends(rig, mode):
    """The emulator sends FUA to the drive as a write and a flush after it; each request of the write has its own."""
    drive = rig.drive("p4096")
    with Align(drive.path, mode=mode) as device, Disk(device.path) as upper:
        for number, (sector, sectors) in enumerate(SHAPES, 1):
            drive.reset()
            upper.write(sector, pattern(1, sector, sectors), flags=RWF_DSYNC)
            assert device.counter("fua") == number
            log = [request for request in drive.log() if request.op in "WF"]
            last_write = max(i for i, request in enumerate(log) if request.op == "W")
            assert any(request.op == "F" for request in log[last_write:]), f"no flush follows the write: {log}"


@pytest.mark.parametrize("mode", MODES)
def test_fua_stays_on_what_is_made_of_a_write(rig, mode):
    """On a disk that supports FUA each request with the write's data has FUA."""
    with rig.scsi_debug(sector_size=512, physblk_exp=3) as path:
        if queue(path, "fua") != "1":
            pytest.fail("this scsi_debug does not support FUA: the test proves nothing")
        with Align(path, mode=mode) as device, Disk(device.path) as upper:
            with Trace(path) as trace:
                upper.write(5, pattern(1, 5, 30), flags=RWF_DSYNC)
            carried = [request for request in trace.requests if request.op == "W" and request.sectors]
            assert carried and all(request.fua for request in carried), f"without FUA: {trace.requests}"


def test_no_write_ends_before_the_drive_has_ended_it(rig):
    drive = rig.drive("p4096")
    length = sectors_of(drive.path)
    with Device(f"0 {length} delay {drive.path} 0 0 {drive.path} 0 300") as slow, \
            Align(slow.path, mode="pad") as device, Disk(device.path) as upper:
        sent = [Later(upper.write, sector, pattern(1, sector, sectors)) for sector, sectors in SHAPES]
        for write in sent:
            write.result()
            assert write.ended - write.began >= 0.29


def test_a_flush_waits_for_no_write_that_is_not_acknowledged_but_follows_all_that_are(rig):
    drive = rig.drive("p4096")
    with Align(drive.path, mode="pad") as device, Disk(device.path) as upper:
        upper.write(3, pattern(1, 3, 2))
        drive.reset()
        upper.flush()
        assert [request.op for request in drive.log()] == ["F"]


@pytest.mark.each_kernel
def test_write_cache_on_advertises_one_where_the_drive_has_none(rig):
    with rig.brd() as path:
        assert queue(path, "write_cache") == "write through"
        with Align(path, mode="report") as device:
            assert queue(device.path, "write_cache") == "write through"
        for mode in MODES:
            with Align(path, mode=mode, write_cache="on") as device, Disk(device.path) as upper:
                assert queue(device.path, "write_cache") == "write back"
                upper.write(1, pattern(1, 1, 1))
                upper.flush()
                assert device.counter("flushes") == 1
                upper.write(9, pattern(2, 9, 1), flags=RWF_DSYNC)
                check(9, pattern(2, 9, 1), upper.read(9, 1), "through the target")


@pytest.mark.each_kernel
@pytest.mark.parametrize("mode", MODES)
def test_a_write_that_must_not_wait_ends_or_is_sent_back(rig, mode):
    """RWF_NOWAIT: the write is done, or fails with EAGAIN and writes nothing."""
    drive = rig.drive("p4096")
    again = 0
    with Align(drive.path, mode=mode) as device, Disk(device.path) as upper:
        for i in range(60):
            sector, sectors = 40 * i + i % 8, 1 + 5 * i % 23
            before, data = upper.read(sector, sectors), pattern(i, sector, sectors)
            try:
                upper.write(sector, data, flags=RWF_NOWAIT)
            except BlockingIOError:
                again += 1
                data = before
            check(sector, data, upper.read(sector, sectors), f"after write {i}")
        # The block layer may send a request back before the target sees it.
        assert device.counter("nowait_again") <= again
        if mode == "pad":
            assert device.counter("nowait_again") > 0, "partial writes need the engine, which waits"
        device.message("flush")
        device.balanced()


@pytest.mark.parametrize("mode", ["pad", *(only_all("pad sends more back", mode) for mode in ("report", "coalesce"))])
def test_io_uring_writes_and_verifies(rig, mode):
    """io_uring issues with NOWAIT first and again from a worker when sent back."""
    drive = rig.drive("p4096")
    with Align(drive.path, mode=mode) as device:
        run("fio", "--name=uring", f"--filename={device.path}", "--ioengine=io_uring", "--direct=1", "--rw=randwrite",
            "--bsrange=512-16k", "--blockalign=512", "--size=4m", "--io_size=4m", "--iodepth=16",
            "--verify=crc32c", "--verify_fatal=1", "--verify_state_save=0", "--do_verify=1",
            "--serialize_overlap=1", "--randrepeat=1",
            timeout=180)
        device.message("flush")
        device.balanced()
