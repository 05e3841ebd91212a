# SPDX-License-Identifier: GPL-2.0
"""Progress on standard error: a line for each step, and on a terminal what is going on.

rich takes half of a program's start, so it is loaded only where it draws something.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from .output import clock

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status
    from rich.table import Table

# Columns of a table that goes to no terminal.
TABLE_WIDTH = 190


class Progress:
    """Standard error, which a terminal shows through rich."""

    def __init__(self) -> None:
        self._console: Console | None = None
        if sys.stderr.isatty():
            from rich.console import Console
            self._console = Console(stderr=True, emoji=False)

    def say(self, line: str) -> None:
        if self._console:
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def running(self, what: str, left_s: float | None) -> Status | contextlib.nullcontext[None]:
        """Show on a terminal that `what` is in progress, with the time left if known."""
        if not self._console:
            return contextlib.nullcontext()
        from rich.markup import escape
        return self._console.status(escape(what) + (f", {clock(left_s)} left" if left_s is not None else ""))


def wide() -> Console:
    """Return a console for tables on standard output. It takes brackets and colons in names for what they are."""
    from rich.console import Console
    return Console(width=None if sys.stdout.isatty() else TABLE_WIDTH, markup=False, emoji=False, highlight=False)


def _letters(text: str) -> int:
    """Count the letters and digits of a text, which no line of a table is drawn with."""
    return sum(map(str.isalnum, text))


def show(out: Console, table: Table) -> None:
    """Print a table; where it would lose a letter, as a terminal is too narrow, each row as lines that name its values."""
    rows = list(zip(*([str(cell) for cell in column.cells] for column in table.columns), strict=True))
    names = [str(column.header) for column in table.columns]
    drawn = sum(_letters(segment.text) for line in out.render_lines(table, out.options) for segment in line)
    if drawn >= _letters("".join([str(table.title or ""), *names, *(cell for row in rows for cell in row)])):
        out.print(table)
        return
    parts = [str(table.title)] if table.title else []
    for row in rows:
        parts.append("\n".join(f"{name}: {cell}" if name else cell for name, cell in zip(names, row, strict=True) if cell))
    out.print("\n\n".join(parts), soft_wrap=True)
