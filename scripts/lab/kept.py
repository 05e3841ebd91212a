# SPDX-License-Identifier: GPL-2.0
"""Results kept in the cache under a digest of everything that they were made of, for all checkouts: what is made again of the
same input is taken from there.

Only for what depends on nothing but that input: a compilation, an exhaustive search. A result that chance or time has a part
in is never kept.
"""

import hashlib
import os
import shutil
import time

from .paths import CACHE, locked, whole

# Entries that have not been used for so long are removed.
DAYS = 14


def digest(*parts):
    """Hash texts, bytes and the contents of files into a key."""
    total = hashlib.sha256()
    for part in parts:
        whole_of = part.encode() if isinstance(part, str) else part if isinstance(part, bytes) else part.read_bytes()
        total.update(hashlib.sha256(whole_of).digest())
    return total.hexdigest()


def result(kind, key, make):
    """Return the folder that has the result of a kind with a digest; make(folder) fills the folder if there is none."""
    top = CACHE / "kept" / kind
    folder = top / key[:32]
    with locked(f"kept-{key[:2]}"):
        if folder.exists():
            os.utime(folder)
        else:
            with whole(folder) as scratch:
                make(scratch)
            _forget_unused(top)
    return folder


def _forget_unused(top):
    oldest = time.time() - DAYS * 24 * 3600
    for folder in top.iterdir():
        # Another process may remove it at the same moment.
        if folder.suffix != ".part" and folder.exists() and folder.stat().st_mtime < oldest:
            shutil.rmtree(folder, ignore_errors=True)
