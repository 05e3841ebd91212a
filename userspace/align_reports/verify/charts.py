# SPDX-License-Identifier: GPL-2.0
"""The pictures of a verification: latencies before and after, RMWs, where writes begin, the runs in time."""

from __future__ import annotations

import math

from ..charts import HEIGHT, LEFT, RIGHT, bounded, cumulative, cumulative_panel, duration, in_mode_order, ticks_us
from ..results import Run
from ..svg import WIDTH, line, polyline, rect, svg, text
from ..table import milliseconds, number
from .verdict import Verdict


def _by_mode(runs: list[Run]) -> dict[str, list[Run]]:
    groups: dict[str, list[Run]] = {}
    for run in in_mode_order(runs):
        groups.setdefault(run.mode, []).append(run)
    return groups


def cdf_panel(runs: list[Run]) -> str:
    """Share of the writes of one workload by latency: a line for each mode."""
    return cumulative_panel("writes", [
        (mode, mode, cumulative(bin for run in same for bin in bounded(run.latency)))
        for mode, same in _by_mode(runs).items()])


def rmw_panel(verdicts: list[Verdict]) -> str:
    """What became of the partial touches of one workload in each mode: shares of a bar."""
    row, gap = 18, 24
    parts, said = [], []
    for i, verdict in enumerate(verdicts):
        base = i * (row + gap) + gap
        drive = verdict.touches if verdict.at_drive is None else verdict.at_drive
        pieces = [("drive", drive), ("host", verdict.host or 0), ("avoided", verdict.avoided or 0)]
        words = ", ".join(f"{number(count)} {WHAT[kind]}" for kind, count in pieces if count)
        at, scale = float(LEFT), (WIDTH - LEFT - RIGHT) / max(verdict.touches, 1)
        for kind, count in pieces:
            parts.append(rect(at, base, count * scale, row, f"bar {kind}",
                              f"{number(count)} {WHAT[kind]}"))
            at += count * scale
        parts.append(text(LEFT - 6, base + row / 2 + 4, verdict.mode, "name", "end"))
        parts.append(text(WIDTH - RIGHT, base - 6, words or "no touches", "note", "end"))
        said.append(f"{verdict.mode}: {words or 'no touches'}")
    return svg(len(verdicts) * (row + gap) + 6, "Partial touches: " + "; ".join(said), parts)


WHAT = {"drive": "left to the drive", "host": "read for by dm-align", "avoided": "removed"}


def phase_panel(runs: list[Run]) -> str:
    """Where in a physical block the writes of one workload began; of the first run with a ledger."""
    run = next((run for run in runs if run.phases), None)
    if run is None:
        return ""
    total = sum(count for _, count in run.phases)
    bottom = HEIGHT * 0.6
    physical = run.replay["physical_block_size"]
    scale = (WIDTH - LEFT - RIGHT) / physical
    width = max(scale * 512 - 1, 1.5)
    parts = [line(LEFT, 4 + bottom, WIDTH - RIGHT, 4 + bottom, "axis")]
    for quarter in range(5):
        byte = physical * quarter // 4
        anchor = "end" if quarter == 4 else "middle" if quarter else "start"
        parts.append(text(LEFT + byte * scale, bottom + 18, f"{byte}", "tick", anchor))
    most = max(count for _, count in run.phases)
    for byte, count in run.phases:
        height = count / most * (bottom - 12)
        kind = "bar aligned" if byte == 0 else "bar misaligned"
        parts.append(rect(LEFT + byte * scale, 4 + bottom - height, width, height, kind,
                          f"{count / total:.1%} of the writes begin {byte:g} bytes into a block"))
    parts.append(text(LEFT - 6, 14, f"{most / total:.0%}", "tick", "end"))
    said = ", ".join(f"{count / total:.1%} at byte {byte:g}" for byte, count in run.phases[:8])
    return svg(bottom + 24, f"Where writes begin in a block of {physical} bytes: {said}", parts)


def line_panel(runs: list[Run]) -> str:
    """Latency over time of one workload: the mean of each hundredth of a run, a line for each mode."""
    lines = {mode: [(part["end_s"], part["mean_us"]) for part in same[0].replay["time_line"]]
             for mode, same in _by_mode(runs).items()}
    means = [us for points in lines.values() for _, us in points]
    low, high = max(min(means) / 1.5, 0.1), max(means) * 1.5
    longest = max(points[-1][0] for points in lines.values()) or 1e-9
    scale = (WIDTH - LEFT - RIGHT) / longest

    def y_of(us: float) -> float:
        return 4 + HEIGHT - math.log(max(us, low) / low) / math.log(high / low) * HEIGHT

    parts = [line(LEFT, y_of(low), WIDTH - RIGHT, y_of(low), "axis")]
    for us in ticks_us(low, high):
        parts.append(line(LEFT, y_of(us), WIDTH - RIGHT, y_of(us), "grid"))
        parts.append(text(LEFT - 6, y_of(us) + 4, duration(us), "tick", "end"))
    for share in (0, 0.5, 1):
        anchor = ("start", "middle", "end")[int(2 * share)]
        parts.append(text(LEFT + share * longest * scale, y_of(low) + 14,
                          f"{share * longest:.3g} s", "tick", anchor))
    for mode, points in lines.items():
        parts.append(polyline([(LEFT + end * scale, y_of(us)) for end, us in points],
                              f"curve {mode}"))
    said = "; ".join(f"{mode}: {points[-1][0]:.3g} s, between {milliseconds(min(us for _, us in points))} "
                     f"and {milliseconds(max(us for _, us in points))} ms"
                     for mode, points in lines.items())
    return svg(HEIGHT + 24, f"Mean latency over time. {said}", parts)


def time_panel(runs: list[Run]) -> str:
    """The runs of one workload in the order of the repetitions: how long each took, by mode."""
    groups = _by_mode(runs)
    slowest = max(run.seconds for run in runs) or 1
    row, gap = 26, 22
    parts, said = [], []
    for i, (mode, same) in enumerate(groups.items()):
        base = i * (row + gap) + gap + row
        step = (WIDTH - LEFT - RIGHT) / len(same)
        for k, run in enumerate(same):
            height = run.seconds / slowest * row
            parts.append(rect(LEFT + k * step, base - height, min(step - 2, 40), height,
                              f"bar {mode}", f"repetition {run.repetition}: "
                                             f"{run.seconds:.3f} s"))
        times = [run.seconds for run in same]
        note = f"{min(times):.2f} to {max(times):.2f} s"
        parts.append(line(LEFT, base, WIDTH - RIGHT, base, "axis"))
        parts.append(text(LEFT - 6, base - 2, mode, "name", "end"))
        parts.append(text(WIDTH - RIGHT, base - row - 5, note, "note", "end"))
        said.append(f"{mode}: {note}")
    return svg(len(groups) * (row + gap) + 6, "Seconds of each repetition: " + "; ".join(said),
               parts)
