# SPDX-License-Identifier: GPL-2.0
"""The picture of the dashboard: each panel as a small chart of its queries' results, all in one SVG.

The colours are those of the reports' pages on white paper, written out, so that the picture is the same in every viewer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from textwrap import wrap

from align_reports.charts import LEFT, RIGHT, across, upward
from align_reports.page import STYLE
from align_reports.svg import CHARACTER, LINE, WIDTH, line, polygon, polyline, rect, text, text_width
from align_reports.table import duration, rate, size_name

from .panels import Frame

Points = list[tuple[float, float]]

# The second set of the page's colours is for dark screens.
COLOURS = dict(re.findall(r"--(\w+): (#\w+);", STYLE.partition("@media")[0]))
# Of the lines of a panel, one after the other.
LINES = ("pad", "raw", "coalesce", "report", "bad", "host")
MARGIN, GAP = 12, 20
TITLE, STRIP, PLOT, AXIS = 14, 16, 120, 18  # heights of a panel's parts
SWATCH = 14
HOUR = 3600.0


def counts(value: float) -> str:
    """Format counts a second, as Grafana does: 500K c/s."""
    for power, letter in ((6, "M"), (3, "K")):
        if abs(value) >= 10 ** power:
            return f"{value / 10 ** power:.4g}{letter} c/s"
    return f"{value:.4g} c/s"


def seconds(value: float) -> str:
    """Format a time; from an hour on in hours."""
    if abs(value) >= HOUR:
        return f"{value / HOUR:.4g} h"
    return duration(1e6 * value, "{:.4g}".format) if value else "0 s"


# Grafana's units: how a value is shown at the axis.
UNITS: dict[str, Callable[[float], str]] = {
    "cps": counts,
    "percentunit": lambda value: f"{100 * value:.4g}%",
    "s": seconds,
    "bytes": size_name,
    "none": rate,
    "short": rate,
}


@dataclass(frozen=True)
class Curve:
    """A series of a panel. points: (seconds from the picture's begin, value), without those that are no number."""

    legend: str
    points: Points


@dataclass(frozen=True)
class Chart(Frame):
    """A panel with its series. step: seconds from a point to the next one, where none is missing."""

    step: float
    curves: Sequence[Curve]


@dataclass(frozen=True)
class Stretch:
    """A time with a name, as that of a mode, in seconds from the picture's begin."""

    name: str
    begin: float
    end: float


def linear_ticks(low: float, high: float, base: float = 1) -> list[list[float]]:
    """Return choices of values for a linear axis, the finest first: round ones, as multiples of `base`."""
    power = math.floor(math.log10((high - low) / base))
    steps = [step * base * 10.0 ** exponent for exponent in (power - 1, power) for step in (1, 2, 5)]
    return [[count * step for count in range(math.ceil(low / step), math.floor(high / step) + 1)] for step in steps]


def base_of(unit: str, high: float) -> float:
    """Return the factor in which the values of an axis are shown: of bytes, a power of 1024; of long times, an hour."""
    if unit == "bytes":
        return 1024.0 ** max(math.floor(math.log(high, 1024)), 0)
    return HOUR if unit == "s" and high >= HOUR else 1


def clock(seconds: float) -> str:
    return f"{seconds / 60:g} min"


def lines_of(words: Iterable[str], width: float) -> list[list[str]]:
    """Break entries into lines; each entry has a swatch's width before it."""
    lines: list[list[str]] = []
    at = math.inf
    for entry in words:
        size = SWATCH + text_width(entry) + CHARACTER
        if at + size > width:
            lines.append([])
            at = 0
        lines[-1].append(entry)
        at += size
    return lines


def unbroken(points: Points, step: float) -> list[Points]:
    """Cut a series where points are missing."""
    parts: list[Points] = [points[:1]]
    for before, point in pairwise(points):
        if point[0] - before[0] > 1.5 * step:
            parts.append([])
        parts[-1].append(point)
    return [part for part in parts if part]


def stacked(curves: Sequence[Curve]) -> list[tuple[Points, Points]]:
    """Return the lower and upper edge of each curve, on top of the curves before."""
    times = sorted({at for curve in curves for at, _ in curve.points})
    below = dict.fromkeys(times, 0.0)
    edges = []
    for curve in curves:
        values = dict(curve.points)
        above = {at: below[at] + values.get(at, 0) for at in times}
        edges.append((list(below.items()), list(above.items())))
        below = above
    return edges


def legend(curves: Sequence[Curve], still: Sequence[Curve], top: float) -> tuple[list[str], float]:
    """Draw the names of the curves, and of those that are 0 all the time; return the parts, and the legend's end."""
    parts, colour = [], iter(LINES)
    for entries in lines_of([curve.legend for curve in curves], WIDTH):
        x = 0.0
        for entry in entries:
            parts.append(rect(x, top - 9, 10, 10, f"key {next(colour)}"))
            parts.append(text(x + SWATCH, top, entry))
            x += SWATCH + text_width(entry) + CHARACTER
        top += LINE
    # Without the device's name, which the other entries have.
    names = "; ".join(curve.legend.partition(": ")[2] or curve.legend for curve in still)
    for words in wrap(f"always 0: {names}", int(WIDTH / CHARACTER)) if still else []:
        parts.append(text(0, top, words, "tick"))
        top += LINE
    return parts, top


def chart(panel: Chart, stretches: Sequence[Stretch], span: float) -> tuple[list[str], float]:
    """Draw a panel; return the parts, and its height. span: seconds of the axis of time."""
    moving = [curve for curve in panel.curves if any(value for _, value in curve.points)]
    still = [curve for curve in panel.curves if curve not in moving]
    if len(moving) > len(LINES):
        raise ValueError(f"{panel.title}: {len(moving)} lines, and colours for {len(LINES)}")
    edges = stacked(moving) if panel.stacked else [([], curve.points) for curve in moving]
    values = [value for _, upper in edges for _, value in upper]
    high = max([*values, 0]) * 1.05 or 1
    low = min([*values, 0]) * 1.05 if panel.least is None else panel.least
    top = TITLE + STRIP
    scale = (WIDTH - LEFT - RIGHT) / span

    def x_of(seconds: float) -> float:
        return LEFT + seconds * scale

    def y_of(value: float) -> float:
        return top + (high - max(value, low)) / (high - low) * PLOT

    name = UNITS[panel.unit]
    parts = [text(0, TITLE - 3, panel.title, "name")]
    for stretch in stretches:
        parts.append(rect(x_of(stretch.begin), top, (stretch.end - stretch.begin) * scale, PLOT, "stretch"))
        parts.append(text(x_of((stretch.begin + stretch.end) / 2), top - 4, stretch.name, "tick", "middle"))
    # Fewer ticks than the axis has room for.
    for value in upward(linear_ticks(low, high, base_of(panel.unit, high)), lambda value: y_of(value) / 1.7):
        parts.append(line(LEFT, y_of(value), WIDTH - RIGHT, y_of(value), "axis" if not value else "grid"))
        parts.append(text(LEFT - 6, y_of(value) + 4, name(value), "tick", "end"))
    minutes = [[minute * 60.0 for minute in range(0, int(span / 60) + 1, step)] for step in (1, 2, 5, 10, 30)]
    for at, centre, words in across(minutes, x_of, clock):
        parts.append(line(x_of(at), top + PLOT, x_of(at), top + PLOT + 3, "axis"))
        parts.append(text(centre, top + PLOT + LINE + 2, words, "tick", "middle"))
    for (lower, upper), kind in zip(edges, LINES):
        if panel.stacked:
            corners = [(x_of(at), y_of(value)) for at, value in [*upper, *reversed(lower)]]
            parts.append(polygon(corners, f"band {kind}"))
        for part in unbroken(upper, panel.step):
            if len(part) == 1:
                # A point alone is a short line.
                [(at, value)] = part
                part = [(at - panel.step / 4, value), (at + panel.step / 4, value)]
            parts.append(polyline([(x_of(at), y_of(value)) for at, value in part], f"curve {kind}"))
    more, end = legend(moving, still, top + PLOT + AXIS + LINE)
    return [*parts, *more], end - 4


def style() -> str:
    kinds = "".join(f".{kind} {{ stroke: {COLOURS[kind]}; fill: {COLOURS[kind]}; }} " for kind in LINES)
    return (f"text {{ fill: {COLOURS['ink']}; font: 11px system-ui, sans-serif; }} .tick {{ fill: {COLOURS['soft']}; }} "
            f".name {{ font-weight: 600; }} .grid {{ stroke: {COLOURS['rule']}; }} .axis {{ stroke: {COLOURS['soft']}; }} "
            f".paper {{ fill: {COLOURS['paper']}; }} .stretch {{ fill: {COLOURS['panel']}; }} {kinds}"
            ".curve { fill: none; stroke-width: 1.8; stroke-linejoin: round; } "
            ".band { stroke: none; fill-opacity: .2; } .key { stroke: none; }")


def draw(charts: Sequence[Chart], stretches: Sequence[Stretch], span: float, said: str) -> str:
    """Return the SVG: the panels in rows and columns as on the dashboard. said: what the picture is, in words."""
    columns = sorted({each.x for each in charts})
    top, rows = float(MARGIN), []
    for y in sorted({each.y for each in charts}):
        height = 0.0
        for each in (each for each in charts if each.y == y):
            parts, needed = chart(each, stretches, span)
            x = MARGIN + columns.index(each.x) * (WIDTH + GAP)
            rows.append(f'<g transform="translate({x} {top:.1f})">{"".join(parts)}</g>')
            height = max(height, needed)
        top += height + GAP
    width, height = 2 * MARGIN + len(columns) * WIDTH + (len(columns) - 1) * GAP, top - GAP + MARGIN
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-label="{escape(said)}">',
        "<!-- SPDX-License-Identifier: GPL-2.0 -->", f"<title>{escape(said)}</title>", f"<style>{style()}</style>",
        rect(0, 0, width, height, "paper"), *rows, "</svg>", ""])
