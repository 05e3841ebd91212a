# SPDX-License-Identifier: GPL-2.0
"""Memory of blocks that is wanted elsewhere: the kernel reclaims cached blocks, and all targets share a ceiling."""

import contextlib
import time
from pathlib import Path

import pytest

from rig.direct import Disk, check, pattern
from rig.dm import Align
from rig.witness import eventually

BLOCK = 8		# sectors, P = 4096
LONG = 60000		# a hold_ms longer than any test
KNOWN_S = 0.5		# a block stays known for so long
CACHES = Path("/proc/sys/vm/drop_caches")
CEILING = Path("/sys/module/dm_align/parameters/max_memory_bytes")


@contextlib.contextmanager
def ceiling(most):
    CEILING.write_text(str(most))
    try:
        yield
    finally:
        CEILING.write_text("0")


@pytest.mark.each_kernel
@pytest.mark.parametrize("mode", ["pad", "coalesce"])
def test_the_kernel_takes_back_what_is_only_known(rig, mode):
    """Held blocks stay, and reads afterwards return the written data."""
    drive = rig.drive("p4096")
    known, held = [4 * i * BLOCK + 3 for i in range(6)], 40 * BLOCK + 1
    content = {}

    with Align(drive.path, mode=mode, hold_ms=LONG) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        def write(sector):
            content[sector] = pattern(len(content), sector, 2)
            upper.write(sector, content[sector])

        def taken_back():
            """Return whether blocks went that had not been known for so long that they go by themselves."""
            upper.flush()
            device.message("flush")
            began = time.monotonic()
            for sector in known:
                write(sector)
            upper.flush()
            write(held)
            before = device.counter("target0_blocks")
            CACHES.write_text("2")
            after = device.counter("target0_blocks")
            if time.monotonic() - began >= KNOWN_S:
                return False
            assert before == len(known) + 1
            # In mode pad the last block is cached, too.
            assert after == device.counter("held_blocks") == (mode == "coalesce")
            return True

        eventually(taken_back, f"{len(known)} writes and their reclaim never take less than {KNOWN_S} s")
        for sector, data in content.items():
            check(sector, data, upper.read(sector, 2), "upper")
        upper.flush()
        for sector, data in content.items():
            check(sector, data, lower.read(sector, 2), "beneath")
        device.balanced()


def test_all_targets_keep_to_one_ceiling(rig):
    """Two targets have no more blocks together than the ceiling allows, and each has its own part. Without it they have more."""
    drive = rig.drive("p4096")
    most, number, half = 32, 48, 1024 * BLOCK
    cost = 4096 + 512

    def load(devices, disks, first):
        """Write to both in turn; return the most blocks that they had together."""
        seen = 0
        for i in range(first, first + number):
            for disk in disks:
                sector = 2 * i * BLOCK + 1
                disk.write(sector, pattern(i, sector, 3))
                seen = max(seen, sum(device.counter("target0_blocks") for device in devices))
        return seen

    with Align(drive.path, length=half, mode="coalesce", hold_ms=LONG) as a, \
            Align(drive.path, start=half, length=half, mode="coalesce", hold_ms=LONG) as b, \
            Disk(a.path) as upper_a, Disk(b.path) as upper_b, Disk(drive.path) as lower:
        devices, disks = (a, b), (upper_a, upper_b)
        with ceiling(most * cost):
            assert most // 2 < load(devices, disks, 0) <= most
            for disk, device in zip(disks, devices, strict=True):
                disk.flush()
                device.balanced()
        assert load(devices, disks, number) > most, "without a ceiling there are no more blocks"
        for disk in disks:
            disk.flush()
        for i in range(number):
            sector = 2 * i * BLOCK + 1
            for disk, start in ((upper_a, 0), (upper_b, half)):
                check(sector, pattern(i, sector, 3), disk.read(sector, 3), "upper")
                check(start + sector, pattern(i, sector, 3), lower.read(start + sector, 3), "beneath")
