# SPDX-License-Identifier: GPL-2.0
"""Holds writes on three disks, of which one can be written, one fails and one is stuck, and switches the kernel off.

    uml_reboot.py MODULE DISK [COUNTS FOLDER]

DISK is the one that can be written. It runs as root in User Mode Linux. The target's part of the end takes half a
minute, in which it waits for the stuck disk. What gcov has counted until then lies in the folder COUNTS, and goes to
FOLDER before the kernel has ended.
"""

import contextlib
import ctypes
import json
import os
import shutil
import sys
import threading
import time
from pathlib import Path

from rig import control
from rig.direct import Disk, pattern
from rig.dm import Align, Device, run, sectors_of
from rig.lab import Lab
from rig.memdisk import memory_disk

PLACES = [(81, 2), (803, 1), (88, 1)]
POWER_OFF = 0x4321FEDC
# What a disk takes for its last request; the kernel is there as long as that.
DISK_SECONDS = 20


def rescue(log, counts, folder):
    """Copies the counts when the target has given up the stuck disk, and is done."""
    os.set_blocking(log, True)
    while b"held blocks are not written at the end: error -110" not in os.read(log, 8192):
        pass
    time.sleep(1)
    for found in Path(counts).glob("*.gcda"):
        shutil.copyfile(found, Path(folder, found.name))
    Path(folder, "rescued").touch()


def slow_to_end(path):
    """Makes the kernel wait at its end for a flush of the disk of scsi_debug at `path`."""
    Path("/sys/bus/pseudo/drivers/scsi_debug/delay").write_text("1")
    with Disk(path) as slow:
        slow.write(0, pattern(1, 0, 8))
    # Jiffies of 10 ms, and a flush takes a twentieth.
    Path("/sys/bus/pseudo/drivers/scsi_debug/delay").write_text(str(20 * 100 * DISK_SECONDS))


def main(module, path, counts=None, folder=None):
    lab = Lab(None, None, module)
    lab.load_module()
    run("mount", "-t", "configfs", "configfs", "/sys/kernel/config", ok=False)
    Path("/dev/mapper").mkdir(exist_ok=True)
    # None of it is ever left: the kernel ends first.
    there = contextlib.ExitStack().enter_context
    error = there(Device(f"0 {sectors_of(path)} error"))
    good = there(memory_disk())
    stuck = there(Device(f"0 {sectors_of(good.path)} linear {good.path} 0"))
    failing = there(Device(f"0 {sectors_of(path)} delay {good.path} 0 0 {error.path} 0 0"))
    held = []
    for below in (path, failing.path, stuck.path):
        device = there(Align(below, mode="coalesce", hold_ms=600000, physical_block_size=4096, alignment_offset=0))
        with Disk(device.path) as upper:
            for tag, (sector, sectors) in enumerate(PLACES, 1):
                upper.write(sector, pattern(tag, sector, sectors))
        held.append(device.ledger()["touches_held"])
    stuck.suspend(control.SKIP_LOCKFS_FLAG | control.NOFLUSH_FLAG)
    log = os.open("/dev/kmsg", os.O_RDONLY)
    os.lseek(log, 0, os.SEEK_END)
    if counts:
        slow_to_end(there(lab.scsi_debug()))
        threading.Thread(target=rescue, args=(log, counts, folder)).start()
    print(json.dumps(held), flush=True)
    ctypes.CDLL(None).reboot(POWER_OFF)


if __name__ == "__main__":
    main(*sys.argv[1:])
