# SPDX-License-Identifier: GPL-2.0
"""Where things lie: the checkout, its out/ folder, and the cache that checkouts share."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
OUT = Path(os.environ.get("OUT") or REPO / "out").resolve()
CACHE = Path(os.environ.get("DM_ALIGN_CACHE") or Path.home() / ".cache" / "dm-align").resolve()


def say(what):
    """A progress line, on standard error so that a tool's own output stays clean."""
    print(f"dm-align: {what}", file=sys.stderr, flush=True)


def fail(why, status=2):
    """Ends the program with a reason that names the thing and the way out."""
    print(f"dm-align: {why}", file=sys.stderr)
    sys.exit(status)


def commit():
    """The checkout's commit, marked if it was changed since."""
    say = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=REPO, capture_output=True, text=True)
    return say.stdout.strip() or "unknown"


@contextlib.contextmanager
def locked(name, where=CACHE):
    """One process at a time makes or uses what `name` stands for in the cache, or in out/; others wait."""
    locks = where / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    with open(locks / name, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def whole(folder):
    """Yields a scratch folder that becomes `folder` when the block ends well: a half-made entry never looks done."""
    scratch = folder.with_name(folder.name + ".part")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    yield scratch
    shutil.rmtree(folder, ignore_errors=True)
    scratch.rename(folder)
