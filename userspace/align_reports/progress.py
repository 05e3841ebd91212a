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

# Columns of a table that goes to no terminal.
TABLE_WIDTH = 190


class Progress:
    """Standard error, which a terminal shows through rich."""

    def __init__(self) -> None:
        self._console: Console | None = None
        if sys.stderr.isatty():
            from rich.console import Console
            self._console = Console(stderr=True)

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
    """Return a console for tables on standard output."""
    from rich.console import Console
    return Console(width=None if sys.stdout.isatty() else TABLE_WIDTH)
