# SPDX-License-Identifier: GPL-2.0
"""The command line of a program that makes a picture of a dashboard, and its exit status."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from align_reports import folder

from ..machines import remote
from ..paths import OUT, REPO

FINE, BROKEN = 0, 2


def picture(name: str) -> Path:
    """Return the file of a picture among the documents."""
    return REPO / f"Documentation/admin/{name}.svg"


def arguments(argv: list[str], module: str, purpose: str | None, name: str, seconds: float, which: str) -> argparse.Namespace:
    """Parse the arguments of the program module, of which the picture and the folder for a run have the name; which loads
    have the seconds."""
    file = picture(name)
    parser = argparse.ArgumentParser(prog=module, description=purpose, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=seconds, metavar="N",
                        help=f"length of the {which} (default: {seconds})")
    parser.add_argument("--out", type=Path, default=OUT / name, metavar="DIR",
                        help=f"folder for answers, logs and Prometheus' data (default: out/{name})")
    parser.add_argument("--picture", type=Path, default=file, metavar="FILE",
                        help=f"the SVG (default: {file.relative_to(REPO)})")
    parser.add_argument("--again", action="store_true", help="draw the answers of the last run, without a run")
    return parser.parse_args(argv)


def made(given: argparse.Namespace, name: str, make: Callable[[argparse.Namespace], int]) -> int:
    """Make the picture while no other program uses the folder. Return: the exit status; a failure has been reported."""
    try:
        with folder.exclusive(given.out):
            return make(given)
    except (folder.InUse, remote.GuestError, RuntimeError, OSError, ValueError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return BROKEN
