# SPDX-License-Identifier: GPL-2.0
"""Gates of the build, which the kernel code must pass without a message: warnings of two compilers, sparse, checkpatch."""

import re
import subprocess
import tempfile
from pathlib import Path

from . import kernels, layers, modules

GCC = ("W=1", "KCFLAGS=-Werror")
# C=2 checks up-to-date files, too. Without -Wsparse-error, make succeeds despite sparse's warnings.
SPARSE = ("C=2", "CF=-Wsparse-error")
CLANG = ("LLVM=1", "W=1", "KCFLAGS=-Werror")

# The only file that may compare kernel versions.
VERSIONED = "compat.h"


def compile_with(series, arguments, name, **where):
    """Build the module for a series; return the .ko files' folder. Raises modules.BuildFailed."""
    return modules.build_for(kernels.release(series), list(arguments), name=f"{name}-{series}", **where)[0]


def module(series):
    """The module for the guests of a series: the build without warnings that the tests look at, so that there is one build
    of it; where gcc warns, a plain one, so that the warnings fail their own test only."""
    layer = layers.arguments(layers.wanted())
    try:
        return compile_with(series, (*GCC, *layer), "-".join(["gcc", *layer]).replace("=", "-")) / "dm-align.ko"
    except modules.BuildFailed:
        return modules.build_for(kernels.release(series), layer)[0] / "dm-align.ko"


def made_by_clang(module):
    """Return whether clang built a module: headers prepared for gcc silently ignore a request for another compiler."""
    shown = subprocess.run(["readelf", "-p", ".comment", module], capture_output=True, text=True, check=True).stdout
    makers = [line.split("]", 1)[1].strip() for line in shown.splitlines() if re.match(r"\s*\[", line)]
    return bool(makers) and all("clang" in maker for maker in makers)


def checkpatch(path):
    """Return checkpatch's complaints about a file, none if it is clean."""
    ignored = ["--ignore", "LINUX_VERSION_CODE"] if Path(path).name == VERSIONED else []
    script = kernels.fetch_source(kernels.USUAL) / "scripts" / "checkpatch.pl"
    command = [script, "--strict", "--no-tree", "--no-summary", "--terse", "--show-types", *ignored, "-f",
               Path(path).resolve()]
    # checkpatch writes a list of names into its working directory.
    with tempfile.TemporaryDirectory(prefix="dm-align-") as scratch:
        done = subprocess.run(command, capture_output=True, text=True, cwd=scratch)
    complaints = [line for line in done.stdout.splitlines() if line.strip()]
    if done.returncode and not complaints:
        complaints = [f"checkpatch ended with status {done.returncode}: {done.stderr.strip()}"]
    return complaints
