# SPDX-License-Identifier: GPL-2.0
"""The verification as one HTML page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from ..page import Heading, definitions, document, key, panel, table
from ..results import Results, Run
from ..table import number
from . import charts
from .table import COLUMNS
from .verdict import Verdict, headline

COLOURS = """
:root { --drive: #b35900; --avoided: #116329; --boundary: #6e7781; --inside: #b35900; }
@media (prefers-color-scheme: dark) { :root { --drive: #f0983c; --avoided: #56d364;
  --boundary: #8d97a3; --inside: #f0983c; } }
svg .drive, .key .drive { fill: var(--drive); background: var(--drive); }
svg .avoided, .key .avoided { fill: var(--avoided); background: var(--avoided); }
svg .boundary, .key .boundary { fill: var(--boundary); background: var(--boundary); }
svg .inside, .key .inside { fill: var(--inside); background: var(--inside); }
svg .interval { stroke: var(--ink); stroke-width: 2; }
svg .repetition, .key .repetition { fill: var(--ink); background: var(--ink); }
.key .repetition { width: 2px; margin: 0 .7rem 0 .35rem; }
.key .interval { height: 2px; background: var(--ink); vertical-align: .2rem; }
svg .band { opacity: .2; }
svg .curve { fill: none; stroke-width: 1.8; }
svg .curve.raw { stroke: var(--raw); }
svg .curve.report { stroke: var(--report); stroke-dasharray: 4 2; }
svg .curve.pad { stroke: var(--pad); }
svg .curve.coalesce { stroke: var(--coalesce); }
@media (min-width: 70rem) { td.word:last-child { min-width: 12rem; } }
"""

TIME_KEY = (("repetition", "one repetition"), ("interval", "95 % confidence interval of the mean"))
TOUCH_KEY = (("drive", "at drive: left to the drive"), ("host", "host: dm-align read the rest of the block"),
             ("avoided", "avoided: removed without a read"))
PHASE_KEY = (("boundary", "at the start of a block, and aligned if they also end at one"),
             ("inside", "inside a block, and misaligned"))
MODES = {
    "raw": "the device itself",
    "report": "dm-align watches and changes nothing",
    "pad": "dm-align completes partial blocks; a write ends when the drive has it, and waits for the read that "
           "completes its block",
    "coalesce": "dm-align also holds a partial block for the next write; a write ends when it is copied, and is on "
                "the drive after the flush that ends each run",
}
MODE_KEY = tuple((mode, mode) for mode in MODES)


def _key(entries: tuple[tuple[str, str], ...], occurring: Iterable[str]) -> str:
    """Return the legend, with the entries that occur."""
    kinds = set(occurring)
    return key(tuple(entry for entry in entries if entry[0] in kinds))


def _section(title: str, words: str, legend: str, panels: list[str]) -> str:
    if not panels:
        return ""
    return (f"<h2>{escape(title)}</h2><p>{escape(words)}</p>{legend}"
            f'<div class="panels">{"".join(panels)}</div>')


def _table(found: list[Verdict]) -> str:
    headings = [Heading(c.heading, c.text, c.title) for c in COLUMNS]
    return table(headings, [[(v.mode, [c.cell(v) for c in COLUMNS]) for v in found if v.workload == workload]
                            for workload in dict.fromkeys(v.workload for v in found)])


def _verdict(found: list[Verdict], wrong: list[str], stopped: str | None) -> str:
    faults = [*([stopped] if stopped else []), *wrong]
    kind, title = (" bad", "Not verified.") if faults else ("", "Nothing was lost, and every ledger balances.")
    items = "".join(f"<li>{escape(each)}</li>" for each in faults or headline(found))
    return f'<div class="verdict{kind}"><strong>{title}</strong><ul>{items}</ul></div>'


def _before_and_after(title: str, found: list[Verdict], runs: list[Run]) -> str:
    """Return the first sections of one device: the times, and how the touches were resolved."""
    names = list(dict.fromkeys(verdict.workload for verdict in found))
    of = {name: [v for v in found if v.workload == name] for name in names}
    touched = [name for name in names if of[name][0].touches]
    untouched = [name for name in names if name not in touched]
    marks = _key(TIME_KEY, ["repetition", *(("interval",) if any(v.seconds.low is not None for v in found) else ())])

    def times(those: list[str]) -> list[str]:
        return [panel(name, charts.time_panel(of[name], [run for run in runs if run.workload == name]))
                for name in those]

    return _section(
        f"{title}Time before and after", "Until all writes were durable, the flush behind the last one included.",
        marks, times(touched)
    ) + _section(
        f"{title}What became of the partial touches", "Each would cost a drive without a cache a read-modify-write.",
        _key(TOUCH_KEY, (kind for v in found for kind in charts.pieces(v))),
        [panel(name, charts.rmw_panel(of[name])) for name in touched]
    ) + _section(
        f"{title}Time where there is nothing to align", "These writes have no partial touches and pass unchanged: "
        "there is nothing to gain.", marks, times(untouched))


def _figures(title: str, found: list[Verdict], runs: list[Run]) -> str:
    """Return the other sections of one device."""
    names = list(dict.fromkeys(verdict.workload for verdict in found))
    of = {name: [run for run in runs if run.workload == name] for name in names}
    modes = _key(MODE_KEY, (v.mode for v in found))
    counted = [name for name in names if any(run.phases for run in of[name])]
    return f"<h2>{escape(title)}Every figure</h2>{_table(found)}" + _section(
        f"{title}Latency before and after", "Share of the writes that took no longer, on a logarithmic axis; "
        "each step is the upper end of a bin.",
        modes, [panel(name, charts.cdf_panel(of[name])) for name in names]
    ) + _section(
        f"{title}Where the writes begin", "Bytes from the start of a physical block.",
        _key(PHASE_KEY, (charts.phase(byte) for run in runs for byte, count in run.phases or () if count)),
        [panel(name, charts.phase_panel(of[name])) for name in counted]
    ) + _section(
        f"{title}Latency over time", "The first repetition: means of a hundredth of the writes each. The line is the "
        "median, the band goes from the least to the greatest. The flush at the end is not shown.",
        modes, [panel(name, charts.line_panel(of[name])) for name in names])


def render(results: Results, found: list[Verdict], wrong: list[str], stopped: str | None) -> str:
    """Return the page of one or several devices. stopped: why the runs ended early, if they did."""
    devices = list(dict.fromkeys(verdict.device for verdict in found))
    parts = [(f"{device}: " if len(devices) > 1 else "", [v for v in found if v.device == device],
              [run for run in results.runs if run.profile == device]) for device in devices]
    modes = "; ".join(f"<em>{mode}</em>: {escape(words)}" for mode, words in MODES.items()
                      if mode in {verdict.mode for verdict in found})
    title = f"dm-align on {results.machine['device']}: before and after"
    return document(title, f"""\
{_verdict(found, wrong, stopped)}
<p>{number(len(results.runs))} runs, the modes of each workload in turn. {modes}.</p>
{"".join(_before_and_after(*part) for part in parts)}
{"".join(_figures(*part) for part in parts)}
{definitions("What the columns mean", ((c.heading, c.meaning) for c in COLUMNS))}
{definitions("How it was measured", results.machine.items())}""", COLOURS)
