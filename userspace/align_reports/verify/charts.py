# SPDX-License-Identifier: GPL-2.0
"""The pictures of a verification: times and latencies before and after, touches, where writes begin."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Protocol

from ..charts import (
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    Distribution,
    across,
    bounded,
    cumulative,
    cumulative_panel,
    in_mode_order,
    log_ticks,
    upward,
)
from ..results import Run
from ..svg import LINE, WIDTH, line, polygon, polyline, rect, svg, text
from ..table import duration, number, round_duration
from .verdict import Verdict

SECTOR = 512
# Columns of the time line: with more, the bands of several modes merge.
TIME_COLUMNS = 20


def _by_mode(runs: list[Run]) -> dict[str, list[Run]]:
    groups: dict[str, list[Run]] = {}
    for run in in_mode_order(runs):
        groups.setdefault(run.mode, []).append(run)
    return groups


def cdf_panel(runs: list[Run]) -> str:
    """Draw the share of the writes of one workload by latency: a line for each mode."""
    return cumulative_panel("writes", [
        Distribution(mode, mode, cumulative(bin for run in same for bin in bounded(run.latency)),
                     *(statistics.fmean(run.latency[name] for run in same) for name in ("p50", "p99")))
        for mode, same in _by_mode(runs).items()])


class Resolved(Protocol):
    """Touches in one mode, and what became of them, as a verdict has them."""

    @property
    def mode(self) -> str: ...
    @property
    def touches(self) -> int: ...
    @property
    def at_drive(self) -> int | None: ...
    @property
    def host(self) -> int | None: ...
    @property
    def avoided(self) -> int | None: ...


def pieces(verdict: Resolved) -> dict[str, int]:
    """Count how the partial touches were resolved, by kind, without kinds that do not occur."""
    drive = verdict.touches if verdict.at_drive is None else verdict.at_drive
    every = {"drive": drive, "host": verdict.host, "avoided": verdict.avoided}
    return {kind: count for kind, count in every.items() if count}


def rmw_panel(verdicts: Sequence[Resolved]) -> str:
    """Draw how the partial touches of one workload were resolved in each mode: shares of a bar."""
    row, gap = 18, 24
    parts, said = [], []
    for i, verdict in enumerate(verdicts):
        base = i * (row + gap) + gap
        words = ", ".join(f"{number(count)} {TOUCHES[kind]}" for kind, count in pieces(verdict).items())
        at, scale = float(LEFT), (WIDTH - LEFT - RIGHT) / max(verdict.touches, 1)
        for kind, count in pieces(verdict).items():
            parts.append(rect(at, base, count * scale, row, f"bar {kind}", f"{number(count)} {TOUCHES[kind]}"))
            at += count * scale
        parts.append(text(LEFT - 6, base + row / 2 + 4, verdict.mode, "name", "end"))
        parts.append(text(WIDTH - RIGHT, base - 6, words, "note", "end"))
        said.append(f"{verdict.mode}: {words}")
    return svg(len(verdicts) * (row + gap) + 6, "Partial touches: " + "; ".join(said), parts)


# Names as in the table.
TOUCHES = {"drive": "at drive", "host": "host", "avoided": "avoided"}


def phase(byte: int) -> str:
    """Return the kind of writes that begin `byte` bytes into a block: misaligned for certain, or possibly aligned."""
    return "inside" if byte else "boundary"


def phase_panel(runs: list[Run]) -> str:
    """Draw where in a physical block the writes of one workload began, from the first run with a ledger."""
    run, phases = next((run, run.phases) for run in runs if run.phases)
    total = sum(count for _, count in phases)
    bottom = TOP + HEIGHT * 0.6
    physical = run.replay["physical_block_size"]
    scale = (WIDTH - LEFT - RIGHT) / physical
    width = max(scale * SECTOR - 1, 1.5)
    parts = [line(LEFT, bottom, WIDTH - RIGHT, bottom, "axis")]
    places = [list(range(0, physical, step * SECTOR)) for step in (1, 2, 4, 8, 16)]
    # A label stands under its bar.
    for _, centre, name in across(places, lambda byte: LEFT + byte * scale + width / 2, str):
        parts.append(text(centre, bottom + LINE + 2, name, "tick", "middle"))
    most = max(count for _, count in phases)
    for byte, count in phases:
        height = count / most * (bottom - TOP)
        parts.append(rect(LEFT + byte * scale, bottom - height, width, height, f"bar {phase(byte)}",
                          f"{count / total:.1%} of the writes begin {byte:g} bytes into a block"))
    parts.append(text(LEFT - 6, TOP + 4, f"{most / total:.0%}", "tick", "end"))
    said = ", ".join(f"{count / total:.1%} at byte {byte:g}" for byte, count in phases[:8])
    return svg(bottom + 22, f"Where writes begin in a block of {physical} bytes: {said}", parts)


def in_columns(points: list[tuple[float, float]], width: float) -> list[tuple[float, float, float, float]]:
    """Group points (time, value) in columns; return mean time, median, least and greatest of each filled column."""
    columns: dict[int, list[tuple[float, float]]] = {}
    for at, value in points:
        columns.setdefault(int(at / width), []).append((at, value))
    return [(statistics.fmean(at for at, _ in those), statistics.median(value for _, value in those),
             min(value for _, value in those), max(value for _, value in those)) for those in columns.values()]


def line_panel(runs: list[Run]) -> str:
    """Draw the latency over time of one workload: for each mode a line of medians in the band from least to greatest.

    The values are the means of each hundredth of the first repetition's writes.
    """
    lines = {mode: [(part["end_s"], part["mean_us"]) for part in same[0].replay["time_line"]]
             for mode, same in _by_mode(runs).items()}
    means = [us for points in lines.values() for _, us in points]
    low, high = max(min(means) / 1.5, 0.1), max(means) * 1.5
    longest = max(points[-1][0] for points in lines.values()) or 1e-9
    scale = (WIDTH - LEFT - RIGHT) / longest

    def y_of(us: float) -> float:
        return TOP + HEIGHT - math.log(max(us, low) / low) / math.log(high / low) * HEIGHT

    parts = [line(LEFT, y_of(low), WIDTH - RIGHT, y_of(low), "axis")]
    for us in upward(log_ticks(low, high), y_of):
        parts.append(line(LEFT, y_of(us), WIDTH - RIGHT, y_of(us), "grid"))
        parts.append(text(LEFT - 6, y_of(us) + 4, round_duration(us), "tick", "end"))
    for _, centre, name in across([[0, longest / 2, longest]], lambda s: LEFT + s * scale,
                                  lambda s: duration(s * 1e6) if s else "0"):
        parts.append(text(centre, y_of(low) + LINE + 2, name, "tick", "middle"))
    for mode, points in lines.items():
        columns = [(LEFT + at * scale, *map(y_of, values)) for at, *values in
                   in_columns(points, longest / TIME_COLUMNS * (1 + 1e-9))]
        # Start the line at the first write, so that a short run is visible, too.
        columns.insert(0, (LEFT, *columns[0][1:]))
        parts.append(polygon([(x, least) for x, _, least, _ in columns]
                             + [(x, most) for x, _, _, most in reversed(columns)], f"band {mode}"))
        parts.append(polyline([(x, middle) for x, middle, _, _ in columns], f"curve {mode}"))
    said = "; ".join(f"{mode}: {duration(points[-1][0] * 1e6)}, between {duration(min(us for _, us in points))} "
                     f"and {duration(max(us for _, us in points))}" for mode, points in lines.items())
    return svg(TOP + HEIGHT + 22, f"Mean latency over time. {said}", parts)


def time_panel(verdicts: list[Verdict], runs: list[Run]) -> str:
    """Draw the time of one workload in each mode: the mean, its interval, and a mark for each repetition."""
    row, gap = 16, 26
    ends = [run.seconds for run in runs] + [v.seconds.high for v in verdicts if v.seconds.high]
    scale = (WIDTH - LEFT - RIGHT) / (max(ends) or 1)
    parts, said = [], []
    for i, verdict in enumerate(verdicts):
        base = i * (row + gap) + gap
        seconds, middle = verdict.seconds, base + row / 2
        note = " \u00b7 ".join(each for each in (duration(seconds.mean * 1e6), verdict.time) if each)
        parts.append(rect(LEFT, base, seconds.mean * scale, row, f"bar {verdict.mode}", note))
        if seconds.bounds:
            low, high = seconds.bounds
            parts.append(line(LEFT + low * scale, middle, LEFT + high * scale, middle, "interval"))
        for run in (run for run in runs if run.mode == verdict.mode):
            parts.append(rect(LEFT + run.seconds * scale - 1, base + 3, 2, row - 6, "repetition",
                              f"repetition {run.repetition}: {duration(run.seconds * 1e6)}"))
        parts.append(text(LEFT - 6, middle + 4, verdict.mode, "name", "end"))
        parts.append(text(WIDTH - RIGHT, base - 6, note, "note", "end"))
        said.append(f"{verdict.mode}: {note}")
    height = len(verdicts) * (row + gap) + 6
    parts.append(line(LEFT, gap - 4, LEFT, height - 2, "axis"))
    return svg(height, "Time until all writes were durable: " + "; ".join(said), parts)
