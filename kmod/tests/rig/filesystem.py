# SPDX-License-Identifier: GPL-2.0
"""File systems on a device: made, mounted, checked."""

import contextlib
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
def mounted(kind, path, read_only=False):
    """Its folder, while the `with` block runs."""
    with tempfile.TemporaryDirectory() as folder:
        # The call itself: a process each time would take longer than the mount.
        libc.call(f"mount {path}", "mount", str(path).encode(), folder.encode(), kind.encode(),
                  MS_RDONLY if read_only else 0, None)
        try:
            yield Path(folder)
        finally:
            try:
                libc.call(f"umount {path}", "umount2", folder.encode(), 0)
            except OSError as error:
                # Whoever expects errors of a damaged file system does not mean this.
                raise RuntimeError(f"{path} stays mounted: {error}") from error
