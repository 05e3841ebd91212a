# SPDX-License-Identifier: GPL-2.0
"""What is said where a Python library that a program needs is missing."""

from __future__ import annotations

import sys


def rich(program: str) -> str:
    return (f"{program}: needs the Python library rich, which {sys.executable} does not have: "
            "apt-get install python3-rich gives it to the system's Python; if another one is "
            "asked, put /usr/bin first in PATH")
