# SPDX-License-Identifier: GPL-2.0
"""Charts as inline SVG: no script, no external font, colours from the page's variables.

A chart is a set of small panels, one per workload, each drawn at about the size at which
the page shows it, so that the text stays readable when the panels stand below one another.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .results import MODES, Run
from .svg import CHARACTER, LINE, WIDTH, line, polyline, svg, text, text_width
from .table import duration, round_duration

LEFT = 66       # room for the row's name
RIGHT = 8
TOP = 10        # room for half a label
HEIGHT = 150    # of the drawing above an axis that all rows share
SHARES = (0, 0.25, 0.5, 0.75, 0.9, 1)


def bounded(latency: dict[str, Any]) -> list[tuple[float, int]]:
    """Return (upper bound in us, count) of a histogram's filled bins."""
    # A last bin without an upper bound ends at the largest latency seen.
    return [(upper or latency["max"], count) for upper, count in latency["histogram"] if count]


def round_values(low: float, high: float, steps: tuple[int, ...]) -> list[float]:
    """Return each of the steps times powers of ten, from `low` to `high`."""
    first = math.floor(math.log10(low)) if low > 0 else 0
    return [step * 10.0 ** power for power in range(first, math.ceil(math.log10(high)) + 1)
            for step in steps if low <= step * 10.0 ** power <= high]


def log_ticks(low: float, high: float) -> list[list[float]]:
    """Return choices of round values for a logarithmic axis, the finest first."""
    return [round_values(low, high, steps) for steps in ((1, 2, 5), (1, 5), (1,))]


def across(choices: Sequence[Sequence[float]], x_of: Callable[[float], float],
           name: Callable[[float], str]) -> list[tuple[float, float, str]]:
    """Choose ticks of a horizontal axis whose labels do not meet; return value, label's centre and label's text of each.

    Takes the first choice that fits; of the last one, the ticks that fit.
    """
    kept: list[tuple[float, float, str]] = []
    for choice in choices:
        kept = []
        for value in choice:
            half = text_width(name(value)) / 2
            centre = min(max(x_of(value), half), WIDTH - half)
            if not kept or centre - half >= kept[-1][1] + text_width(kept[-1][2]) / 2 + CHARACTER:
                kept.append((value, centre, name(value)))
        if len(kept) == len(choice):
            break
    return kept


def upward(choices: list[list[float]], y_of: Callable[[float], float]) -> list[float]:
    """Choose ticks of a vertical axis as across() does, from the bottom up; return their values."""
    kept: list[float] = []
    for choice in choices:
        kept = []
        for value in choice:
            if not kept or y_of(value) <= y_of(kept[-1]) - LINE:
                kept.append(value)
        if len(kept) == len(choice):
            break
    return kept


def cumulative(bins: Iterable[tuple[float, int]]) -> list[tuple[float, float]]:
    """Turn bins (upper bound, count) into rising points (latency in us, share of the requests that took no longer)."""
    merged: Counter[float] = Counter()
    for bound, count in bins:
        merged[bound] += count
    total, below, points = merged.total(), 0, []
    for bound in sorted(merged):
        below += merged[bound]
        points.append((bound, below / total))
    return points


@dataclass(frozen=True)
class Distribution:
    """A line of shares by latency.

    kind     class of the line
    points   of cumulative()
    p50 p99  in us, from the samples: the points are ends of bins, so are less exact
    """

    kind: str
    name: str
    points: list[tuple[float, float]]
    p50: float
    p99: float


def cumulative_panel(what: str, lines: list[Distribution]) -> str:
    """Draw the share of the requests by latency. what: name of the requests."""
    every = [us for each in lines for us, _ in each.points]
    low, high = max(min(every) / 2, 1), max(max(every), 2)
    scale = (WIDTH - LEFT - RIGHT) / math.log(high / low)

    def x_of(us: float) -> float:
        return LEFT + math.log(max(us, low) / low) * scale

    def y_of(share: float) -> float:
        return TOP + (1 - share) * HEIGHT

    parts = []
    for us, centre, name in across(log_ticks(low, high), x_of, round_duration):
        parts.append(line(x_of(us), y_of(1), x_of(us), y_of(0), "grid"))
        parts.append(text(centre, y_of(0) + LINE + 2, name, "tick", "middle"))
    for share in SHARES:
        parts.append(line(LEFT, y_of(share), WIDTH - RIGHT, y_of(share), "grid"))
        parts.append(text(LEFT - 6, y_of(share) + 4, f"{share:.0%}", "tick", "end"))
    for each in lines:
        # A step at the end of each bin: a histogram knows nothing finer.
        corners, share = [(x_of(low), y_of(0))], 0.0
        for us, above in each.points:
            corners += [(x_of(us), y_of(share)), (x_of(us), y_of(above))]
            share = above
        parts.append(polyline([*corners, (WIDTH - RIGHT, y_of(share))], f"curve {each.kind}"))
    said = "; ".join(f"{each.name}: p50 {duration(each.p50)}, p99 {duration(each.p99)}" for each in lines)
    return svg(TOP + HEIGHT + 22, f"Share of the {what} by latency. {said}", parts)


def in_mode_order(runs: list[Run]) -> list[Run]:
    return sorted(runs, key=lambda run: MODES.index(run.mode))
