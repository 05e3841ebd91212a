# SPDX-License-Identifier: GPL-2.0
"""What a method has found of a disk for sure, its blocks or its rotation, kept for alignctl: sysfs/probed.c reads it."""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from .area import sync_folder
from .statistics import Estimate

FORMAT = 1
FOLDER = "var/lib/alignctl/probed"
# The largest block that dm-align knows.
LARGEST = 1048576
# Within FOLDER.
ROTATION = "rotation"


class NotKept(Exception):
    """The blocks are not kept; the text is the reason."""


class Disk(NamedTuple):
    """
    name     what a disk calls itself on each machine and in each slot
    size     bytes
    start    first byte of the device, which may be a partition
    """

    name: str
    size: int
    start: int


def root() -> Path:
    """Return the root folder of sysfs and of what is kept, which the tests make up."""
    return Path(os.environ.get("ALIGNCTL_SYSROOT") or "/")


def _text(path: Path) -> str:
    """Return the text of a file of sysfs; empty if there is none."""
    try:
        return path.read_text().rstrip(" \n\t")
    except OSError:
        return ""


def _usb_serial(folder: Path) -> str:
    """Return the serial number of the USB device that a disk is in; empty if there is none."""
    for above in folder.parents:
        # Above it lies a hub, whose number is another one.
        if _text(above / "idVendor"):
            return _text(above / "serial")
    return ""


def disk_of(devno: int) -> Disk:
    """Return the disk that a block device is or lies on. Raises NotKept if the disk has no name of its own."""
    folder = Path(os.path.realpath(root() / "sys/dev/block" / f"{os.major(devno)}:{os.minor(devno)}"))
    start = 0
    if (folder / "partition").exists():
        start = int(_text(folder / "start")) * 512
        folder = folder.parent
    name = next(filter(None, (_text(folder / file) for file in ("wwid", "device/wwid"))), "")
    if not name:
        serial = next(filter(None, (_text(folder / file) for file in ("serial", "device/serial"))), "") or _usb_serial(folder)
        name = serial and f"serial-{serial}"
    if not name:
        raise NotKept("the disk has neither a wwid nor a serial number by which it would be known again")
    return Disk(name, int(_text(folder / "size")) * 512, start)


def keep(device: str, size: int, offset: int, method: str, confidence: float) -> Path:
    """Keep the blocks of a device; return the file, which is complete at any time. Raises NotKept.

    size, offset: byte x of the device is a boundary if (x - offset) is a multiple of `size`
    """
    if size > LARGEST:
        raise NotKept(f"dm-align has blocks of at most {LARGEST} bytes")
    return _keep(device, "", lambda disk: {"block_size": size, "offset": (disk.start + offset) % size, "method": method,
                                           "confidence": confidence})


def keep_rotation(device: str, rpm: Estimate, method: str) -> Path:
    """Keep how fast the disk of a device rotates, in revolutions a minute; return the file, likewise. Raises NotKept."""
    return _keep(device, ROTATION, lambda disk: {
        "rpm": round(rpm.value), "rpm_least": math.floor(rpm.low), "rpm_most": math.ceil(rpm.high), "method": method})


def _keep(device: str, folder: str, figures: Callable[[Disk], dict[str, Any]]) -> Path:
    """Keep figures of a device's disk in a folder below FOLDER."""
    try:
        devno = os.stat(device).st_rdev
    except OSError as error:
        # A disk that was unplugged behind the last request has been measured all the same.
        raise NotKept(f"{device}: {error.strerror}") from error
    if not devno:
        raise NotKept("what a file shows is of the disk that it lies on")
    disk = disk_of(devno)
    if os.geteuid() != 0:
        raise NotKept("only root may keep it")
    document = {"format": FORMAT, "device": device, "wwid": disk.name, "size_bytes": disk.size, **figures(disk),
                "time": datetime.now(UTC).isoformat(timespec="seconds")}
    path = root() / FOLDER / folder / (re.sub(rb"[^A-Za-z0-9._-]", b"_", disk.name.encode()).decode() + ".json")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, json.dumps(document, indent=1) + "\n")
    except OSError as error:
        raise NotKept(f"{path}: {error.strerror}") from error
    return path


def _replace(path: Path, text: str) -> None:
    """Put a file in place of another one, if there is one, such that either is there after a crash."""
    fd, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(fd, "w") as file:
            file.write(text)
            os.fchmod(fd, 0o644)
            file.flush()
            os.fsync(fd)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise
    sync_folder(path.parent)
