# SPDX-License-Identifier: GPL-2.0
"""Devices on different disks are independent: none waits for the other's disk."""

import contextlib
from pathlib import Path

from rig.direct import Disk, Later, pattern
from rig.dm import Align, block_name, run

GEOMETRY = {"physical_block_size": 4096, "alignment_offset": 0}
LONG = 60000
# Steps that sleep below; each leaves freed memory.
SLEEPERS = 12
ROUNDS = 60
BATCH = 12		# blocks that one flush empties, far enough apart to be read one by one


class SleepyArray:
    """An array of one disk whose submitters of writes sleep between stop() and flow(); reads pass."""

    def __init__(self, disk):
        self._disk = disk
        self.path = "/dev/md100"

    def __enter__(self):
        run("modprobe", "raid1")
        run("mdadm", "--build", self.path, "--force", "--run", "--level=1", "--raid-devices=1", self._disk)
        self._folder = Path("/sys/block", block_name(self.path), "md")
        return self

    def __exit__(self, *_):
        self.flow()
        run("mdadm", "--stop", self.path)

    def stop(self):
        (self._folder / "suspend_lo").write_text("0")
        (self._folder / "suspend_hi").write_text("1000000000")

    def flow(self):
        (self._folder / "suspend_hi").write_text("0")


def test_a_device_does_not_wait_while_another_ones_disk_keeps_its_submitters_asleep(rig):
    """
    Each step of the one device that sleeps in submitting a write has freed the memory of the read before, and the other
    device gets that memory for its own reads.
    """
    other = rig.drive("p4096")
    with rig.brd() as disk, SleepyArray(disk) as array, contextlib.ExitStack() as stack:
        sleepy = stack.enter_context(Align(array.path, mode="coalesce", hold_ms=LONG, **GEOMETRY))
        device = stack.enter_context(Align(other.path, mode="coalesce", hold_ms=LONG))
        slow, upper = stack.enter_context(Disk(sleepy.path)), stack.enter_context(Disk(device.path))
        stack.callback(array.flow)
        for number in range(SLEEPERS):
            slow.write(80 * number + 1, pattern(1, 80 * number + 1, 1))
        array.stop()
        sleeping = Later(slow.flush)
        for number in range(ROUNDS):
            for block in range(BATCH):
                sector = 80 * (number * BATCH + block) + 1
                upper.write(sector, pattern(number, sector, 1))
            Later(upper.flush).wait(30).result()
        assert not sleeping.done(), "no step slept: the test proves nothing"
        array.flow()
        sleeping.result()
        sleepy.balanced()
        device.balanced()
