# SPDX-License-Identifier: GPL-2.0
"""The blocks of the documents that a program prints, which `make bench-drive DOCUMENTS=1` writes anew."""

from __future__ import annotations

import argparse
import io
import re
from pathlib import Path

from rich.console import Console
from rich.table import Table

from align_reports.progress import TABLE_WIDTH

from ..paths import REPO

PROBE = REPO / "Documentation/admin/probe.rst"


def parser(about: str | None) -> argparse.ArgumentParser:
    """Return a parser for such a program, `about` in its help; it knows --document."""
    made = argparse.ArgumentParser(description=about)
    made.add_argument("--document", action="store_true", help=f"write what is printed into {PROBE.name}, too")
    return made


def _place(program: str) -> re.Pattern[str]:
    """Return a pattern of the lines that a program prints into a document."""
    before = f"\n.. The next block is by {program}; make bench-drive DOCUMENTS=1 writes it.\n\n::\n\n"
    return re.compile(rf"(?<={re.escape(before)})(?:(?:  .*)?\n)*?(?=\n\S)")


def printed(document: Path, program: str) -> list[str]:
    """Return the lines that a program has printed into a document; none if it has no place for them. Raises OSError."""
    found = _place(program).search(document.read_text())
    return [line.removeprefix("  ") for line in found[0].splitlines()] if found else []


def with_block(text: str, program: str, printed: str) -> str:
    """Return a document with what a program prints. Raises ValueError if it has no place for it, or several."""
    block = "".join(f"  {line}".rstrip() + "\n" for line in printed.strip("\n").splitlines())
    text, places = _place(program).subn(lambda _: block, text)
    if places != 1:
        raise ValueError(f"{places} places for what {program} prints, not 1; put back the comment that names it and DOCUMENTS=1")
    return text


def write(document: Path, program: str, printed: str) -> None:
    """Put what a program prints into a document. Raises OSError, ValueError."""
    try:
        text = with_block(document.read_text(), program, printed)
    except ValueError as error:
        raise ValueError(f"{document.name}: {error}") from None
    document.write_text(text)


def plain(table: Table) -> str:
    """Return a table as it is printed to a file."""
    out = io.StringIO()
    Console(file=out, width=TABLE_WIDTH).print(table)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())
