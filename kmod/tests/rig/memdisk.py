# SPDX-License-Identifier: GPL-2.0
"""Disks in memory, made by null_blk, with given properties."""

import contextlib
import itertools
from pathlib import Path

from .dm import run
from .witness import eventually

NULLB = Path("/sys/kernel/config/nullb")
_numbers = itertools.count(1)


class MemoryDisk:
    """A disk in memory. path: its block device."""

    def __init__(self, folder):
        self._folder = folder
        self.path = f"/dev/{folder.name}"
        self._bad = []

    def bad(self, first, sectors):
        """Let reads and writes of these sectors fail."""
        self._bad.append(f"{first}-{first + sectors - 1}")
        (self._folder / "badblocks").write_text(f"+{self._bad[-1]}")

    def heal(self):
        while self._bad:
            (self._folder / "badblocks").write_text(f"-{self._bad.pop()}")


@contextlib.contextmanager
def memory_disk(megabytes=64, **settings):
    """Make a disk of null_blk that keeps its data; `settings`: files of its folder in configfs."""
    if not NULLB.exists():
        run("modprobe", "null_blk", "nr_devices=0")
        # Fails where configfs is mounted.
        run("mount", "-t", "configfs", "configfs", "/sys/kernel/config", ok=False)
        eventually(NULLB.exists, "null_blk has no folder in configfs")
    folder = NULLB / f"memory{next(_numbers)}"
    folder.mkdir()
    try:
        settings = {"size": megabytes, "memory_backed": 1, "blocksize": 512, "irqmode": 2, "completion_nsec": 20000,
                    "discard": 1, **settings, "power": 1}
        for name, value in settings.items():
            (folder / name).write_text(str(value))
        disk = MemoryDisk(folder)
        eventually(Path(disk.path).exists, "null_blk makes no disk")
        yield disk
    finally:
        folder.rmdir()
