# SPDX-License-Identifier: GPL-2.0
"""A write's hint about the lifetime of its data is on all requests made of the write."""

import contextlib
import fcntl
import struct
from pathlib import Path

import pytest

from rig.bad_blocks import BLOCK, faulty
from rig.direct import Disk, pattern
from rig.dm import Align

GEOMETRY = {"physical_block_size": 4096, "alignment_offset": 0}
F_SET_RW_HINT = 1036
HINTS = [2, 4]		# enum rw_hint: short, long; no hint is 0
GROUPS = Path("/sys/bus/pseudo/drivers/scsi_debug/group_number_stats")


def hinted(path, hint):
    """Make a device whose writes have a lifetime hint."""
    disk = Disk(path)
    fcntl.fcntl(disk.fd, F_SET_RW_HINT, struct.pack("Q", hint))
    return disk


@contextlib.contextmanager
def groups():
    """Return the hints of the requests at scsi_debug's disk: {group: writes}."""
    GROUPS.write_text("\n")
    seen = {}
    yield seen
    for line in GROUPS.read_text().splitlines():
        group, count = map(int, line.split())
        if count:
            seen[group] = count


@pytest.mark.parametrize("hint", HINTS)
@pytest.mark.parametrize("mode", ["report", "pad", "coalesce"])
def test_a_write_hint_reaches_the_drive_with_all_that_is_made_of_a_write(rig, mode, hint):
    """Padded blocks, remainders, and held blocks have the hint of their own write."""
    with rig.scsi_debug(physblk_exp=3) as path, Align(path, mode=mode) as device, hinted(device.path, hint) as upper:
        with groups() as seen:
            upper.write(3, pattern(1, 3, 2))			# inside a block
            upper.write(27, pattern(2, 27, 42))			# both ends, and blocks between
            upper.write(805, pattern(3, 805, 3))		# an end, which the next write completes
            upper.write(800, pattern(4, 800, 5))
            upper.write(1603, pattern(5, 1603, 5))		# a block that the next write completes and goes on from
            upper.write(1600, pattern(6, 1600, 3))
            upper.write(2403, pattern(7, 2403, 1))
            upper.write(2404, pattern(8, 2404, 36))
            upper.flush()
        if mode == "coalesce":
            assert device.counter("touches_held") > 0, "no touch was held: the test proves less"
        assert list(seen) == [hint], f"writes by hint: {seen}"


@pytest.mark.parametrize("mode", ["pad", "coalesce"])
def test_a_write_hint_reaches_the_drive_where_a_block_cannot_be_read(rig, mode):
    with rig.scsi_debug(physblk_exp=3) as disk, faulty(disk, bad_reads=[2]) as (path, _), \
            Align(path, mode=mode, write_cache="on", **GEOMETRY) as device, hinted(device.path, HINTS[0]) as upper:
        with groups() as seen:
            upper.write(2 * BLOCK + 3, pattern(1, 2 * BLOCK + 3, 2))
            upper.flush()
        assert device.counter("rmw_drive_read_error") == 1, "the block was read: the test proves nothing"
        assert list(seen) == [HINTS[0]], f"writes by hint: {seen}"


def test_neighbours_with_different_hints_go_without_one(rig):
    """The block layer does not merge requests with different hints, either."""
    with rig.scsi_debug(physblk_exp=3) as path, Align(path, mode="coalesce", hold_ms=60000) as device:
        for block, hint in enumerate(HINTS):
            with hinted(device.path, hint) as upper:
                upper.write(block * BLOCK + 1, pattern(block, block * BLOCK + 1, 2))
        with groups() as seen, Disk(device.path) as upper:
            upper.flush()
        assert device.counter("pad_writes") == len(HINTS)
        assert list(seen) == [0], f"writes by hint: {seen}"
