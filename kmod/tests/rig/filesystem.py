# SPDX-License-Identifier: GPL-2.0
"""File systems on a device: made, mounted, checked."""

import contextlib
import errno
import fcntl
import os
import tempfile
from pathlib import Path

from . import libc
from .dm import run

_MAKERS = {"ext4": ["mkfs.ext4", "-q", "-F"], "xfs": ["mkfs.xfs", "-q", "-f"]}
_CHECKERS = {"ext4": ["e2fsck", "-fn"], "xfs": ["xfs_repair", "-n"]}

MS_RDONLY = 1
FIFREEZE, FITHAW = 0xC0045877, 0xC0045878


def make(kind, path):
    run(*_MAKERS[kind], path)


def fsck(kind, path):
    """Check the file system without a change. Raises AssertionError for any finding."""
    run(*_CHECKERS[kind], path, timeout=300)


@contextlib.contextmanager
def mounted(kind, path, read_only=False, options=None):
    """Mount a file system for the `with` block; yield its folder. `options`: the file system's own, as for mount -o."""
    folder, before = tempfile.mkdtemp(), None
    try:
        # mount(2) itself: running mount(8) would take longer than the mount.
        libc.call(f"mount {path}", "mount", str(path).encode(), folder.encode(), kind.encode(),
                  MS_RDONLY if read_only else 0, options and options.encode())
    except OSError:
        os.rmdir(folder)
        raise
    try:
        yield Path(folder)
    except BaseException as error:
        before = error
        raise
    finally:
        try:
            libc.call(f"umount {path}", "umount2", folder.encode(), 0)
        except OSError as error:
            # Not an OSError, which callers expect of a damaged file system.
            raise RuntimeError(f"{path} stays mounted: {error}; before: {before!r}") from error
        os.rmdir(folder)


@contextlib.contextmanager
def frozen(folder):
    """For the `with` block, have the file system write nothing: neither cached data nor anything of its own accord."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.ioctl(fd, FIFREEZE)
        try:
            yield
        finally:
            fcntl.ioctl(fd, FITHAW)
    finally:
        os.close(fd)


def replay_journal(kind, path):
    """
    Mount a file system for a moment after a power cut, which replays its journal; fail if this is not enough.

    Return whether e2fsck -p was needed before, as at every boot: any drive may have written a commit block of ext4's
    journal that lies in two physical blocks to only one of them. ext4 of Linux 6.12 accepts that
    (jbd2_commit_block_csum_verify_partial() in fs/jbd2/recovery.c), ext4 of 6.1 refuses the journal. The transaction
    was not acknowledged.
    """
    def mount():
        with mounted(kind, path):
            pass

    try:
        mount()
        return False
    except OSError as error:
        if kind != "ext4" or error.errno != errno.EUCLEAN:
            raise
        said = run("e2fsck", "-p", path, ok=False, timeout=300).stdout
        # e2fsck prints FIXED for a repair, UNEXPECTED if it cannot repair.
        if "was corrupt, replay was aborted" not in said or "FIXED" in said or "UNEXPECTED" in said:
            raise AssertionError(f"{path}: {error}; e2fsck -p: {said}") from error
    mount()
    return True
