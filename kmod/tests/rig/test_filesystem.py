# SPDX-License-Identifier: GPL-2.0
"""After a power cut only damage that every boot repairs by itself is accepted."""

import contextlib
import errno
import os

import pytest

from rig import filesystem
from rig.dm import run

BLOCK = 1024


@pytest.fixture
def image(tmp_path):
    """Make an ext4 whose journal has two transactions, of a block each; as in a kernel that refuses journals with errors."""
    path = tmp_path / "image"
    with open(path, "wb") as file:
        file.truncate(64 << 20)
    run("mkfs.ext4", "-q", "-F", "-b", BLOCK, path)
    (tmp_path / "data").write_bytes(b"\1" * BLOCK)
    for number, options in (5000, " -c"), (5001, ""):
        (tmp_path / "commands").write_text(f"jo{options}\njw -b {number} {tmp_path}/data\njc\n")
        run("debugfs", "-w", "-f", tmp_path / "commands", path)
    return path


@pytest.fixture(autouse=True)
def refused_once(monkeypatch):
    """Replace the mount: it does nothing, and the first time refuses the journal."""
    tries = []

    @contextlib.contextmanager
    def mounted(kind, path):
        tries.append(path)
        if len(tries) == 1:
            raise OSError(errno.EUCLEAN, f"mount {path}")
        yield
    monkeypatch.setattr(filesystem, "mounted", mounted)
    return tries


def overwrite(path, journal_block, offset):
    """Overwrite a sector of a block of the journal."""
    first = int(run("debugfs", "-R", "blocks <8>", path).stdout.split()[0])
    with open(path, "r+b") as file:
        file.seek((first + journal_block) * BLOCK + offset)
        file.write(os.urandom(512))


def block(path, number):
    with open(path, "rb") as file:
        file.seek(number * BLOCK)
        return file.read(BLOCK)


def test_a_commit_block_that_was_written_in_part_ends_the_journal(image, refused_once):
    # Superblock, descriptor, data, commit, descriptor, data, commit.
    overwrite(image, 6, 512)
    assert filesystem.replay_journal("ext4", image)
    assert len(refused_once) == 2
    assert block(image, 5000) == b"\1" * BLOCK, "the transaction before it"
    assert block(image, 5001) == b"\0" * BLOCK


def test_a_journal_without_fault_is_no_reason_to_refuse_it(image):
    with pytest.raises(AssertionError, match="e2fsck -p"):
        filesystem.replay_journal("ext4", image)


def test_what_needs_a_repair_beside_it_is_damage(image):
    overwrite(image, 6, 512)
    run("debugfs", "-w", "-R", "clri <11>", image)
    with pytest.raises(AssertionError, match="lost.found"):
        filesystem.replay_journal("ext4", image)


@pytest.mark.parametrize("kind, number", [("xfs", errno.EUCLEAN), ("ext4", errno.EIO)])
def test_other_errors_are_damage_at_once(monkeypatch, kind, number):
    @contextlib.contextmanager
    def mounted(kind, path):
        raise OSError(number, "mount")
        yield
    monkeypatch.setattr(filesystem, "mounted", mounted)
    with pytest.raises(OSError):
        filesystem.replay_journal(kind, "/dev/null")
