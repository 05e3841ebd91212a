# SPDX-License-Identifier: GPL-2.0
"""Stacks: common layers of block devices on partitions that start 5 sectors behind a boundary."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from . import control
from .direct import Disk
from .dm import Align, run
from .witness import eventually

SHIFT = 5

# No udev, no daemons, no files beside the metadata; no scan of other devices, such as the underlying ones; and null_blk's.
_LVM = ("--config", "devices { use_devicesfile=0 hints=none types=[ \"nullb\", 16 ] %s } "
        "activation { udev_sync=0 udev_rules=0 monitoring=0 } global { event_activation=0 } backup { backup=0 archive=0 }")


def _lvm(command, device, *arguments):
    option, text = _LVM
    run(command, option, text % f'filter=[ "a|^{device}$|", "r|.*|" ]', *arguments)


# Each layer also removes the remains of a failed assembly of it, which may fail anywhere on a damaged drive.


@contextlib.contextmanager
def plain(devices, fresh):
    yield devices[0]


def _remove(name):
    if Path("/dev/mapper", name).exists():
        control.remove(name)


@contextlib.contextmanager
def lvm(devices, fresh):
    try:
        if fresh:
            _lvm("pvcreate", devices[0], "-ff", "-y", devices[0])
            _lvm("vgcreate", devices[0], "stacks", devices[0])
            _lvm("lvcreate", devices[0], "-l", "100%FREE", "-Wn", "-n", "volume", "stacks")
        else:
            _lvm("vgchange", devices[0], "-ay", "stacks")
        yield "/dev/mapper/stacks-volume"
    finally:
        # vgchange would read from a drive that may have no power.
        _remove("stacks-volume")
        shutil.rmtree("/dev/stacks", ignore_errors=True)


@contextlib.contextmanager
def luks(devices, fresh):
    """Make or open a LUKS device with sectors of 512 bytes, so that dm-crypt passes on writes of any sector; yield it."""
    try:
        with tempfile.NamedTemporaryFile() as key:
            key.write(b"a key for tests only")
            key.flush()
            if fresh:
                run("cryptsetup", "luksFormat", "-q", "--type", "luks2", "--sector-size", 512, "--pbkdf", "pbkdf2",
                    "--pbkdf-force-iterations", 1000, "--key-file", key.name, devices[0])
            run("cryptsetup", "open", "--key-file", key.name, devices[0], "crypt")
        yield "/dev/mapper/crypt"
    finally:
        _remove("crypt")


MD = "/dev/md0"


@contextlib.contextmanager
def raid1(devices, fresh):
    os.environ["MDADM_NO_UDEV"] = "1"
    try:
        if fresh:
            # The caller has zeroed both members, so they are in sync.
            run("mdadm", "--create", MD, "--run", "--metadata=1.2", "--level=1", "--raid-devices=2", "--assume-clean",
                "--bitmap=internal", *devices)
        else:
            run("mdadm", "--assemble", MD, "--run", *devices)
        yield MD
    finally:
        if Path("/sys/block/md0/md").exists():
            run("mdadm", "--stop", MD)


def mirrored():
    """Fail unless both halves of the array are in use and, after a resync, identical."""
    folder = Path("/sys/block/md0/md")

    def idle():
        return (folder / "sync_action").read_text().strip() == "idle"

    eventually(idle, "md does not end its resync", 120)
    assert (folder / "degraded").read_text().strip() == "0", "md has dropped a half"
    (folder / "sync_action").write_text("check")
    eventually(idle, "md does not end its check", 120)
    differing = int((folder / "mismatch_cnt").read_text())
    assert not differing, f"the halves differ in {differing} sectors"


LAYERS = {"plain": (plain, 1), "lvm": (lvm, 1), "luks": (luks, 1), "raid1": (raid1, 2)}


class Stack:
    """
    Layers of the kind `layer` on a drive, through the target in a mode, or "raw" on the drive itself.

    sectors: size of each partition
    """

    def __init__(self, rig, drive, layer, through, sectors):
        self._lab, self._drive, self._through, self._sectors = rig, drive, through, sectors
        self._layer, self._parts = LAYERS[layer]

    @contextlib.contextmanager
    def assembled(self, fresh=False):
        """
        Assemble the stack, newly created on zeroes if `fresh`; yield the top device. Removes all devices at the end, and
        raises RuntimeError if one stays: callers take AssertionError and OSError for damage of the drive's content.
        """
        stack, before = contextlib.ExitStack(), None
        try:
            devices = []
            for number in range(self._parts):
                start = 2048 + SHIFT + number * (self._sectors + 2048)
                path = stack.enter_context(self._lab.partition(self._drive.path, start, self._sectors, number + 1))
                if fresh:
                    with Disk(path) as disk:
                        disk.zero(0, self._sectors)
                if self._through != "raw":
                    path = stack.enter_context(Align(path, mode=self._through)).path
                devices.append(path)
            yield stack.enter_context(self._layer(devices, fresh))
        except BaseException as error:
            before = error
            raise
        finally:
            try:
                stack.close()
            except (AssertionError, OSError) as error:
                raise RuntimeError(f"a device of the stack stays: {error}; before: {before!r}") from error
