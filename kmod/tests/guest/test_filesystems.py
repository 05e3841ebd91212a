# SPDX-License-Identifier: GPL-2.0
"""File systems made, filled, checked and mounted again on top of the target."""

import hashlib
import os
import random
from pathlib import Path

import pytest

from lab.plugins.extent import only_all
from rig.dm import Align
from rig.filesystem import frozen, fsck, make, mounted


def fill(folder, choose, files):
    """Make files of many sizes, some synced, some rewritten in their middle; return {name: digest}."""
    digests = {}
    for i in range(files):
        path = folder / f"d{i % 7}" / f"f{i}"
        path.parent.mkdir(exist_ok=True)
        data = bytearray(choose.randbytes(choose.choice([100, 512, 3000, 4096, 9000, 70000])))
        with open(path, "wb") as file:
            file.write(data)
            if i % 5 == 0:
                at = choose.randrange(len(data))
                data[at:at + 10] = b"0123456789"
                file.seek(at)
                file.write(b"0123456789")
            if i % 3 == 0:
                file.flush()
                os.fsync(file.fileno())
        digests[path.relative_to(folder)] = hashlib.sha256(data).hexdigest()
    return digests


def compare(folder, digests):
    for name, digest in digests.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, f"{name} has changed"


@pytest.mark.parametrize("kind", ["ext4", only_all("test_stacks.py: XFS on this drive, and in LUKS", "xfs")])
def test_a_file_system_lives_on_the_target(rig, kind):
    """
    On a partition at sector 63 of a drive that claims 512-byte blocks, where every block of the file system straddles
    two of the drive's. Made and filled in pad, changed to report and to linear and back while mounted.
    """
    choose = random.Random(kind)
    drive = rig.drive("claims512")
    options = {"physical_block_size": 4096}
    with rig.partition(drive.path, 63, 1 << 20) as path, \
            Align(path, length=(1 << 20) - 8, mode="pad", **options) as device:
        drive.reset()
        make(kind, device.path)
        with mounted(kind, device.path) as folder:
            digests = fill(folder, choose, 30)
            with frozen(folder):
                ledger = device.balanced()
                # The shifted partition starts inside a block, where the first superblock lies: an edge.
                assert drive.stats()["touches"] == ledger["rmw_drive"] == ledger["rmw_drive_edge"]
            assert ledger["rmw_drive_edge"] > 0 and ledger["rmw_host"] > 0
            device.set_mode("report")
            digests |= {Path("more") / name: digest
                        for name, digest in fill_in(folder / "more", choose, 10).items()}
            device.reload(device.linear())
            digests |= {Path("still") / name: digest
                        for name, digest in fill_in(folder / "still", choose, 10).items()}
            device.reload(device.line(mode="pad", **options))
            digests |= {Path("again") / name: digest
                        for name, digest in fill_in(folder / "again", choose, 10).items()}
            compare(folder, digests)
        fsck(kind, device.path)
        with mounted(kind, device.path, read_only=True) as folder:
            compare(folder, digests)
        device.balanced()
        device.reload(device.linear())
        with mounted(kind, device.path, read_only=True) as folder:
            compare(folder, digests)


def fill_in(folder, choose, files):
    folder.mkdir()
    return fill(folder, choose, files)
