# SPDX-License-Identifier: GPL-2.0
"""The comparison as one HTML page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

import math
from statistics import fmean

from ..charts import LEFT, RIGHT, Distribution, cumulative, cumulative_panel
from ..intervals import interval
from ..page import definitions, document, figures, key, panel, said
from ..svg import WIDTH, line, rect, svg, text
from .comparison import QUANTITIES, Line, Sample, findings, lines, pairs, verdict
from .table import render as table

COLOURS = """
svg .curve { fill: none; stroke-width: 1.8; }
svg .curve.on { stroke: var(--raw); }
svg .curve.vs { stroke: var(--pad); stroke-dasharray: 4 2; }
.key .on { background: var(--raw); }
.key .vs { background: var(--pad); }
svg .pair, .key .pair { fill: var(--soft); background: var(--soft); }
svg .interval { stroke: var(--ink); stroke-width: 2; }
svg .ratio, .key .ratio { fill: var(--ink); background: var(--ink); }
h1, th, td, td::before, .key, .verdict { overflow-wrap: anywhere; }
"""
# The axis marks the greatest of these factors that the ratios reach, and its inverse.
MARKS = (1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 5, 10, 100, 1000)
ROW = 30


def ratios(samples: list[Sample], on: str, vs: str) -> dict[str, list[float]]:
    """Return the ratios of all pairs of runs for each quantity, without pairs in which it is 0."""
    both = pairs(samples, on, vs)
    return {quantity.name: [quantity.of(a) / quantity.of(b) for a, b in both
                            if quantity.of(a) > 0 and quantity.of(b) > 0]
            for quantity in QUANTITIES}


def reach(found: list[Line], each: dict[str, list[float]]) -> float:
    """Return the axis's reach from 1, as a logarithm: over all pairs, and over intervals up to thrice that."""
    of_pairs = max((abs(math.log(ratio)) for every in each.values() for ratio in every), default=0)
    ends = [abs(math.log(end)) for each in found if each.ratio for end in each.ratio.bounds or ()]
    return 1.1 * max(of_pairs, min(max(ends, default=0), 3 * of_pairs), math.log(1.02))


def ratio_panel(found: list[Line], samples: list[Sample], on: str, vs: str) -> str:
    """Draw a row for each quantity: the ratio of each pair, their mean, and its interval."""
    each = ratios(samples, on, vs)
    most = reach(found, each)
    half = (WIDTH - LEFT - RIGHT - 8) / 2

    def x_of(ratio: float) -> float:
        share = max(-1.0, min(1.0, math.log(ratio) / most))
        return LEFT + 4 + half * (1 + share)

    bottom = ROW * len(found) + 4
    mark = max(mark for mark in MARKS if math.log(mark) <= most)
    parts = []
    for ratio in (1 / mark, 1, mark):
        parts.append(line(x_of(ratio), 4, x_of(ratio), bottom, "axis" if ratio == 1 else "grid"))
        parts.append(text(x_of(ratio), bottom + 14, f"{ratio:.3g}", "tick", "middle"))
    for row, quantity in enumerate(found):
        y = 4 + ROW * (row + 0.5)
        parts.append(text(LEFT - 6, y + 4, quantity.name, "name", "end"))
        for number, ratio in enumerate(each[quantity.name], 1):
            parts.append(rect(x_of(ratio) - 2, y - 2, 4, 4, "pair", f"pair {number}: {ratio:.4g}"))
        if quantity.ratio and quantity.ratio.bounds:
            low, high = map(x_of, quantity.ratio.bounds)
            parts.append(line(low, y + 7, high, y + 7, "interval"))
        if quantity.ratio:
            parts.append(rect(x_of(quantity.ratio.mean) - 2, y + 3, 4, 8, "ratio",
                              f"{interval(quantity.ratio)}: {quantity.words}"))
    words = "; ".join(f"{each.name} {interval(each.ratio)}" for each in found)
    return svg(bottom + 20, f"{on} as a multiple of {vs}: {words}", parts)


def render(source: str, samples: list[Sample], on: str, vs: str, machine: dict[str, str],
           stopped: str | None) -> str:
    """Return the page. stopped: why the runs ended early, if they did."""
    found, wrong = lines(samples, on, vs), findings(samples, on, vs)
    sides = [(kind, device, [sample for sample in samples if sample.device == device])
             for kind, device in (("on", on), ("vs", vs))]
    curves = [Distribution(kind, device, cumulative(bin for sample in mine for bin in sample.times),
                           *(fmean(sample.latency[name] for sample in mine) for name in ("p50", "p99")))
              for kind, device, mine in sides if any(sample.times for sample in mine)]
    pictures = ""
    if curves:
        names = key(tuple((curve.kind, curve.name) for curve in curves))
        kind = "Response time" if samples[0].clocked else "Latency"
        pictures += (f"<h2>{kind} on both</h2><p>Share of the requests of all runs that took no "
                     f"longer, on a logarithmic axis; each step is the upper end of a bin.</p>{names}"
                     "<div class=\"panels\">"
                     f"{panel(source, cumulative_panel('requests', curves))}</div>")
    if found:
        kinds = key((("pair", "one pair of runs"), ("ratio", "their mean and its interval")))
        drawing = ratio_panel(found, samples, on, vs)
        pictures += ("<h2>The first as a multiple of the second</h2><p>Of each figure, in the same "
                     "repetition, on a logarithmic axis. Where the interval holds 1, no difference "
                     f"is shown.</p>{kinds}<div class=\"panels\">{panel('ratio', drawing)}</div>")
    faults = [f"Finding: {each}" for each in wrong]
    return document(f"{source} on {on} and on {vs}", f"""\
{said([verdict(found, samples, on, vs), *faults], stopped, bool(wrong))}
{pictures}
<h2>Every figure</h2>
<p>Means of the repetitions and their 95 % confidence intervals; below, what was counted.</p>
{figures(table(found, samples, on, vs, ""))}
{definitions("How it was measured", machine.items())}""", COLOURS)
