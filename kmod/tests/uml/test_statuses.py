# SPDX-License-Identifier: GPL-2.0
"""
The drive's status of a failed request (by the block layer's error injection, which Linux 7.2 has) reaches the writer or
reader, in the fixing modes as in report; a status of the engine's own requests does not.
"""

import errno

import pytest

from rig.direct import SECTOR, Disk, check, flush_fails, pattern
from rig.dm import Align
from rig.faults import statuses

pytestmark = pytest.mark.uml_7_2

GEOMETRY = {"physical_block_size": 4096, "alignment_offset": 0}
# As in blk_errors[] of block/blk-core.c, without AGAIN, which is only for requests that must not wait.
STATUSES = {
    "NOTSUPP": errno.EOPNOTSUPP, "TIMEOUT": errno.ETIMEDOUT, "NOSPC": errno.ENOSPC, "TRANSPORT": errno.ENOLINK,
    "TARGET": errno.EREMOTEIO, "RESV_CONFLICT": errno.EBADE, "MEDIUM": errno.ENODATA, "PROTECTION": errno.EILSEQ,
    "RESOURCE": errno.ENOMEM, "DEV_RESOURCE": errno.EBUSY, "OFFLINE": errno.ENODEV,
    "ZONE_OPEN_RESOURCE": errno.ETOOMANYREFS, "ZONE_ACTIVE_RESOURCE": errno.EOVERFLOW, "DURATION_LIMIT": errno.ETIME,
    "INVAL": errno.EINVAL, "IOERR": errno.EIO,
}


def error_of(call, *arguments):
    """Return the error number of a call, or 0."""
    try:
        call(*arguments)
    except OSError as error:
        return error.errno
    return 0


@pytest.mark.parametrize("mode", ["report", "pad"])
@pytest.mark.parametrize("sector, sectors", [(82, 3), (80, 8), (77, 14), (75, 64)],
                         ids=["inside a block", "a block", "over three", "over many"])
def test_a_writer_hears_what_the_drive_said(rig, disk, mode, sector, sectors):
    """However the write is split; and neighbouring writes succeed."""
    with Align(disk.path, mode=mode, **GEOMETRY) as device, Disk(device.path) as upper, statuses(disk.path) as injected:
        for tag, (status, number) in enumerate(STATUSES.items(), 1):
            injected("WRITE", status, 83, 1)
            assert error_of(upper.write, sector, pattern(tag, sector, sectors)) == number, status
            assert error_of(upper.write, 65, pattern(tag, 65, 2)) == 0, status
            injected()
            assert error_of(upper.write, sector, pattern(tag, sector, sectors)) == 0, f"{status}, then without a rule"
            check(sector, pattern(tag, sector, sectors), upper.read(sector, sectors), status)
        device.balanced()


@pytest.mark.parametrize("mode", ["report", "pad", "coalesce"])
def test_a_reader_hears_what_the_drive_said(rig, disk, mode):
    """In coalesce also if a part of the read is held and comes from memory."""
    with Align(disk.path, mode=mode, **GEOMETRY) as device, Disk(device.path) as upper, statuses(disk.path) as injected:
        for tag, (status, number) in enumerate(STATUSES.items(), 1):
            upper.write(82, pattern(tag, 82, 3))
            injected("READ", status, 87, 1)
            assert error_of(upper.read, 80, 16) == number, status
            injected()
            check(82, pattern(tag, 82, 3), upper.read(82, 3), status)


def test_no_writer_hears_that_the_rest_of_its_block_cannot_be_read(rig, disk):
    with Align(disk.path, mode="pad", **GEOMETRY) as device, Disk(device.path) as upper, statuses(disk.path) as injected:
        for tag, status in enumerate(STATUSES, 1):
            injected("READ", status, 80, 8)
            assert error_of(upper.write, 82, pattern(tag, 82, 3)) == 0, status
            assert device.balanced()["rmw_drive_read_error"] == tag, status
            injected()
            check(82, pattern(tag, 82, 3), upper.read(82, 3), status)


@pytest.mark.parametrize("status", STATUSES)
def test_what_is_held_outlasts_every_status(rig, disk, status):
    """The target cannot know which errors are temporary: it keeps acknowledged content, with any status."""
    with Align(disk.path, mode="coalesce", hold_ms=60000, **GEOMETRY) as device, Disk(device.path) as upper, \
            Disk(disk.path) as lower, statuses(disk.path) as injected:
        upper.write(82, pattern(1, 82, 3))
        assert device.counter("touches_held") == 1, "no touch is held: the test proves nothing"
        injected("WRITE", status, 80, 8)
        assert flush_fails(upper) and device.balanced(pending=1)["degraded"] == 1
        check(82, pattern(1, 82, 3), upper.read(82, 3), "while the block cannot be written")
        injected()
        assert not flush_fails(upper) and device.balanced()["degraded"] == 0
        check(82, pattern(1, 82, 3), lower.read(82, 3), "beneath the target")


@pytest.mark.parametrize("mode", ["report", "pad", "coalesce"])
@pytest.mark.parametrize("sector, sectors", [(80, 32), (83, 40), (83, 2)], ids=["blocks", "with both ends", "inside a block"])
def test_zeroes_that_a_drive_refuses_are_written_instead(rig, mode, sector, sectors):
    """The kernel's own fallback for a device without write-zeroes must still work."""
    with rig.scsi_debug(physblk_exp=3, lbpu=1, lbpws=1) as path, Align(path, mode=mode) as device, \
            Disk(device.path) as upper, Disk(path) as lower, statuses(path) as injected:
        upper.write(64, pattern(1, 64, 96))
        injected("WRITE_ZEROES", "NOTSUPP", 0, lower.sectors)
        assert error_of(upper.zero, sector, sectors) == 0
        upper.flush()
        want = bytearray(pattern(1, 64, 96))
        want[(sector - 64) * SECTOR:(sector - 64 + sectors) * SECTOR] = bytes(sectors * SECTOR)
        check(64, bytes(want), upper.read(64, 96), "through the target")
        check(64, bytes(want), lower.read(64, 96), "beneath it")
        device.balanced()


def test_the_kernel_says_which_it_injects(rig, disk):
    """If a rule had no effect, the tests above would prove nothing."""
    with statuses(disk.path) as injected, Disk(disk.path) as lower:
        for status, number in STATUSES.items():
            injected("READ", status, 8, 8)
            assert error_of(lower.read, 8, 8) == number and error_of(lower.read, 16, 8) == 0, status
            injected()
