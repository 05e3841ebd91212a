# SPDX-License-Identifier: GPL-2.0
"""Programs, as tests of the tree want them."""

import importlib.machinery
import importlib.util
import subprocess
import sys

from .pace import patience
from .paths import REPO


def output(*command, **options):
    """Run a command that must succeed; return its output."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=patience(400), **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def version():
    """Return the version of the tree."""
    return output(REPO / "scripts/version").strip()


def load(path):
    """Import a program, whose name is none that Python imports, and leave no compiled file beside it."""
    loader = importlib.machinery.SourceFileLoader(path.name.replace("-", "_"), str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = written
    return module
