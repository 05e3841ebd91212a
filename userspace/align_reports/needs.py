# SPDX-License-Identifier: GPL-2.0
"""What is done without a Python library."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys

from .exit_status import IO

# The way to each library.
WAYS = {
    "duckdb": "python3 -m venv DIR && DIR/bin/pip install duckdb, and set ALIGNCTL_PYTHON=DIR/bin/python3",
    "rich": "apt-get install python3-rich installs it for the system's Python; ALIGNCTL_PYTHON names another one",
}


def _go_on_with_the_next() -> None:
    """Become the same program under the next interpreter, if alignctl knows one (base/python.c)."""
    python = os.environ.pop("ALIGNCTL_NEXT_PYTHON", None)
    if python:
        with contextlib.suppress(OSError):
            os.execv(python, [python, *sys.orig_argv[1:]])


def library(name: str, who: str) -> None:
    """Where a library is missing, try another interpreter, or exit with a message; load nothing of it.

    Before minutes of runs in vain.
    """
    if importlib.util.find_spec(name):
        return
    _go_on_with_the_next()
    print(f"{who} needs the Python library {name}, which {sys.executable} does not have: {WAYS[name]}", file=sys.stderr)
    sys.exit(IO)
