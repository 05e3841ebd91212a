# SPDX-License-Identifier: GPL-2.0
"""The verification as one HTML page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from html import escape

from ..page import Heading, definitions, document, key, panel, table
from ..results import Results, Run
from ..table import number
from . import charts
from .table import COLUMNS
from .verdict import Verdict, headline

COLOURS = """
:root { --drive: #b35900; --avoided: #116329; --aligned: #116329;
  --misaligned: #b35900; }
@media (prefers-color-scheme: dark) { :root { --drive: #f0983c;
  --avoided: #56d364; --aligned: #56d364; --misaligned: #f0983c; } }
svg .drive, .key .drive { fill: var(--drive); background: var(--drive); }
svg .avoided, .key .avoided { fill: var(--avoided); background: var(--avoided); }
svg .aligned, .key .aligned { fill: var(--aligned); background: var(--aligned); }
svg .misaligned, .key .misaligned { fill: var(--misaligned); background: var(--misaligned); }
svg .interval { stroke: var(--ink); stroke-width: 2; }
svg .repetition, .key .repetition { fill: var(--ink); background: var(--ink); }
.key .repetition { width: 2px; margin: 0 .7rem 0 .35rem; }
.key .interval { height: 2px; background: var(--ink); vertical-align: .2rem; }
svg .curve { fill: none; stroke-width: 1.8; }
svg .curve.raw { stroke: var(--raw); }
svg .curve.report { stroke: var(--report); stroke-dasharray: 4 2; }
svg .curve.pad { stroke: var(--pad); }
svg .curve.coalesce { stroke: var(--coalesce); }
@media (min-width: 70rem) { td.word:last-child { min-width: 12rem; } }
"""

MODE_KEY = (("raw", "raw"), ("report", "report"), ("pad", "pad"), ("coalesce", "coalesce"))
TIME_KEY = (("repetition", "one repetition"), ("interval", "95 % confidence interval of the mean"))
TOUCH_KEY = (("drive", "left to the drive"), ("host", "read for by dm-align"),
             ("avoided", "removed"))
PHASE_KEY = (("aligned", "at the start of a block"), ("misaligned", "elsewhere"))
MODES = {
    "raw": "the device itself",
    "report": "dm-align watches and changes nothing",
    "pad": "dm-align completes partial blocks; a write ends when the drive has it, and waits for the read that "
           "completes its block",
    "coalesce": "dm-align also holds a partial block for the next write; a write ends when it is copied, and is on "
                "the drive after the flush that ends each run",
}


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
    """What is looked at first, of one device: the times, and what became of each touch."""
    names = list(dict.fromkeys(verdict.workload for verdict in found))
    of = {name: [v for v in found if v.workload == name] for name in names}
    touched = [name for name in names if of[name][0].touches]
    untouched = [name for name in names if name not in touched]
    judged = any(verdict.seconds.low is not None for verdict in found)

    def times(those: list[str]) -> list[str]:
        return [panel(name, charts.time_panel(of[name], [run for run in runs if run.workload == name]))
                for name in those]

    return _section(
        f"{title}Time before and after", "Until all writes were durable, the flush behind the last one included.",
        key(TIME_KEY[:1 + judged]), times(touched)
    ) + _section(
        f"{title}What became of the partial touches", "Each would cost a drive without a cache a read-modify-write.",
        key(TOUCH_KEY), [panel(name, charts.rmw_panel(of[name])) for name in touched]
    ) + _section(
        f"{title}Time where there is nothing to align", "These writes have no partial touches and pass unchanged: "
        "there is nothing to gain.", key(TIME_KEY[:1 + judged]), times(untouched))


def _figures(title: str, found: list[Verdict], runs: list[Run]) -> str:
    """All the rest of one device."""
    names = list(dict.fromkeys(verdict.workload for verdict in found))
    of = {name: [run for run in runs if run.workload == name] for name in names}
    modes = tuple(entry for entry in MODE_KEY if entry[0] in {v.mode for v in found})
    counted = [name for name in names if any(run.phases for run in of[name])]
    return f"<h2>{escape(title)}Every figure</h2>{_table(found)}" + _section(
        f"{title}Latency before and after", "Share of the writes that took no longer, on a logarithmic axis.",
        key(modes), [panel(name, charts.cdf_panel(of[name])) for name in names]
    ) + _section(
        f"{title}Where the writes begin", "Bytes from the start of a physical block.",
        key(PHASE_KEY), [panel(name, charts.phase_panel(of[name])) for name in counted]
    ) + _section(
        f"{title}Latency over time", "The first repetition: mean latency of each hundredth of the writes, when they "
        "had ended. The flush behind them is not shown.",
        key(modes), [panel(name, charts.line_panel(of[name])) for name in names])


def render(results: Results, found: list[Verdict], wrong: list[str], stopped: str | None) -> str:
    """The page, of one device or of several. stopped: why the runs ended early, if they did."""
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
