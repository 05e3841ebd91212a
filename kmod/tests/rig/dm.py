# SPDX-License-Identifier: GPL-2.0
"""Device-mapper devices, also of the target "align", as objects that are removed with their test."""

import errno
import itertools
import os
import subprocess
import time
from pathlib import Path

from lab.pace import Limit, patience

from . import control

_names = itertools.count(1)


def run(*command, ok=True, timeout=120):
    """Run a command, for `timeout` seconds of the reference machine; return the CompletedProcess. Raises AssertionError with
    the command's message if the command fails, unless `ok` is False."""
    # A message about hostile input need not be valid text.
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="backslashreplace",
                          timeout=patience(timeout))
    if ok and done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))}: exit status {done.returncode}: "
                             f"{done.stderr.strip() or done.stdout.strip()}")
    return done


def sectors_of(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.lseek(fd, 0, os.SEEK_END) // 512
    finally:
        os.close(fd)


def number_of(path):
    """Return "major:minor" of a block device."""
    number = os.stat(path).st_rdev
    return f"{os.major(number)}:{os.minor(number)}"


def sysfs_folder(path):
    """Return a block device's folder in sysfs."""
    return Path("/sys/dev/block", number_of(path)).resolve()


def block_name(path):
    """Return the kernel's name: "vda" of "/dev/vda", "dm-3" of "/dev/mapper/x"."""
    return sysfs_folder(path).name


def queue(path, name):
    """Read a file of the queue folder of a device, or of a partition's disk, stripped."""
    folder = sysfs_folder(path)
    if not (folder / "queue").exists():
        folder = folder.parent
    return (folder / "queue" / name).read_text().strip()


def alignment_offset(path):
    """Return the kernel's alignment_offset of a device, in bytes; -1 if the device is misaligned."""
    return int((sysfs_folder(path) / "alignment_offset").read_text())


class Device:
    """A mapped device with the given table lines, which exists during the `with` block."""

    def __init__(self, *lines, name=None):
        self.name = name or f"t{next(_names)}"
        self.path = f"/dev/mapper/{self.name}"
        self.lines = lines

    def __enter__(self):
        control.create(self.name)
        try:
            self.load(*self.lines)
            self.resume()
        except OSError:
            control.remove(self.name)
            raise
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        """Remove the device, if it exists; wait for a program that has it open a moment longer."""
        limit = Limit(10)
        while not limit.over():
            try:
                return control.remove(self.name)
            except control.Refused as error:
                if error.errno == errno.ENXIO:
                    return None
                if error.errno != errno.EBUSY:
                    raise
            time.sleep(0.1)
        raise AssertionError(f"{self.path} stays in use")

    @property
    def block(self):
        return block_name(self.path)

    def load(self, *lines):
        control.load(self.name, lines)

    def suspend(self, flags=0):
        control.suspend(self.name, flags)

    def resume(self):
        control.resume(self.name)

    def reload(self, *lines, flags=0):
        """Replace the table: load, suspend, resume; `flags` of the suspend."""
        self.load(*lines)
        self.suspend(flags)
        self.resume()

    def message(self, text):
        """Send a message to the first target. Raises control.Refused if the target refuses."""
        control.message(self.name, text)

    def status(self):
        """Return the status of the first target, without "<start> <length> <target> "."""
        return control.status(self.name)[0].split(None, 3)[3]

    def table(self):
        return "\n".join(control.status(self.name, table=True))


def features(**options):
    """Return the feature arguments of a table line; an option that is None is left out."""
    words = [word for key, value in options.items() if value is not None for word in (key, str(value))]
    return f" {len(words)} {' '.join(words)}" if words else ""


class Align(Device):
    """
    The target on `below`: from sector `start` of the device, `length` sectors (None: to the end).

    Options are the table line's: mode, physical_block_size, alignment_offset, hold_ms, max_blocks, write_cache.
    """

    def __init__(self, below, start=0, length=None, name=None, **options):
        self.below = below
        self.start = start
        self.length = sectors_of(below) - start if length is None else length
        super().__init__(self.line(**options), name=name)

    def line(self, **options):
        return f"0 {self.length} align {self.below} {self.start}{features(**options)}"

    def linear(self):
        return f"0 {self.length} linear {self.below} {self.start}"

    @property
    def sysfs(self):
        return Path("/sys/block", self.block, "align")

    def attribute(self, name):
        return (self.sysfs / name).read_text().strip()

    def counter(self, name):
        return int(self.attribute(name))

    def histogram(self, name):
        return [int(word) for word in self.attribute(f"{name}_histogram").split()]

    def set_mode(self, mode):
        self.message(f"mode {mode}")

    def pairs(self):
        """Parse the status line; return (mode, {name: value})."""
        mode, *words = self.status().split()
        return mode, dict(word.split(":", 1) for word in words)

    def ledger(self):
        """Return every counter, from the status line."""
        _, pairs = self.pairs()
        return {name: int(value) for name, value in pairs.items() if value.isdigit()}

    def balanced(self, pending=0):
        """Check that the ledger balances while no write is in flight, and return it; `pending`: held touches."""
        ledger = self.ledger()
        parts = ("rmw_avoided", "rmw_host", "rmw_drive", "rmw_lost", "rmw_pending")
        assert ledger["rmw_expected"] == sum(ledger[part] for part in parts), f"the ledger does not balance: {ledger}"
        assert ledger["rmw_pending"] == pending, \
            f"{pending} touches are held and none is in flight, yet rmw_pending is {ledger['rmw_pending']}"
        avoided = [value for name, value in ledger.items() if name.startswith("rmw_avoided_")]
        drive = [value for name, value in ledger.items() if name.startswith("rmw_drive_")]
        assert ledger["rmw_avoided"] == sum(avoided), f"the reasons do not add up to rmw_avoided: {ledger}"
        assert ledger["rmw_drive"] == sum(drive), f"the reasons do not add up to rmw_drive: {ledger}"
        return ledger
