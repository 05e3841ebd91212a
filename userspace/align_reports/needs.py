# SPDX-License-Identifier: GPL-2.0
"""The message for a missing Python library."""

from __future__ import annotations

import sys


def rich(program: str) -> str:
    return (f"{program}: needs the Python library rich, which {sys.executable} does not have: "
            "apt-get install python3-rich installs it for the system's Python; if python3 is another "
            "one, put /usr/bin first in PATH")
