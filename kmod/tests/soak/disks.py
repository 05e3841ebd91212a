# SPDX-License-Identifier: GPL-2.0
"""The disk of a plan, with dm-delay on it where the plan says so."""

import contextlib
import dataclasses
import subprocess
from pathlib import Path

from rig.dm import Device, queue, run, sectors_of, sysfs_folder
from rig.witness import eventually

from .plan import COMPLETIONS

CONFIGFS = Path("/sys/kernel/config")
# scsi_debug's option for a disk without a volatile write cache.
NO_WRITE_CACHE = 0x1000


@contextlib.contextmanager
def _null_blk(disk):
    """Make a null_blk that keeps its data, and frees discarded pages; yield its path."""
    run("modprobe", "null_blk", "nr_devices=0")
    if not (CONFIGFS / "nullb").exists():
        run("mount", "-t", "configfs", "configfs", CONFIGFS)
    folder = CONFIGFS / "nullb" / "soak"
    folder.mkdir()
    irqmode, nanoseconds = COMPLETIONS[disk.timing]
    settings = {"size": disk.megabytes, "memory_backed": 1, "blocksize": disk.logical, "irqmode": irqmode,
                "completion_nsec": nanoseconds, "discard": 1, "cache_size": disk.megabytes if disk.cache else 0,
                "power": 1}
    try:
        for name, value in settings.items():
            (folder / name).write_text(str(value))
        # Newer kernels name the disk after its folder, older ones number it.
        paths = [Path("/dev/soak"), Path(f"/dev/nullb{(folder / 'index').read_text().strip()}")]
        eventually(lambda: any(path.exists() for path in paths), "null_blk makes no disk")
        yield str(next(path for path in paths if path.exists()))
    finally:
        folder.rmdir()
        run("modprobe", "-r", "null_blk")


@contextlib.contextmanager
def _scsi_debug(rig, disk):
    exponent = (disk.physical // disk.logical).bit_length() - 1
    with rig.scsi_debug(megabytes=disk.megabytes, sector_size=disk.logical, physblk_exp=exponent,
                        lowest_aligned=disk.offset // disk.logical, ndelay=disk.timing, lbpu=1,
                        opts=0 if disk.cache else NO_WRITE_CACHE) as path:
        yield path


@contextlib.contextmanager
def _bare(rig, disk):
    if disk.kind == "null_blk":
        made = _null_blk(disk)
    elif disk.kind == "scsi_debug":
        made = _scsi_debug(rig, disk)
    else:
        made = rig.brd(megabytes=disk.megabytes)
    with made as path:
        # Linux 6.1 limits null_blk to 127; keep that.
        if disk.max_kb and disk.max_kb <= int(queue(path, "max_hw_sectors_kb")):
            (sysfs_folder(path) / "queue" / "max_sectors_kb").write_text(str(disk.max_kb))
        says = {name: int(queue(path, f"{name}_block_size")) for name in ("logical", "physical")}
        assert says == {"logical": disk.logical, "physical": disk.physical}, f"{path} is not as planned: {says}, {disk}"
        assert (queue(path, "write_cache") == "write back") == disk.cache, f"{path} is not as planned: {disk}"
        yield path


@dataclasses.dataclass
class Beneath:
    """
    The device beneath the target.

    disk: path of the disk
    delayed: the device of dm-delay on it, or None
    """
    disk: str
    delayed: Device | None = None

    @property
    def path(self):
        """Return the path of the device beneath the target."""
        return self.delayed.path if self.delayed else self.disk

    def delay_line(self, delay):
        """Return dm-delay's table line; `delay` as in plan.Disk."""
        ways = " ".join(f"{self.disk} 0 {milliseconds}" for milliseconds in delay)
        return f"0 {sectors_of(self.disk)} delay {ways}"


@contextlib.contextmanager
def made(rig, disk):
    """Make the disk of a plan; yield a Beneath."""
    with _bare(rig, disk) as path:
        beneath = Beneath(path)
        if not disk.delay:
            yield beneath
            return
        subprocess.run(["modprobe", "-q", "dm-delay"], check=False)  # built in where there is no such module
        with Device(beneath.delay_line(disk.delay)) as beneath.delayed:
            yield beneath


def can(path, what):
    """Return whether a device supports requests of a kind: "discard" or "write_zeroes"."""
    return int(queue(path, f"{what}_max_bytes")) > 0
