# SPDX-License-Identifier: GPL-2.0
"""The result as one table: a line for each quantity, with each mode, and each beside the first one."""

from __future__ import annotations

from rich.table import Table

from ..intervals import interval
from ..table import NONE
from .experiment import Sample
from .figures import NO_DIFFERENCE, QUANTITIES, Quantity, change, figure, ranges

# As the table names the units.
UNITS = {"us": "", "1/s": "/s", "1/touch": " per touch", "1/1000 writes": " per 1000 writes"}


def label(quantity: Quantity) -> str:
    """Name a quantity's row; a percentile is the upper end of its bin."""
    most = " <" if quantity.name.endswith("p99") else ""
    return f"{quantity.name.replace('_', ' ')}{UNITS[quantity.unit]}{most}"


def headings(modes: list[str]) -> list[str]:
    return ["", *modes, *(f"{mode} beside {modes[0]}" for mode in modes[1:])]


def rows(samples: list[Sample], modes: list[str]) -> list[list[str]]:
    made = []
    for quantity in QUANTITIES:
        of = [figure(samples, mode, quantity).interval for mode in modes]
        row = [label(quantity), *(interval(each, quantity.show) if each else NONE for each in of)]
        for mode in modes[1:]:
            found = change(samples, mode, modes[0], quantity)
            # The words of a difference have its interval.
            row.append(f"{found.words}: {ranges(found.by, quantity)}" if found.words == NO_DIFFERENCE else found.words)
        made.append(row)
    return made


def render(samples: list[Sample], modes: list[str], title: str) -> Table:
    table = Table(title=title, title_justify="left", header_style="bold")
    for at, heading in enumerate(headings(modes)):
        table.add_column(heading, justify="right" if 0 < at <= len(modes) else "left", overflow="fold")
    for row in rows(samples, modes):
        table.add_row(*row)
    return table
