# SPDX-License-Identifier: GPL-2.0
"""What a method found as one HTML page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from html import escape
from typing import Any

from rich.table import Table

from ..charts import LEFT, RIGHT
from ..page import definitions, document, panel
from ..svg import WIDTH, line, polyline, rect, svg, text
from .methods import Curve, Found, Scatter, size_name
from .models import percentile

HEIGHT = 170
COLOURS = """
svg .curve { fill: none; stroke: var(--pad); stroke-width: 1.8; }
svg .point { fill: var(--pad); }
svg .best { fill: var(--raw); }
"""


def round_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten from `low` to `high`."""
    first = math.floor(math.log10(low)) if low > 0 else 0
    return [step * 10.0 ** power for power in range(first, math.ceil(math.log10(high)) + 1)
            for step in (1, 2, 5) if low <= step * 10.0 ** power <= high]


def x_ticks(curve: Curve) -> list[tuple[float, str]]:
    """At most about seven, of round values."""
    low, high = curve.points[0][0], curve.points[-1][0]
    if curve.x_unit == "bytes":
        values = [x for x, _ in curve.points]
        return [(x, size_name(int(x))) for x in values[::max(len(values) // 5, 1)]]
    return [(x, f"{x:g}") for x in round_ticks(low, high)]


def line_panel(curve: Curve) -> str:
    """The line of one figure, both axes logarithmic."""
    xs, ys = [x for x, _ in curve.points], [y for _, y in curve.points]
    low, high = min(ys) / 1.5, max(ys) * 1.5
    across = math.log(max(max(xs) / min(xs), 1.0001))
    scale = (WIDTH - LEFT - RIGHT - 16) / across

    def x_of(x: float) -> float:
        return LEFT + 8 + math.log(x / min(xs)) * scale

    def y_of(y: float) -> float:
        return 6 + HEIGHT - math.log(y / low) / math.log(high / low) * HEIGHT

    parts = []
    for y in round_ticks(low, high):
        parts.append(line(LEFT, y_of(y), WIDTH - RIGHT, y_of(y), "grid"))
        parts.append(text(LEFT - 6, y_of(y) + 4, f"{y:,.6g}".replace(",", "\u202f"), "tick", "end"))
    for x, name in x_ticks(curve):
        parts.append(line(x_of(x), 6, x_of(x), HEIGHT + 6, "grid"))
        parts.append(text(x_of(x), HEIGHT + 20, name, "tick", "end" if x == xs[-1] else "middle"))
    parts.append(polyline([(x_of(x), y_of(y)) for x, y in curve.points], "curve"))
    for x, y in curve.points:
        kind = "best" if x == curve.mark else "point"
        size = 3.5 if x == curve.mark else 2
        name = size_name(int(x)) if curve.x_unit == "bytes" else f"{curve.x_unit} {x:g}"
        parts.append(rect(x_of(x) - size, y_of(y) - size, 2 * size, 2 * size, kind,
                          f"{name}: {y:.4g} {curve.unit}"))
    said = (f"{curve.title} in {curve.unit} by {curve.x_unit}: from {ys[0]:.4g} to {ys[-1]:.4g}, "
            f"at most {max(ys):.4g}")
    return svg(HEIGHT + 28, said, parts)


def scatter(plot: Scatter) -> str:
    """The points of one figure, both axes linear and from 0."""
    across = max(x for x, _ in plot.points) or 1
    # what took far longer than nearly all others is shown at the edge
    high = min(max(y for _, y in plot.points),
               3 * percentile([y for _, y in plot.points], 99)) or 1
    width = WIDTH - LEFT - RIGHT
    parts = []
    for quarter in range(5):
        x, y = LEFT + width * quarter / 4, 6 + HEIGHT * (1 - quarter / 4)
        parts.append(line(LEFT, y, WIDTH - RIGHT, y, "grid"))
        parts.append(text(LEFT - 6, y + 4, f"{high * quarter / 4:.4g}", "tick", "end"))
        parts.append(text(x, HEIGHT + 20, f"{across * quarter / 4:.3g}", "tick",
                          ("start", "middle", "middle", "middle", "end")[quarter]))
    for x, y in plot.points:
        parts.append(rect(LEFT + x / across * width - 1,
                          6 + HEIGHT * (1 - min(y / high, 1)) - 1, 2, 2, "point"))
    return svg(HEIGHT + 28, f"{plot.title} in {plot.unit} by {plot.x_unit}: {len(plot.points)} "
               f"points, at most {max(y for _, y in plot.points):.4g}", parts)


def figures(table: Table) -> str:
    """The table of the terminal."""
    head = "".join(f"<th>{escape(str(column.header))}</th>" for column in table.columns)
    cells = zip(*(list(column.cells) for column in table.columns), strict=True)
    rows = "".join("<tr>" + "".join(
        f'<td data-heading="{escape(str(column.header))}">{escape(str(cell))}</td>'
        for column, cell in zip(table.columns, row, strict=True)) + "</tr>" for row in cells)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def said(sentences: Iterable[str], stopped: str | None, bad: bool = False) -> str:
    """What was found, first of all. stopped: why the runs ended early, if they did."""
    words = [*([f"Stopped: {stopped}."] if stopped else []), *sentences]
    return (f'<div class="verdict{" bad" if stopped or bad else ""}"><ul>'
            + "".join(f"<li>{escape(each)}</li>" for each in words) + "</ul></div>")


DRAW: dict[type, Callable[[Any], str]] = {Curve: line_panel, Scatter: scatter}


def render(method: str, device: str, found: Found, machine: dict[str, str],
           stopped: str | None) -> str:
    """The page. stopped: why the runs ended early, if they did."""
    panels = "".join(panel(f"{curve.title}, {curve.unit}", DRAW[type(curve)](curve))
                     for curve in found.curves)
    return document(f"{method} on {device}", f"""\
{said(found.words, stopped)}
<div class="panels">{panels}</div>
<h2>Every figure</h2>
{figures(found.table)}
{definitions("How it was measured", machine.items())}""", COLOURS)
