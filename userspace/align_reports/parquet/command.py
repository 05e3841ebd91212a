# SPDX-License-Identifier: GPL-2.0
"""`python3 .../align_reports parquet SET FILE... --output FOLDER`: a published set of traces as a folder of the layout.

alignctl itself runs `parquet read` and `parquet write`. Exit status: 2 for wrong arguments or content, 3 if the machine fails.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb

from align_reports import interrupt
from align_reports.document import visible
from align_reports.exit_status import FINE, IO, USAGE

from . import read as reading
from .database import reason_of, size_of
from .gather import gather, names
from .layout import Refused
from .write import write

PR_SET_PDEATHSIG = 1
MEMORY = "512MB"
DAMAGED = "the file is damaged; fetch it again, or write it anew"


def _end_with_parent() -> None:
    """Let the kernel end this process when alignctl has gone, which may be before a row is written."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let a signal raise Interrupted, also where DuckDB has made another exception of that."""
    try:
        with interrupt.allowed():
            yield
    except RuntimeError as error:
        if str(error) != "Query interrupted":
            raise
        raise interrupt.Interrupted(signal.SIGINT) from error


def _size(text: str) -> str:
    try:
        size_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


def arguments(argv: list[str]) -> argparse.Namespace:
    """Parse the arguments of a person."""
    parser = argparse.ArgumentParser(
        prog="align_reports parquet", description="Write a published set of block traces as Parquet, a file for each volume, "
        "sorted by time. DuckDB needs room on the disk of FOLDER, about as much as the uncompressed text.")
    parser.add_argument("set", choices=names(), help="whose format the files have")
    parser.add_argument("files", nargs="+", metavar="FILE", help="table of text, also .gz or .zst; - is standard input")
    parser.add_argument("--output", required=True, type=Path, metavar="FOLDER", help="the folder to create")
    parser.add_argument("--memory", default=MEMORY, type=_size, metavar="SIZE",
                        help=f"memory that DuckDB may use (default: {MEMORY})")
    return parser.parse_args(argv)


def _child(kind: str, operands: list[str]) -> int:
    """Read or write for alignctl, which repeats the last line of standard error after the name of the trace."""
    _end_with_parent()
    try:
        if kind == "read":
            interrupt.release()
            reading.read()
        else:
            rows, output = operands
            # so that its scratch files are removed
            with _interruptible():
                write(Path(rows), Path(output))
    except interrupt.Interrupted as interrupted:
        print(interrupted, file=sys.stderr)
        return interrupted.status
    except Refused as refused:
        print(visible(str(refused)), file=sys.stderr)
        return USAGE
    except duckdb.OutOfMemoryException as error:
        print(visible(reason_of(error)), file=sys.stderr)
        return IO
    except duckdb.Error as error:
        text = re.sub(r""" (for file |file )?["']/dev/stdin["']""", "", reason_of(error))
        status = IO if "errno" in str(error) or kind == "write" else USAGE
        print(visible(text if status == IO else f"{text}; {DAMAGED}"), file=sys.stderr)
        return status
    except OSError as error:
        print(visible(str(error)), file=sys.stderr)
        return IO
    return FINE


def main(argv: list[str]) -> int:
    if argv and argv[0] in ("read", "write"):
        return _child(argv[0], argv[1:])
    given = arguments(argv)
    output = Path(os.path.abspath(given.output))
    if os.path.lexists(output):
        print(f"align_reports parquet: {given.output}: exists and is not overwritten; name another folder", file=sys.stderr)
        return USAGE
    try:
        with _interruptible():
            done = gather(given.set, given.files, output, given.memory)
    except interrupt.Interrupted as interrupted:
        print(f"align_reports parquet: {interrupted}", file=sys.stderr)
        return interrupted.status
    except (Refused, duckdb.Error, OSError) as error:
        text = reason_of(error) if isinstance(error, duckdb.Error) else str(error)
        if isinstance(error, duckdb.OutOfMemoryException):
            text += "; allow more with --memory"
        print(f"align_reports parquet: {visible(text)}", file=sys.stderr)
        return IO if isinstance(error, OSError | duckdb.IOException | duckdb.OutOfMemoryException) else USAGE
    print(f"{done.rows} rows of {done.volumes} volumes are in {given.output}"
          + (f"; {done.no_length} have length 0, and make no request" if done.no_length else ""))
    return FINE
