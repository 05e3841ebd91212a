# SPDX-License-Identifier: GPL-2.0
"""What is done without a Python library."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys

from .exit_status import IO


def duckdb(program: str) -> None:
    """Exit with a message if the library duckdb, which Debian does not have, is missing."""
    if importlib.util.find_spec("duckdb"):
        return
    print(f"{program} needs the Python library duckdb, which {sys.executable} does not have: "
          "python3 -m venv DIR && DIR/bin/pip install duckdb, and set ALIGNCTL_PYTHON=DIR/bin/python3", file=sys.stderr)
    sys.exit(IO)


def _go_on_with_the_next() -> None:
    """Become the same program under the next interpreter, if alignctl knows one (verbs/reports.c)."""
    python = os.environ.pop("ALIGNCTL_NEXT_PYTHON", None)
    if python:
        with contextlib.suppress(OSError):
            os.execv(python, [python, *sys.orig_argv[1:]])


def rich(program: str) -> None:
    """Where the library rich is missing, try another interpreter, or exit with a message; load nothing of it.

    Before minutes of runs in vain.
    """
    if importlib.util.find_spec("rich"):
        return
    _go_on_with_the_next()
    print(f"{program}: needs the Python library rich, which {sys.executable} does not have: apt-get install python3-rich "
          "installs it for the system's Python; ALIGNCTL_PYTHON names another one", file=sys.stderr)
    sys.exit(IO)
