# SPDX-License-Identifier: GPL-2.0
"""Paths: the checkout, its out/ folder, and the cache that checkouts share."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

REPO = Path(__file__).resolve().parents[2]
OUT = Path(os.environ.get("OUT") or REPO / "out").resolve()
CACHE = Path(os.environ.get("DM_ALIGN_CACHE") or Path.home() / ".cache" / "dm-align").resolve()


def say(what):
    """Print a progress line, on standard error so that a tool's own output stays clean."""
    print(f"dm-align: {what}", file=sys.stderr, flush=True)


def fail(why, status=2) -> NoReturn:
    """Exit with a message, which names the object, what is wrong, and what to do."""
    print(f"dm-align: {why}", file=sys.stderr)
    sys.exit(status)


def commit():
    """Return the checkout's commit, marked if the checkout has changes; "unknown" in an unpacked tarball."""
    try:
        told = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=REPO, capture_output=True, text=True)
    except FileNotFoundError:  # no build needs git
        return "unknown"
    return told.stdout.strip() or "unknown"


@contextlib.contextmanager
def locked(name, where=CACHE):
    """Lock `name` in the cache, or in out/, against other processes for the `with` block; sleeps until it is free."""
    locks = where / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    with open(locks / name, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def whole(folder):
    """Yield a scratch folder that becomes `folder` if the block succeeds, so that a partial entry never looks complete."""
    scratch = folder.with_name(folder.name + ".part")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    yield scratch
    shutil.rmtree(folder, ignore_errors=True)
    scratch.rename(folder)


def write_whole(path, content):
    """Write a file of text or bytes that is there with all of its content or not at all, also on a full disk and beside other
    processes."""
    scratch = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        scratch.write_bytes(content.encode() if isinstance(content, str) else content)
        scratch.rename(path)
    finally:
        scratch.unlink(missing_ok=True)
