# SPDX-License-Identifier: GPL-2.0
"""Hold writes on four disks, of which one works, one fails and two are stuck, and power off the kernel.

    python3 -m rig.uml_reboot MODULE DISK [COUNTS FOLDER]

DISK is the working disk. The program runs as root in User Mode Linux. The target's part of the end takes half a minute, in
which it waits for the stuck disks; afterwards the disks work again. Each line of the output is a JSON object: the number of
held touches, the time until DISK had them and until a device that holds nothing was removed, the number that reached a stuck
disk too late, and the fate of requests over blocks that are held there for ever. gcov's counts up to the target's end are
in the folder COUNTS, and are copied to FOLDER before the kernel ends.
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

from . import control
from .direct import Disk, Later, pattern
from .dm import Align, Device, run, sectors_of
from .memdisk import memory_disk
from .rig import Rig

PLACES = [(81, 2), (803, 1), (88, 1)]
# No neighbours, and more than the target empties at a time.
MANY = [(16 * number + 3, 1) for number in range(60)]
POWER_OFF = 0x4321FEDC
# Time of a disk's last request, for which the kernel's end waits.
DISK_SECONDS = 16
# Time that requests behind the deadline have within it.
LATE_SECONDS = 9


def tell(**what):
    print(json.dumps(what), flush=True)


def content(number, place):
    return pattern(number, *place)


def written(path, places):
    """Count the places whose held content is on the disk at `path`."""
    with Disk(path, os.O_RDONLY) as disk:
        return sum(disk.read(*place) == content(number, place) for number, place in enumerate(places, 1))


def watch(path, other):
    """Report the time until another device is removed, and until the working disk has its held content."""
    began = time.monotonic()
    other.remove()
    tell(seconds_to_removed=time.monotonic() - began)
    while written(path, PLACES) < len(PLACES):
        time.sleep(0.1)
    tell(seconds_to_written=time.monotonic() - began)


def over_held(device, below):
    """
    Write a block, discard one and write a part of one that are held on `device` and not on the disk at `below`. Return for
    each request whether it ended, and whether the device and the disk have its content; and how many blocks they settled.
    """
    with Disk(below, os.O_RDONLY) as disk:
        held = [place[0] - place[0] % 8 for number, place in enumerate(MANY, 1)
                if disk.read(*place) != content(number, place)][-3:]
    upper, lower = Disk(device.path), Disk(below, os.O_RDONLY)
    calls = {"write": (upper.write, held[0], pattern(91, held[0], 8)), "discard": (upper.discard, held[1], 8),
             "part": (upper.write, held[2] + 5, pattern(92, held[2] + 5, 2))}
    limit, before = time.monotonic() + LATE_SECONDS, device.counter("held_blocks")
    later = {name: Later(*call) for name, call in calls.items()}
    while not all(call.done() for call in later.values()) and time.monotonic() < limit:
        time.sleep(0.05)
    said = {name: {"ended": call.done()} for name, call in later.items()}
    for name, (_, sector, what) in calls.items():
        if said[name]["ended"] and isinstance(what, bytes):
            later[name].result()
            sectors = len(what) // 512
            said[name]["there"] = [disk.read(sector, sectors) == what for disk in (upper, lower)]
    return {**said, "settled": before - device.counter("held_blocks")}


def rescue(log, counts, folder, stuck, many, disk):
    """
    Wait until the target has given up the stuck disks, copy the counts, and let the disks work again, so that the writes in
    flight end. `many` is the device that holds most, `disk` the disk below it.
    """
    os.set_blocking(log, True)
    while b"held blocks were not written before the reboot: error -110" not in os.read(log, 8192):
        pass
    time.sleep(1)
    if counts:
        for found in Path(counts).glob("*.gcda"):
            shutil.copyfile(found, Path(folder, found.name))
        Path(folder, "rescued").touch()
    for device in stuck:
        device.resume()
    time.sleep(2)
    tell(written_too_late=written(disk, MANY))
    tell(over_held=over_held(many, disk))


def slow_to_end(path):
    """Delay the kernel's end by a flush of the disk of scsi_debug at `path`."""
    Path("/sys/bus/pseudo/drivers/scsi_debug/delay").write_text("1")
    with Disk(path) as slow:
        slow.write(0, pattern(1, 0, 8))
    # A flush takes a twentieth of so many seconds.
    Path("/sys/bus/pseudo/drivers/scsi_debug/delay").write_text(str(20 * DISK_SECONDS))


def main(module, path, counts=None, folder=None):
    rig = Rig(None, None, module)
    rig.load_module()
    run("mount", "-t", "configfs", "configfs", "/sys/kernel/config", ok=False)
    Path("/dev/mapper").mkdir(exist_ok=True)
    # The devices are never removed: the kernel ends first.
    there = contextlib.ExitStack().enter_context
    error = there(Device(f"0 {sectors_of(path)} error"))
    memory = [there(memory_disk()).path for _ in range(2)]
    stuck = [there(Device(f"0 {sectors_of(below)} linear {below} 0")) for below in memory]
    failing = there(Device(f"0 {sectors_of(path)} delay {memory[0]} 0 0 {error.path} 0 0"))
    held, devices = [], []
    other = there(Align(memory[0]))
    # The disks that block a reboot come before the disk that must not wait.
    for below, places in ((stuck[0].path, PLACES), (stuck[1].path, MANY), (path, PLACES), (failing.path, PLACES)):
        device = there(Align(below, mode="coalesce", hold_ms=600000, physical_block_size=4096, alignment_offset=0))
        devices.append(device)
        with Disk(device.path) as upper:
            for number, place in enumerate(places, 1):
                upper.write(place[0], content(number, place))
        held.append(device.ledger()["touches_held"])
    for device in stuck:
        device.suspend(control.SKIP_LOCKFS_FLAG | control.NOFLUSH_FLAG)
    log = os.open("/dev/kmsg", os.O_RDONLY)
    os.lseek(log, 0, os.SEEK_END)
    slow_to_end(there(rig.scsi_debug()))
    tell(held=held)
    threading.Thread(target=rescue, args=(log, counts, folder, stuck, devices[1], memory[1])).start()
    threading.Thread(target=watch, args=(path, other)).start()
    ctypes.CDLL(None).reboot(POWER_OFF)


if __name__ == "__main__":
    main(*sys.argv[1:])
