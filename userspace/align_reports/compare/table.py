# SPDX-License-Identifier: GPL-2.0
"""The comparison as one table: a line for each quantity, both devices side by side."""

from __future__ import annotations

from rich.table import Table

from ..intervals import interval
from ..table import NONE, SHOWN, number
from .comparison import DRIVE, LEDGER, Line, Sample


def counts(samples: list[Sample]) -> list[tuple[str, str]]:
    """Return the counts of the runs on one device, by name: a figure, or a range."""
    rows = [("touches expected", [s.replay.get("touches_expected") for s in samples])]
    for index, name in enumerate(("reads", "writes")):
        rows.append((f"kernel: {name}", [s.requests and s.requests[index] for s in samples]))
    rows += [(f"dm-align: {name}", [s.ledger and s.ledger[name] for s in samples])
             for name in LEDGER]
    rows += [(f"drive: {name}", [s.drive and s.drive[name] for s in samples]) for name in DRIVE]
    return [(name, span(values)) for name, values in rows]


def label(line: Line, samples: list[Sample]) -> str:
    """Name a quantity's row: marks a response time where a clock starts requests, and a trace's value as a bin's end."""
    kind = " response" if line.unit == "us" and samples[0].clocked else ""
    # alignctl keeps the times of a trace in bins.
    most = " \u2264" if line.name.startswith("p") else ""
    return f"{line.name}{kind}{most}"


def span(values: list[int | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return NONE
    low, high = min(known), max(known)
    return number(low) if low == high else f"{number(low)} to {number(high)}"


def render(found: list[Line], samples: list[Sample], on: str, vs: str, title: str) -> Table:
    table = Table(title=title, title_justify="left", header_style="bold")
    table.add_column("")
    for heading in (on, vs, "ratio"):
        table.add_column(heading, justify="right", overflow="fold")
    table.add_column("words", overflow="fold")
    for line in found:
        shown = SHOWN[line.unit]
        table.add_row(label(line, samples), interval(line.on, shown), interval(line.vs, shown),
                      interval(line.ratio), line.words)
    table.add_section()
    sides = [counts([s for s in samples if s.device == device]) for device in (on, vs)]
    for (name, one), (_, other) in zip(*sides, strict=True):
        if (one, other) != (NONE, NONE):
            table.add_row(name, one, other, "", "")
    return table
