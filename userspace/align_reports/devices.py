# SPDX-License-Identifier: GPL-2.0
"""Stacks of devices: whether two devices, or files on them, may overwrite each other."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

SYS = Path("/sys")
MOUNTINFO = Path("/proc/self/mountinfo")


def mounted_at(path: str, mountinfo: str) -> str | None:
    """Return the source of the mount that a path is in, by the text of /proc/PID/mountinfo; None: there is none."""
    real, found = os.path.realpath(path), None
    longest = -1
    for line in mountinfo.splitlines():
        words, _, rest = line.partition(" - ")
        place, source = (re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), word)
                         for word in (words.split(" ")[4], rest.split(" ")[1]))
        # of several at one place, the last one is on top
        if len(place) >= longest and (real == place or real.startswith(place.rstrip("/") + "/")):
            longest, found = len(place), source
    return found


def block_name(path: str, sys: Path = SYS) -> str | None:
    """Return the kernel's name of a block device, or of the one beneath a file; None if unknown."""
    found = os.stat(path)
    number = found.st_rdev if stat.S_ISBLK(found.st_mode) else found.st_dev
    folder = sys / "dev" / "block" / f"{os.major(number)}:{os.minor(number)}"
    if folder.exists():
        return folder.resolve().name
    # The number of a file on Btrfs is that of no device.
    source = None if stat.S_ISBLK(found.st_mode) else mounted_at(path, MOUNTINFO.read_text(errors="surrogateescape"))
    if not source or not source.startswith("/") or not os.path.exists(source) or not stat.S_ISBLK(os.stat(source).st_mode):
        return None
    return block_name(source, sys)


def beneath(name: str, sys: Path = SYS) -> list[str]:
    """Return the devices next beneath a device: the disk of a partition, members, or the device of a loop device's file."""
    folder = (sys / "class" / "block" / name).resolve()
    if (folder / "partition").exists():
        return [folder.parent.name]
    below = folder / "slaves"
    slaves = [entry.name for entry in below.iterdir()] if below.is_dir() else []
    backing = folder / "loop" / "backing_file"
    if not slaves and backing.exists() and Path(backing.read_text().strip()).exists():
        under = block_name(backing.read_text().strip(), sys)
        slaves = [under] if under else []
    return slaves


def layers(name: str, sys: Path = SYS) -> set[str]:
    """Return a device and all devices beneath it."""
    return {name}.union(*(layers(each, sys) for each in beneath(name, sys)))


def disks(name: str, sys: Path = SYS) -> set[tuple[str, str | None]]:
    """Return the disks beneath a device, through volumes and arrays; each with the partition."""
    lower = beneath(name, sys)
    if (sys / "class" / "block" / name / "partition").exists():
        return {(lower[0], name)}
    return set().union(*(disks(each, sys) for each in lower)) if lower else {(name, None)}


def common(one: str, other: str, sys: Path = SYS) -> list[str]:
    """Return the disks on which both block devices may overlap; two partitions of a disk do not."""
    return sorted({disk for disk, part in disks(one, sys) for same, its in disks(other, sys)
                   if disk == same and (part == its or None in (part, its))})


def overlapping(one: str, other: str) -> list[str]:
    """Return the disks on which two paths may overlap; none for two files."""
    first, second = block_name(one), block_name(other)
    if not first or not second or not any(stat.S_ISBLK(os.stat(path).st_mode) for path in (one, other)):
        return []
    return common(first, second)


def lies_on(path: str, device: str) -> bool:
    """Return whether a path is a device or lies on it, and not only on the same disk."""
    name = block_name(path)
    return name is not None and block_name(device) in layers(name)


def block_device(path: str) -> str | None:
    """Return the kernel's name of a block device; None for a file."""
    return block_name(path) if stat.S_ISBLK(os.stat(path).st_mode) else None


def requests(path: str) -> tuple[int, int] | None:
    """Return the kernel's counts of reads and writes that a device has completed; None for a file."""
    name = block_device(path)
    if name is None:
        return None
    fields = (SYS / "class" / "block" / name / "stat").read_text().split()
    return int(fields[0]), int(fields[4])
