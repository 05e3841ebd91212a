# SPDX-License-Identifier: GPL-2.0
"""The results of a method as one HTML page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..charts import LEFT, RIGHT, across, log_ticks, upward
from ..page import definitions, document, figures, panel, said
from ..svg import WIDTH, line, polyline, rect, svg, text
from ..table import duration, number, rate, round_duration, size_name
from .fits import percentile
from .found import Curve, Found, Scatter

HEIGHT = 170
COLOURS = """
svg .curve { fill: none; stroke: var(--pad); stroke-width: 1.8; }
svg .point { fill: var(--pad); }
svg .best { fill: var(--raw); }
"""


def x_ticks(curve: Curve) -> list[list[float]]:
    """Return choices of ticks, the finest first: the measured sizes, or else round values."""
    if curve.x_unit != "bytes":
        return log_ticks(curve.points[0][0], curve.points[-1][0])
    values = [x for x, _ in curve.points]
    return [values[::step] for step in (1, 2, 3, 5)]


def shown(picture: Curve | Scatter, value: float) -> str:
    """Format a value of a picture with its unit."""
    return duration(value) if picture.unit == "us" else f"{rate(value)} {picture.unit}"


def line_panel(curve: Curve) -> str:
    """Draw the line of one figure, both axes logarithmic."""
    xs, ys = [x for x, _ in curve.points], [y for _, y in curve.points]
    low, high = min(ys) / 1.5, max(ys) * 1.5
    scale = (WIDTH - LEFT - RIGHT - 16) / math.log(max(max(xs) / min(xs), 1.0001))

    def x_of(x: float) -> float:
        return LEFT + 8 + math.log(x / min(xs)) * scale

    def y_of(y: float) -> float:
        return 6 + HEIGHT - math.log(y / low) / math.log(high / low) * HEIGHT

    parts = []
    for y in upward(log_ticks(low, high), y_of):
        parts.append(line(LEFT, y_of(y), WIDTH - RIGHT, y_of(y), "grid"))
        parts.append(text(LEFT - 6, y_of(y) + 4, round_duration(y) if curve.unit == "us" else rate(y),
                          "tick", "end"))
    for x, centre, name in across(x_ticks(curve), x_of, size_name if curve.x_unit == "bytes" else "{:g}".format):
        parts.append(line(x_of(x), 6, x_of(x), HEIGHT + 6, "grid"))
        parts.append(text(centre, HEIGHT + 20, name, "tick", "middle"))
    parts.append(polyline([(x_of(x), y_of(y)) for x, y in curve.points], "curve"))
    for x, y in curve.points:
        kind = "best" if x == curve.mark else "point"
        size = 3.5 if x == curve.mark else 2
        name = size_name(x) if curve.x_unit == "bytes" else f"{curve.x_unit} {x:g}"
        parts.append(rect(x_of(x) - size, y_of(y) - size, 2 * size, 2 * size, kind,
                          f"{name}: {shown(curve, y)}"))
    said = (f"{curve.title} by {curve.x_unit}: from {shown(curve, ys[0])} to {shown(curve, ys[-1])}, "
            f"at most {shown(curve, max(ys))}")
    return svg(HEIGHT + 28, said, parts)


def scatter(plot: Scatter) -> str:
    """Draw the points of one figure, both axes linear and from 0."""
    return svg(HEIGHT + 28, f"{plot.title} by {plot.x_unit}: {len(plot.points)} points, at most "
               f"{shown(plot, max(y for _, y in plot.points))}", points(plot))


def points(plot: Scatter) -> list[str]:
    """Return the pieces of a drawing of points."""
    most = max(x for x, _ in plot.points) or 1
    # outliers are drawn at the edge
    high = min(max(y for _, y in plot.points),
               3 * percentile([y for _, y in plot.points], 99)) or 1
    width = WIDTH - LEFT - RIGHT
    parts = []
    for quarter in range(5):
        x, y = LEFT + width * quarter / 4, 6 + HEIGHT * (1 - quarter / 4)
        parts.append(line(LEFT, y, WIDTH - RIGHT, y, "grid"))
        parts.append(text(LEFT - 6, y + 4, shown(plot, high * quarter / 4), "tick", "end"))
    quarters = [most * quarter / 4 for quarter in range(5)]
    for _, centre, name in across([quarters, quarters[::2]], lambda x: LEFT + x / most * width,
                                  size_name if plot.x_unit.startswith("bytes") else number):
        parts.append(text(centre, HEIGHT + 20, name, "tick", "middle"))
    for x, y in plot.points:
        parts.append(rect(LEFT + x / most * width - 1,
                          6 + HEIGHT * (1 - min(y / high, 1)) - 1, 2, 2, "point"))
    return parts


DRAW: dict[type, Callable[[Any], str]] = {Curve: line_panel, Scatter: scatter}


def render(method: str, device: str, found: Found, machine: dict[str, str],
           stopped: str | None) -> str:
    """Return the page. stopped: why the runs ended early, if they did."""
    panels = "".join(panel(curve.title if curve.unit == "us" else f"{curve.title}, {curve.unit}",
                           DRAW[type(curve)](curve))
                     for curve in found.curves)
    return document(f"{method} on {device}", f"""\
{said(found.words, stopped)}
<div class="panels">{panels}</div>
<h2>Every figure</h2>
{figures(found.table)}
{definitions("How it was measured", machine.items())}""", COLOURS)
