# SPDX-License-Identifier: GPL-2.0
"""The verification as one HTML page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from html import escape

from ..page import definitions, document, key, panel
from ..results import Results
from ..table import number
from . import charts
from .table import COLUMNS
from .verdict import Verdict

COLOURS = """
:root { --drive: #b35900; --avoided: #116329; --aligned: #116329;
  --misaligned: #b35900; }
@media (prefers-color-scheme: dark) { :root { --drive: #f0983c;
  --avoided: #56d364; --aligned: #56d364; --misaligned: #f0983c; } }
svg .drive, .key .drive { fill: var(--drive); background: var(--drive); }
svg .avoided, .key .avoided { fill: var(--avoided); background: var(--avoided); }
svg .aligned, .key .aligned { fill: var(--aligned); background: var(--aligned); }
svg .misaligned, .key .misaligned { fill: var(--misaligned); background: var(--misaligned); }
svg .curve { fill: none; stroke-width: 1.8; }
svg .curve.raw { stroke: var(--raw); }
svg .curve.report { stroke: var(--report); stroke-dasharray: 4 2; }
svg .curve.pad { stroke: var(--pad); }
svg .curve.coalesce { stroke: var(--coalesce); }
td.word:last-child { white-space: normal; min-width: 12rem; }
"""

MODE_KEY = (("raw", "raw"), ("report", "report"), ("pad", "pad"), ("coalesce", "coalesce"))
TOUCH_KEY = (("drive", "left to the drive"), ("host", "read for by dm-align"),
             ("avoided", "removed"))
PHASE_KEY = (("aligned", "at the start of a block"), ("misaligned", "elsewhere"))


def _panel(name: str, drawing: str) -> str:
    return panel(name, drawing) if drawing else ""


def _section(title: str, words: str, legend: str, panels: list[str]) -> str:
    if not any(panels):
        return ""
    return (f"<h2>{escape(title)}</h2><p>{escape(words)}</p>{legend}"
            f'<div class="panels">{"".join(panels)}</div>')


def _table(found: list[Verdict]) -> str:
    head = "".join(f'<th{" class=" + chr(34) + "word" + chr(34) if c.text else ""}>'
                   f"{escape(c.heading)}</th>" for c in COLUMNS)
    bodies = ""
    for workload in dict.fromkeys(verdict.workload for verdict in found):
        rows = "".join(
            f'<tr class="{verdict.mode}">' + "".join(
                f'<td{" class=" + chr(34) + "word" + chr(34) if c.text else ""} '
                f'data-heading="{escape(c.heading)}">{escape(c.cell(verdict))}</td>'
                for c in COLUMNS) + "</tr>"
            for verdict in found if verdict.workload == workload)
        bodies += f"<tbody>{rows}</tbody>"
    return f"<table><thead><tr>{head}</tr></thead>{bodies}</table>"


def _verdict(found: list[Verdict], wrong: list[str], stopped: str | None) -> str:
    if wrong or stopped:
        items = "".join(f"<li>{escape(each)}</li>" for each in [*([stopped] if stopped else []), *wrong])
        return f'<div class="verdict bad"><strong>Not verified.</strong><ul>{items}</ul></div>'
    sentences = [f"{escape(v.workload)} through {escape(v.mode)}: {escape(v.words)}"
                 for v in found if v.mode not in ("raw", "report")]
    return ('<div class="verdict"><strong>Nothing was lost, and every ledger balances.</strong><ul>'
            + "".join(f"<li>{sentence}</li>" for sentence in sentences) + "</ul></div>")


def render(results: Results, found: list[Verdict], wrong: list[str], stopped: str | None) -> str:
    """The page. stopped: why the runs ended early, if they did."""
    names = list(dict.fromkeys(verdict.workload for verdict in found))
    runs = {name: [run for run in results.runs if run.workload == name] for name in names}
    modes = tuple(entry for entry in MODE_KEY if entry[0] in {v.mode for v in found})
    pictures = "".join((
        _section("Latency before and after", "Share of the writes that took no longer, on a "
                 "logarithmic axis.", key(modes),
                 [_panel(name, charts.cdf_panel(runs[name])) for name in names]),
        _section("What became of the partial touches", "Each would cost a drive without a cache "
                 "a read-modify-write.", key(TOUCH_KEY),
                 [_panel(name, charts.rmw_panel([v for v in found if v.workload == name]))
                  for name in names]),
        _section("Where the writes begin", "Bytes from the start of a physical block.",
                 key(PHASE_KEY), [_panel(name, charts.phase_panel(runs[name])) for name in names]),
        _section("Latency over time", "The first repetition: mean latency of each hundredth of the "
                 "writes, when they had ended. The flush behind them is not shown.", key(modes),
                 [_panel(name, charts.line_panel(runs[name])) for name in names]),
        _section("The repetitions", "Seconds until all writes were durable, in the order in which they ran.",
                 key(modes), [_panel(name, charts.time_panel(runs[name])) for name in names])))
    title = f"dm-align on {results.machine['device']}: before and after"
    return document(title, f"""\
<p>{number(len(results.runs))} runs: each workload on the device itself (<em>raw</em>) and through
dm-align, in turn.</p>
{_verdict(found, wrong, stopped)}
<h2>Every figure</h2>
{_table(found)}
{pictures}
{definitions("What the columns mean", ((c.heading, c.meaning) for c in COLUMNS))}
{definitions("How it was measured", results.machine.items())}""", COLOURS)
