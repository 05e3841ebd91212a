# SPDX-License-Identifier: GPL-2.0
"""What is done without a Python library."""

from __future__ import annotations

import importlib.util
import sys

from .exit_status import IO


def duckdb(program: str) -> None:
    """Exit with a message if the library duckdb, which Debian does not have, is missing."""
    if importlib.util.find_spec("duckdb"):
        return
    print(f"{program} needs the Python library duckdb, which {sys.executable} does not have: "
          "python3 -m venv DIR && DIR/bin/pip install duckdb, and set ALIGNCTL_PYTHON=DIR/bin/python3", file=sys.stderr)
    sys.exit(IO)


def rich(program: str) -> None:
    """Exit with a message if the library rich is missing, before minutes of runs in vain; load nothing of it."""
    if importlib.util.find_spec("rich"):
        return
    print(f"{program}: needs the Python library rich, which {sys.executable} does not have: "
          "apt-get install python3-rich installs it for the system's Python; if python3 is another "
          "one, put /usr/bin first in PATH", file=sys.stderr)
    sys.exit(IO)
