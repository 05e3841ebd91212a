# SPDX-License-Identifier: GPL-2.0
"""Charts as inline SVG: no script, no external font, colours from the page's variables.

A chart is a set of small panels, one per workload, each drawn at about the size it is
shown at, so that the text stays readable when the page puts them below one another.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

from .results import MODES, Run
from .svg import WIDTH, line, polyline, svg, text
from .table import duration, milliseconds

LEFT = 66       # room for the row's name
RIGHT = 8
HEIGHT = 150    # of what stands above an axis that all rows share
SHARES = (0, 0.25, 0.5, 0.75, 0.9, 1)


def bounded(latency: dict[str, Any]) -> list[tuple[float, int]]:
    """(upper bound in us, count) of a histogram's bins."""
    # A last bin without an upper bound ends at the largest latency seen.
    return [(upper or latency["max"], count) for upper, count in latency["histogram"] if count]


def ticks_us(low: float, high: float) -> list[float]:
    """Round latencies inside the axis: decades, and 2 and 5 between them if there is room."""
    steps = (1,) if high / low > 300 else (1, 2, 5)
    return [step * 10.0 ** exponent for exponent in range(8) for step in steps
            if low * 1.1 <= step * 10.0 ** exponent <= high / 1.1]


def cumulative(bins: Iterable[tuple[float, int]]) -> list[tuple[float, float]]:
    """(latency in us, share of the requests that took no longer), rising; of (upper bound, count)."""
    merged: Counter[float] = Counter()
    for bound, count in bins:
        merged[bound] += count
    total, below, points = merged.total(), 0, []
    for bound in sorted(merged):
        below += merged[bound]
        points.append((bound, below / total))
    return points


def cumulative_panel(what: str, lines: list[tuple[str, str, list[tuple[float, float]]]]) -> str:
    """Share of the requests by latency. what: they are; lines: (class, name, cumulative())."""
    every = [us for _, _, points in lines for us, _ in points]
    low, high = max(min(every) / 2, 1), max(max(every), 2)
    scale = (WIDTH - LEFT - RIGHT) / math.log(high / low)

    def x_of(us: float) -> float:
        return LEFT + math.log(max(us, low) / low) * scale

    def y_of(share: float) -> float:
        return 4 + (1 - share) * HEIGHT

    parts = []
    # Half a label must fit beside the last one.
    for us in ticks_us(low, high / 1.3):
        parts.append(line(x_of(us), y_of(1), x_of(us), y_of(0), "grid"))
        parts.append(text(x_of(us), y_of(0) + 14, duration(us), "tick", "middle"))
    for share in SHARES:
        parts.append(line(LEFT, y_of(share), WIDTH - RIGHT, y_of(share), "grid"))
        parts.append(text(LEFT - 6, y_of(share) + 4, f"{share:.0%}", "tick", "end"))
    for kind, _, points in lines:
        # A step at the end of each bin: what is inside is not known any finer.
        corners, share = [(x_of(low), y_of(0))], 0.0
        for us, above in points:
            corners += [(x_of(us), y_of(share)), (x_of(us), y_of(above))]
            share = above
        parts.append(polyline([*corners, (WIDTH - RIGHT, y_of(share))], f"curve {kind}"))
    said = "; ".join(f"{name}: half within {milliseconds(_at(points, 0.5))} ms, 99 % within "
                     f"{milliseconds(_at(points, 0.99))} ms" for _, name, points in lines)
    return svg(HEIGHT + 24, f"Share of the {what} by latency. {said}", parts)


def _at(points: list[tuple[float, float]], share: float) -> float:
    return next(us for us, below in points if below >= share - 1e-9)


def in_mode_order(runs: list[Run]) -> list[Run]:
    return sorted(runs, key=lambda run: MODES.index(run.mode))
