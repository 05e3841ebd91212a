# SPDX-License-Identifier: GPL-2.0
"""Builds of the simulation, with a change of the engine or without, and their runs."""

import functools
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

from lab import kept
from lab.pace import patience
from lab.plugins import extent
from sim.faults import FAULTS

HERE = Path(__file__).resolve().parent
KMOD = HERE.parent.parent
CLEAN, VIOLATION, USAGE = 0, 1, 2
# Seconds of processor time that a test may take; about 20 lives take a tenth of a second.
LIMIT = 300


def make(out, linux, *variables):
    return subprocess.run(["make", "-s", "-C", HERE, f"OUT={out}", f"LINUX={linux}", *variables], capture_output=True,
                          text=True, timeout=patience(LIMIT), check=False)


def build(out, linux, *variables):
    """Build, and return the folder."""
    done = make(out, linux, *variables)
    assert done.returncode == 0, done.stderr[-8000:]
    return out


@functools.cache
def sources():
    """Return a digest of the inputs of a build, but for make's variables."""
    compiler = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=True).stdout
    files = [*sorted(KMOD.glob("*.[ch]")), HERE / "Makefile", *sorted(HERE.rglob("*.[ch]"))]
    texts = (part for path in files for part in (str(path.relative_to(KMOD)), path))
    return kept.digest(compiler, os.environ.get("CFLAGS", ""), *texts)


def build_once(out, linux, *variables):
    """Build for all workers of a run, and for later runs of the same sources; return `out`, which the caller may change."""
    folder = kept.result("simulation", kept.digest(sources(), str(linux), *variables),
                         lambda scratch: build(scratch, linux, *variables))
    shutil.copytree(folder, out, symlinks=True, dirs_exist_ok=True)
    # The sources of another checkout may be younger than objects built from the same text, and make goes by age.
    now = time.time()
    for path in out.rglob("*"):
        os.utime(path, (now, now), follow_symlinks=False)
    return out


def sim(out, *options, program="sim"):
    """Return the status and the output of a run."""
    done = subprocess.run([out / "bin" / program, *map(str, options)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=patience(LIMIT), check=False)
    return done.returncode, done.stdout


def copy_of_the_code(folder):
    """Return a folder with all sources of the target as they are, for changes."""
    folder.mkdir()
    for path in KMOD.glob("*.[ch]"):
        (folder / path.name).symlink_to(path)
    return folder


def change(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1, f"{path.name} has {text.count(old)} times: {old}"
    path.unlink()
    path.write_text(text.replace(old, new))


def build_with_changes(built, linux, folder, changes, *variables):
    """Return the folder of a build of the engine with changes: (file, text, replacement)."""
    kmod = copy_of_the_code(folder / "kmod")
    for file, old, new in changes:
        change(kmod / file, old, new)
    out = folder / "out"
    shutil.copytree(built, out, symlinks=True)
    return build(out, linux, f"KMOD={kmod}", *variables)


def build_with_fault(built, linux, folder, fault, *variables):
    """Return the folder of a build of the engine with a deliberate fault."""
    return build_with_changes(built, linux, folder, FAULTS[fault], *variables)


class _Unexpected(Exception):
    """Results that are not kept."""


def runs_with_changes(built, linux, folder, changes, runs, expected, *variables):
    """Return the status and the output of each run of the engine with changes.

    runs: (program, option...); expected(results): whether all runs have ended as they should. Programs and options decide
    all that happens there, so expected results are kept for runs of the tests on the same sources, but for make check-all.
    """
    def run():
        out = build_with_changes(built, linux, folder, changes, *variables)
        return [sim(out, *options, program=program) for program, *options in runs]

    def make(scratch):
        results = run()
        if not expected(results):
            raise _Unexpected(results)
        (scratch / "results").write_text(json.dumps(results))

    if extent.everything():
        return run()
    try:
        kept_in = kept.result("simulated", kept.digest(sources(), str(linux), repr((changes, runs, variables))), make)
    except _Unexpected as unexpected:
        return unexpected.args[0]
    return json.loads((kept_in / "results").read_text())
