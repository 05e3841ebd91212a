# SPDX-License-Identifier: GPL-2.0
"""
Write-zeroes of mkfs.ext4, fallocate -z and blkdiscard -z: their RMWs, by the drive's own count.

An edge block, which lies only partly on the device, is not padded and not counted here: of a partition at sector 63, the
first block.
"""

import os
import random

import pytest

from rig.direct import Disk, pattern
from rig.dm import Align, run
from rig.filesystem import fsck, mounted

START = 63
BLOCK = 8		# sectors of 4096 bytes
FILE_BLOCK = 4096
MKFS = ("mkfs.ext4", "-q", "-F", "-b", FILE_BLOCK, "-E", "lazy_itable_init=0,lazy_journal_init=0")


def partial_blocks(request):
    """Return the physical blocks that the drive had to complete for a request."""
    edges = (request.sector, request.sector + request.sectors)
    return {edge // BLOCK for edge in edges if edge % BLOCK} if request.touches else set()


def rmws(drive, start, end):
    """Return the requests of the drive's log with RMWs of blocks that lie wholly between two sectors."""
    shared = {edge // BLOCK for edge in (start, end) if edge % BLOCK}
    return [request for request in drive.log() if partial_blocks(request) - shared]


def zero_a_file(path):
    """Zero parts of a written file, and then write a few bytes into each of the zeroed parts."""
    data = bytearray(random.Random(1).randbytes(2 << 20))
    path.write_bytes(data)
    os.sync()
    for at in range(0, len(data), 1 << 17):
        length = 6 * FILE_BLOCK + at // FILE_BLOCK % 3 * 1000
        run("fallocate", "-z", "-o", at, "-l", length, path)
        data[at:at + length] = bytes(length)
    with open(path, "r+b", buffering=0) as file:
        # ext4 zeroes the rest of such a short extent on the disk, depending on its mount options.
        for at in range(2 * FILE_BLOCK, len(data), 1 << 17):
            data[at:at + 9] = b"something"
            os.pwrite(file.fileno(), b"something", at)
            os.fsync(file.fileno())
    return bytes(data)


@pytest.mark.parametrize("mode", ["report", "pad", "coalesce"])
@pytest.mark.timeout(300)
def test_a_file_system_and_a_file_that_are_zeroed_cost_rmws_in_report_only(rig, mode):
    drive, sectors = rig.drive("p4096"), 1 << 20
    with rig.partition(drive.path, START, sectors) as path, Align(path, mode=mode) as device:
        drive.reset()
        run(*MKFS, device.path)
        made = drive.stats()
        with mounted("ext4", device.path, options="nodioread_nolock") as folder:
            data = zero_a_file(folder / "file")
        found, stats, ledger = rmws(drive, START, START + sectors), drive.stats(), device.balanced()
        with mounted("ext4", device.path, read_only=True) as folder:
            assert (folder / "file").read_bytes() == data
        fsck("ext4", device.path)
    print(f"{mode}: {stats['rmws']} RMWs, {stats['zero_touches']} for {stats['zeroes']} zeroes; of these mkfs made "
          f"{made['rmws']}, {made['zero_touches']} for {made['zeroes']}")
    assert 0 < made["zeroes"] < stats["zeroes"], "no zeroes: the test proves nothing"
    if mode == "report":
        assert 0 < made["zero_touches"] < stats["zero_touches"] == ledger["rmw_expected_zeroes"]
        assert {request.op for request in found} == {"W", "D"}
    else:
        assert not found, f"{len(found)} requests cost RMWs, the first ones {found[:4]}"
        assert stats["touches"] == ledger["rmw_drive"] == ledger["rmw_drive_edge"]


@pytest.mark.check_all("test_zeroes.py: as many from sector 63 on, and where the middle is cut")
@pytest.mark.parametrize("start", [START, 64])
@pytest.mark.parametrize("mode", ["report", "pad"])
@pytest.mark.timeout(300)
def test_zeroes_over_nine_gigabytes_cost_rmws_in_report_only(rig, mode, start):
    """
    The kernel cuts the zeroes, at a length that is no multiple of the block; old content must be gone on both sides. At
    sector 63 they begin and end in edge blocks. QEMU cuts requests each 32 MiB from their begin: the drive must get both
    parts separately.
    """
    drive, sectors = rig.drive("huge"), 9 << 21
    last = sectors - BLOCK
    places = [0, *(cut + by for cut in (1 << 22, 1 << 23, 1 << 24) for by in (-BLOCK, -1, 0, BLOCK)), last]
    with rig.partition(drive.path, start, sectors) as path, Align(path, mode=mode) as device:
        with Disk(device.path) as disk:
            for place in places:
                disk.write(place, pattern(1, place, BLOCK))
            before = device.balanced()
            drive.reset()
            run("blkdiscard", "-z", device.path, timeout=240)
            found, stats, ledger = rmws(drive, start, start + sectors), drive.stats(), device.balanced()
            for place in places:
                assert not any(disk.read(place, BLOCK)), f"sector {place} is not zeroed"
    print(f"{mode} at sector {start}: {stats['rmws']} RMWs, {stats['zeroes']} zeroes, {stats['writes']} writes")
    assert ledger["write_zeroes"] > 1, "the zeroes were not cut: the test proves nothing"
    assert stats["write_bytes"] < stats["zero_bytes"] // 1000, "the zeroes were sent as data"
    if mode == "report":
        assert len(found) > 0 and stats["zero_touches"] > 0
    else:
        assert not found, f"{len(found)} requests cost RMWs, the first ones {found[:4]}"
        left = [ledger[name] - before[name] for name in ("rmw_drive", "rmw_drive_edge")]
        assert [stats["touches"], *left] == [2 if start == START else 0] * 3


@pytest.mark.parametrize("mode, touches", [("report", 2), ("pad", 0), ("coalesce", 0)])
def test_zeroes_of_a_block_and_a_sector_off_a_block_cost_two_rmws_in_report_only(rig, mode, touches):
    drive = rig.drive("p4096")
    with Align(drive.path, mode=mode) as device, Disk(device.path) as disk:
        before = pattern(1, 0, 3 * BLOCK)
        disk.write(0, before)
        drive.reset()
        run("blkdiscard", "-z", "-o", 512, "-l", 4608, device.path)
        disk.flush()
        stats, ledger = drive.stats(), device.balanced()
        assert disk.read(0, 3 * BLOCK) == before[:512] + bytes(4608) + before[5120:]
    assert (stats["rmws"], stats["touches"], stats["write_touches"]) == (touches, touches, 0)
    assert (ledger["rmw_expected"], ledger["rmw_expected_zeroes"], ledger["write_zeroes_misaligned"]) == (2, 2, 1)
    assert ledger["rmw_drive"] == touches and ledger["writes"] == 1, "the write before the zeroes"
