# SPDX-License-Identifier: GPL-2.0
"""Held blocks go down on no cgroup's account: no fsync waits in the queue of a cgroup that is throttled."""

import subprocess
import sys
from pathlib import Path

import pytest

from lab.pace import patience
from rig.direct import Disk, Later, check, pattern
from rig.dm import Align, number_of, run
from rig.witness import eventually

CGROUPS = Path("/sys/fs/cgroup")
LONG = 600000
BLOCKS = 8
# Run in the cgroup: writes halves of blocks, each of which a second write completes.
WRITER = """
import mmap, os, sys
folder, path, blocks = sys.argv[1], sys.argv[2], int(sys.argv[3])
open(folder + "/cgroup.procs", "w").write(str(os.getpid()))
fd = os.open(path, os.O_RDWR | os.O_DIRECT)
page = mmap.mmap(-1, 16384)
for block in range(blocks):
    page[:] = bytes([block + 1]) * len(page)
    for start, length in ((0, 2048), (2048, int(sys.argv[4]))):
        os.pwritev(fd, [memoryview(page)[:length]], block * 65536 + start)
"""
# Run in the cgroup: writes a half of a block, and then, when told, all of it.
OVERWRITER = """
import mmap, os, sys
folder, path = sys.argv[1:]
fd = os.open(path, os.O_RDWR | os.O_DIRECT)
page = mmap.mmap(-1, 4096)
page[:] = b"\\1" * len(page)
os.pwritev(fd, [memoryview(page)[:2048]], 0)
open(folder + "/cgroup.procs", "w").write(str(os.getpid()))
print("held", flush=True)
page[:] = b"\\2" * len(page)
os.pwritev(fd, [page], 0)
"""


@pytest.fixture
def throttled():
    """Return a function that makes a cgroup whose writes to a disk are as good as stopped."""
    if not (CGROUPS / "cgroup.controllers").exists():
        run("mount", "-t", "cgroup2", "cgroup2", CGROUPS)
    (CGROUPS / "cgroup.subtree_control").write_text("+io")
    folder = CGROUPS / "throttled"
    folder.mkdir()

    def limit(path):
        if not (folder / "io.max").exists():
            pytest.skip("this kernel has no CONFIG_BLK_DEV_THROTTLING")
        (folder / "io.max").write_text(f"{number_of(path)} wbps=2 wiops=2")
        return folder
    yield limit
    eventually(lambda: not (folder / "cgroup.procs").read_text(), "the cgroup is not empty")
    folder.rmdir()
    (CGROUPS / "cgroup.subtree_control").write_text("-io")


@pytest.mark.parametrize("second", [2048, 2048 + 8192], ids=["block", "block-and-more"])
def test_an_fsync_does_not_wait_in_the_queue_of_a_throttled_cgroup(rig, throttled, second):
    """At two bytes a second, a block of the cgroup would take half an hour."""
    drive = rig.drive("p4096")
    with Align(drive.path, mode="coalesce", hold_ms=LONG) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        folder = throttled(drive.path)
        subprocess.run([sys.executable, "-c", WRITER, str(folder), device.path, str(BLOCKS), str(second)],
                       check=True, timeout=patience(60))
        upper.write(801, pattern(1, 801, 2))
        Later(upper.flush).wait(patience(60)).result()
        for block in range(BLOCKS):
            assert lower.read(block * 128, (2048 + second) // 512) == bytes([block + 1]) * (2048 + second)
        check(801, pattern(1, 801, 2), lower.read(801, 2), "beneath the target")
        device.balanced()


def test_an_fsync_does_not_wait_for_a_write_of_a_throttled_cgroup_over_what_is_held(rig, throttled):
    """The held block is written first, so that the fsync does not wait for the write, which takes half an hour."""
    drive = rig.drive("p4096")
    with Align(drive.path, mode="coalesce", hold_ms=LONG) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        folder = throttled(drive.path)
        writer = subprocess.Popen([sys.executable, "-c", OVERWRITER, str(folder), device.path], stdout=subprocess.PIPE)
        try:
            assert writer.stdout.readline() == b"held\n"
            # The writer's write has come when the held block is written for it: nothing else has that written.
            eventually(lambda: not device.counter("held_blocks"), "the write has not come", patience(60))
            Later(upper.flush).wait(patience(60)).result()
            assert lower.read(0, 4) == b"\1" * 2048 and writer.poll() is None
            assert device.counter("rmw_avoided_superseded") == 0
            (folder / "io.max").write_text(f"{number_of(drive.path)} wbps=max wiops=max")
            assert writer.wait(patience(60)) == 0
        finally:
            writer.kill()
            writer.wait()
        upper.flush()
        assert lower.read(0, 8) == b"\2" * 4096
        device.balanced()
