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
from .svg import WIDTH, line, polyline, rect, svg, text
from .table import milliseconds, number

LEFT = 66       # room for the row's name
RIGHT = 8
PER_OCTAVE = 4  # latency bins drawn in each doubling
HEIGHT = 150    # of what stands above an axis that all rows share
SHARES = (0, 0.25, 0.5, 0.75, 0.9, 1)


def _bin_of(upper_us: float) -> int:
    """The drawn bin that a histogram bin with this upper bound falls into."""
    return math.ceil(PER_OCTAVE * math.log2(upper_us) - 1e-9)


def bounded(latency: dict[str, Any]) -> list[tuple[float, int]]:
    """(upper bound in us, count) of a histogram's bins."""
    # A last bin without an upper bound ends at the largest latency seen.
    return [(upper or latency["max"], count) for upper, count in latency["histogram"] if count]


def shares(run: Run) -> dict[int, float]:
    """Share of a run's writes in each drawn latency bin; the shares add up to 1."""
    bins: dict[int, float] = {}
    histogram = bounded(run.latency)
    total = sum(count for _, count in histogram)
    for bound, count in histogram:
        index = _bin_of(max(bound, 1))
        bins[index] = bins.get(index, 0) + count / total
    return bins


def latency_span(runs: list[Run]) -> tuple[int, int]:
    """First and last drawn bin of all the runs, so that their panels share one axis."""
    used = [index for run in runs for index in shares(run)]
    if not used:
        return 0, PER_OCTAVE
    return min(used) - 1, max(used) + 1


def duration(us: float) -> str:
    """A round latency with its unit: 500 µs, 20 ms, 1 s."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= size:
            return f"{us / size:g} {unit}"
    return f"{us:g} \u00b5s"


def ticks_us(low: float, high: float) -> list[float]:
    """Round latencies inside the axis: decades, and 2 and 5 between them if there is room."""
    steps = (1,) if high / low > 300 else (1, 2, 5)
    return [step * 10.0 ** exponent for exponent in range(8) for step in steps
            if low * 1.1 <= step * 10.0 ** exponent <= high / 1.1]


def latency_panel(runs: list[Run], span: tuple[int, int]) -> str:
    """Latency distributions of one workload: a row for each mode, on one logarithmic axis.

    runs: the workload's runs, any subset of the modes. span: from latency_span().
    """
    first, last = span
    row, gap, top = 42, 20, 2
    scale = (WIDTH - LEFT - RIGHT) / (last - first + 1)

    def x_of(us: float) -> float:
        return LEFT + (PER_OCTAVE * math.log2(max(us, 1)) - first + 1) * scale

    tallest = max((max(shares(run).values(), default=0) for run in runs), default=0) or 1
    bottom = top + len(runs) * (row + gap)
    parts = []
    for us in ticks_us(2 ** ((first - 1) / PER_OCTAVE), 2 ** (last / PER_OCTAVE)):
        parts.append(line(x_of(us), top, x_of(us), bottom, "grid"))
        parts.append(text(x_of(us), bottom + 14, duration(us), "tick", "middle"))
    for i, run in enumerate(runs):
        base = top + i * (row + gap) + gap + row
        mean, p99 = run.latency["mean"], run.latency["p99"]
        note = f"mean {milliseconds(mean)} ms, p99 {milliseconds(p99)} ms"
        for index, share in sorted(shares(run).items()):
            height = share / tallest * row
            upper = milliseconds(2 ** (index / PER_OCTAVE))
            lower = milliseconds(2 ** ((index - 1) / PER_OCTAVE))
            parts.append(rect(LEFT + (index - first) * scale, base - height,
                               scale - 0.6, height, f"bar {run.mode}",
                               f"{share:.1%} took {lower} to {upper} ms"))
        parts.append(line(LEFT, base, WIDTH - RIGHT, base, "axis"))
        parts.append(line(x_of(mean), base - row, x_of(mean), base, "mean"))
        parts.append(text(LEFT - 6, base - 2, run.mode, "name", "end"))
        parts.append(text(WIDTH - RIGHT, base - row - 6, note, "note", "end"))
    label = "Latency of a write: " + "; ".join(
        f"{run.mode} mean {milliseconds(run.latency['mean'])} ms, "
        f"p99 {milliseconds(run.latency['p99'])} ms" for run in runs)
    return svg(bottom + 20, label, parts)


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


def rmw_panel(runs: list[Run]) -> str:
    """Who did the read-modify-writes of one workload, per write issued.

    For each mode: an outline as long as the partial touches that the drive received, in it
    the RMWs that the drive did, and beside them the block reads that dm-align made instead.
    The axis ends at 2 touches per write, the most that a write can have.
    """
    row, gap, top = 20, 24, 2
    unit = (WIDTH - LEFT - RIGHT) / 2
    bottom = top + len(runs) * (row + gap)
    parts = []
    for per_write in (0, 0.5, 1, 1.5, 2):
        x = LEFT + per_write * unit
        anchor = "end" if per_write == 2 else "middle"
        parts.append(line(x, top, x, bottom, "grid"))
        parts.append(text(x, bottom + 14, f"{per_write:g}", "tick", anchor))
    said = []
    for i, run in enumerate(runs):
        base = top + i * (row + gap) + gap
        touched, rmws = run.drive["touches"], run.drive["rmws"]
        host = run.ledger["rmw_host"] if run.ledger else 0
        note = f"{number(touched)} touches, {number(rmws)} RMWs by the drive"
        if run.mode in ("pad", "coalesce"):
            note += f", {number(host)} by dm-align"
        said.append(f"{run.mode}: {note}")
        per_write = unit / run.requests
        parts.append(rect(LEFT, base, touched * per_write, row, "touch", note))
        parts.append(rect(LEFT, base + 4, rmws * per_write, row - 8, f"bar {run.mode}", note))
        parts.append(rect(LEFT + max(touched, rmws) * per_write, base + 4, host * per_write,
                           row - 8, "bar host", note))
        parts.append(text(LEFT - 6, base + row / 2 + 4, run.mode, "name", "end"))
        parts.append(text(WIDTH - RIGHT, base - 7, note, "note", "end"))
    parts.append(line(LEFT, top, LEFT, bottom, "axis"))
    return svg(bottom + 20, "Read-modify-writes: " + "; ".join(said), parts)


def in_mode_order(runs: list[Run]) -> list[Run]:
    return sorted(runs, key=lambda run: MODES.index(run.mode))
