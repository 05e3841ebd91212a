# SPDX-License-Identifier: GPL-2.0
"""The result as one HTML page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import fmean

from ..charts import HEIGHT, LEFT, RIGHT, TOP, Distribution, across, cumulative, cumulative_panel
from ..page import Heading, definitions, document, key, panel, said, table
from ..svg import LINE, WIDTH, line, rect, svg, text
from ..table import duration, rate
from ..verify.charts import pieces, rmw_panel
from ..verify.page import COLOURS, MODE_KEY, TOUCH_KEY
from .experiment import KINDS, Sample
from .figures import QUANTITIES, findings, verdict
from .table import headings, label, rows

# A period that is drawn narrower could not be seen.
NARROWEST = 1.5


@dataclass(frozen=True)
class Outcome:
    """The touches that were resolved in all periods of a mode, as rmw_panel() draws them."""

    mode: str
    touches: int
    at_drive: int | None
    host: int | None
    avoided: int | None


def outcomes(samples: list[Sample], modes: list[str]) -> list[Outcome]:
    """Return the outcomes in each mode that had touches."""
    made = []
    for mode in modes:
        sums: Counter[str] = Counter()
        for sample in samples:
            if sample.period.mode == mode:
                sums.update(sample.counters)
        touches = sums["rmw_drive"] + sums["rmw_host"] + sums["rmw_avoided"]
        if touches:
            made.append(Outcome(mode, touches, sums["rmw_drive"], sums["rmw_host"], sums["rmw_avoided"]))
    return made


def period_panel(samples: list[Sample], of: Callable[[Sample], float | None], shown: Callable[[float], str],
                 what: str) -> str:
    """Draw one figure of the periods over time: a bar for each, in the colour of its mode, and a gap for a settle time."""
    values = [(sample, of(sample) or 0.0) for sample in samples]
    end = max(sample.began + sample.seconds for sample in samples)
    most = max(value for _, value in values) or 1.0
    scale, bottom = (WIDTH - LEFT - RIGHT) / end, TOP + HEIGHT
    parts = [line(LEFT, bottom, WIDTH - RIGHT, bottom, "axis"), text(LEFT - 6, TOP + 4, shown(most), "tick", "end")]
    for sample, value in values:
        height = value / most * HEIGHT
        parts.append(rect(LEFT + sample.began * scale, bottom - height, max(sample.seconds * scale, NARROWEST), height,
                          f"bar {sample.period.mode}",
                          f"period {sample.period.number}, {sample.period.mode}: {what} {shown(value)}"))
    for _, centre, name in across([[0, end / 2, end]], lambda s: LEFT + s * scale,
                                  lambda s: duration(s * 1e6) if s else "0"):
        parts.append(text(centre, bottom + LINE + 2, name, "tick", "middle"))
    words = "; ".join(f"{sample.period.mode} {shown(value)}" for sample, value in values)
    return svg(bottom + 22, f"{what} in each period: {words}", parts)


def latency_panel(samples: list[Sample], modes: list[str], kind: str) -> str | None:
    """Draw the share of the writes of a kind by latency, a line for each mode; None without such writes."""
    lines = []
    for mode in modes:
        mine = [sample for sample in samples if sample.period.mode == mode and sample.bins(kind)]
        if mine:
            lines.append(Distribution(mode, mode, cumulative(bin for sample in mine for bin in sample.bins(kind)),
                                      *(fmean(sample.percentile(kind, name) for sample in mine)
                                        for name in ("p50", "p99"))))
    return cumulative_panel(f"{kind} writes", lines) if lines else None


def _section(title: str, words: str, legend: Iterable[tuple[str, str]], panels: list[str]) -> str:
    if not panels:
        return ""
    return f"<h2>{title}</h2><p>{words}</p>{key(tuple(legend))}<div class=\"panels\">{''.join(panels)}</div>"


def render(name: str, samples: list[Sample], modes: list[str], machine: dict[str, object], stopped: str | None) -> str:
    """Return the page. stopped: why the periods ended early, if they did."""
    wrong = [f"Finding: {each}" for each in findings(samples)]
    colours = [entry for entry in MODE_KEY if entry[0] in modes]
    touched = outcomes(samples, modes)
    kinds = {kind for each in touched for kind in pieces(each)}
    latencies = [(kind, latency_panel(samples, modes, kind)) for kind in KINDS]
    line_of = [panel("writes/s", period_panel(samples, lambda s: s.writes_per_s, rate, "writes/s"))]
    if any(sample.latency("misaligned", "mean") for sample in samples):
        line_of.append(panel("mean latency of misaligned writes", period_panel(
            samples, lambda s: s.latency("misaligned", "mean"), duration, "mean latency of misaligned writes")))
    return document(f"{name}: modes under its own load", f"""\
{said([*verdict(samples, modes), *wrong], stopped, bool(wrong))}
{_section("What became of the partial touches", "Each would cost a drive without a cache a read-modify-write.",
          [entry for entry in TOUCH_KEY if entry[0] in kinds], [panel(name, rmw_panel(touched))] if touched else [])}
{_section("Latency in each mode", "Share of the writes that took no longer, on a logarithmic axis; each step is the "
          "upper end of a bin.", colours, [panel(f"{kind} writes", drawn) for kind, drawn in latencies if drawn])}
{_section("The periods", "In the order in which they were measured. The time that was left out after each change of the "
          "mode is the gap before a bar.", colours, line_of)}
<h2>Every figure</h2>
<p>Means of the periods and their 95 % confidence intervals.</p>
{table([Heading(each, not 0 < at <= len(modes), not at) for at, each in enumerate(headings(modes))],
       [[("", row) for row in rows(samples, modes)]])}
{definitions("What the rows mean", ((label(each), each.meaning) for each in QUANTITIES))}
{definitions("How it was measured", machine.items())}""", COLOURS)
