# SPDX-License-Identifier: GPL-2.0
"""File systems on a device: made, mounted, checked."""

import contextlib
import errno
import tempfile
from pathlib import Path

from . import libc
from .dm import run

_MAKERS = {"ext4": ["mkfs.ext4", "-q", "-F"], "xfs": ["mkfs.xfs", "-q", "-f"]}
_CHECKERS = {"ext4": ["e2fsck", "-fn"], "xfs": ["xfs_repair", "-n"]}

MS_RDONLY = 1


def make(kind, path):
    run(*_MAKERS[kind], path)


def fsck(kind, path):
    """Fails if the checker of the file system finds anything; changes nothing."""
    run(*_CHECKERS[kind], path, timeout=300)


@contextlib.contextmanager
def mounted(kind, path, read_only=False, options=None):
    """Its folder, while the `with` block runs. `options`: the file system's own, as mount -o has them."""
    with tempfile.TemporaryDirectory() as folder:
        # The call itself: a process each time would take longer than the mount.
        libc.call(f"mount {path}", "mount", str(path).encode(), folder.encode(), kind.encode(),
                  MS_RDONLY if read_only else 0, options and options.encode())
        try:
            yield Path(folder)
        finally:
            try:
                libc.call(f"umount {path}", "umount2", folder.encode(), 0)
            except OSError as error:
                # Whoever expects errors of a damaged file system does not mean this.
                raise RuntimeError(f"{path} stays mounted: {error}") from error


def replay_journal(kind, path):
    """
    Mounts it for a moment after a power cut, which replays its journal; fails unless nothing else is needed.

    Returns whether it took e2fsck -p first, as at every boot: a commit block of ext4's journal that lies in two
    physical blocks may have been written in one of them only, on any drive. ext4 of Linux 6.12 understands that
    (jbd2_commit_block_csum_verify_partial() in fs/jbd2/recovery.c), that of 6.1 refuses the journal. The transaction
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
        # What it repairs is FIXED, what it cannot is UNEXPECTED.
        if "was corrupt, replay was aborted" not in said or "FIXED" in said or "UNEXPECTED" in said:
            raise AssertionError(f"{path}: {error}; e2fsck -p: {said}") from error
    mount()
    return True
