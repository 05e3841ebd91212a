# SPDX-License-Identifier: GPL-2.0
"""A device or mount of a stack that stays is reported as such, with the error that came before, and is no damage."""

import contextlib
import types

import pytest

from rig import filesystem, libc
from rig.stacks import Stack


class Staying:
    """A rig whose partitions cannot be removed."""

    @staticmethod
    @contextlib.contextmanager
    def partition(disk, start, sectors, number):
        try:
            yield f"{disk}{number}"
        finally:
            raise AssertionError("delpart: busy")


def test_a_device_that_stays_is_no_damage_and_hides_no_error():
    stack = Stack(Staying(), types.SimpleNamespace(path="/dev/x"), "plain", "raw", 8)
    with pytest.raises(RuntimeError, match=r"stays: delpart: busy; before: KeyError\('first'\)"), stack.assembled():
        raise KeyError("first")
    with pytest.raises(RuntimeError, match="before: None"), stack.assembled():
        pass


def test_a_mount_that_stays_is_no_damage_and_hides_no_error(monkeypatch, tmp_path):
    def call(what, function, *_):
        if function == "umount2":
            raise OSError(16, what)

    monkeypatch.setattr(libc, "call", call)
    monkeypatch.setattr(filesystem.tempfile, "tempdir", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"/dev/x stays mounted: .*; before: KeyError\('first'\)"), \
            filesystem.mounted("ext4", "/dev/x"):
        raise KeyError("first")
