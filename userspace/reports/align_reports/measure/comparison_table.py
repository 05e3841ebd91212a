# SPDX-License-Identifier: GPL-2.0
"""The comparison as one table: a line for each quantity, both devices side by side."""

from __future__ import annotations

from rich.table import Table

from ..verify.intervals import Interval
from .comparison import DRIVE, LEDGER, Line, Sample

NONE = "\u2013"


def figure(value: float) -> str:
    return f"{value:,.0f}".replace(",", "\u202f") if abs(value) >= 1000 else f"{value:.4g}"


def interval(one: Interval | None) -> str:
    """A mean and its interval."""
    if one is None:
        return NONE
    if one.low is None:
        return figure(one.mean)
    return f"{figure(one.mean)} [{figure(one.low)} to {figure(one.high)}]"


def counts(samples: list[Sample]) -> list[tuple[str, str]]:
    """What was counted during the runs on one device, by name: a figure, or from which to which."""
    rows = [("partial touches expected", [s.replay.get("touches_expected") for s in samples])]
    for index, name in enumerate(("reads", "writes")):
        rows.append((f"kernel: {name}", [s.requests and s.requests[index] for s in samples]))
    rows += [(f"dm-align: {name}", [s.ledger and s.ledger[name] for s in samples])
             for name in LEDGER]
    rows += [(f"drive: {name}", [s.drive and s.drive[name] for s in samples]) for name in DRIVE]
    return [(name, span(values)) for name, values in rows]


def label(line: Line, samples: list[Sample]) -> str:
    """Of a quantity's row: of requests that a clock starts, which time it is."""
    kind = " response" if line.unit == "us" and samples[0].clocked else ""
    return f"{line.name}{kind} {line.unit}"


def span(values: list[int | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return NONE
    low, high = min(known), max(known)
    return figure(low) if low == high else f"{figure(low)} to {figure(high)}"


def render(found: list[Line], samples: list[Sample], on: str, vs: str, title: str) -> Table:
    table = Table(title=title, title_justify="left", header_style="bold")
    table.add_column("")
    for heading in (on, vs, "ratio"):
        table.add_column(heading, justify="right", overflow="fold")
    table.add_column(f"on {on}", overflow="fold")
    for line in found:
        table.add_row(label(line, samples), interval(line.on), interval(line.vs),
                      interval(line.ratio), line.words)
    table.add_section()
    sides = [counts([s for s in samples if s.device == device]) for device in (on, vs)]
    for (name, one), (_, other) in zip(*sides, strict=True):
        if (one, other) != (NONE, NONE):
            table.add_row(name, one, other, "", "")
    return table
