# SPDX-License-Identifier: GPL-2.0
"""The benchmark's tables on the terminal and its page: figures first, then every run."""

from __future__ import annotations

from html import escape
from statistics import median

from rich.table import Table

from align_reports.page import Heading, definitions, document, key, panel, table
from align_reports.svg import WIDTH, line, rect, svg, text
from align_reports.table import duration, number

from . import idle, overhead, rates, smaller
from .arms import ARMS
from .cases import CASES, DRIVES
from .figures import MET, PASSING, Figure
from .record import Record, Run

DASH = "\u2013"
# Bytes of the least part of an idle device that is shown.
IDLE_LEAST = 64
COLOURS = """
:root { --linear: #8250df; --ebs: #cf222e; }
@media (prefers-color-scheme: dark) { :root {
  --linear: #b692f6; --ebs: #f47067; } }
svg .linear, .key .linear { fill: var(--linear); background: var(--linear); }
svg .ebs, .key .ebs { fill: var(--ebs); background: var(--ebs); }
"""


def figures_table(figures: list[Figure]) -> Table:
    """Return the table of figures: measure, required, measured, met or not."""
    table = Table(title="Required figures", title_justify="left", header_style="bold")
    for heading in ("row", "measure", "required", "measured", ""):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("row", ""))
    for figure in figures:
        colour = "green" if figure.verdict == MET else "yellow" if figure.verdict in PASSING else "red"
        table.add_row(figure.row, figure.measure, figure.required, figure.measured,
                      f"[{colour}]{figure.verdict}[/{colour}]")
    return table


def _middle(runs: list[Run], quantity) -> float:
    return median(quantity(run) for run in runs)


def _spread(runs: list[Run]) -> str:
    walls = [run.wall_us for run in runs]
    return f"{(max(walls) - min(walls)) / median(walls):.0%}" if len(walls) > 1 else DASH


def _ledger(run: Run, name: str) -> str:
    return DASH if run.ledger is None else number(run.ledger[name])


HEADINGS = ("case", "arm", "requests", "touches", "drive reads", "drive writes", "flushes",
            "pad reads", "mean", "p99", "wall", "iops", "to raw", "spread",
            "drive busy", "guest cpu", "load", "data")


def cells(record: Record, runs: list[Run]) -> list[str]:
    """Return the repetitions of one run as a line of the table: medians, and counts of the last."""
    last = runs[-1]
    raw = record.find(last.on, last.case, "raw")
    times = _middle(runs, lambda r: r.wall_us)
    over_raw = f"{times / _middle(raw, lambda r: r.wall_us):.2f}" if raw else DASH
    ok = all(run.replay["data_check"]["status"] == "ok" for run in runs)
    return [last.case, last.arm, number(last.requests), number(last.drive["touches"]),
            number(last.drive["reads"]), number(last.drive["writes"]),
            number(last.drive["flushes"]), _ledger(last, "pad_reads"),
            duration(_middle(runs, lambda r: r.mean_us)),
            duration(_middle(runs, lambda r: r.replay["service_us"]["p99"])),
            duration(times), number(_middle(runs, lambda r: r.iops)), over_raw,
            _spread(runs), duration(_middle(runs, lambda r: r.busy_us)),
            f"{_middle(runs, lambda r: r.cpu):.0%}",
            f"{_middle(runs, lambda r: r.machine['host_load']):.1f}", "ok" if ok else "WRONG"]


def drive_title(record: Record, on: str) -> str:
    queue = ", ".join(f"{name} {value}" for name, value in record.queues.get(on, {}).items())
    return f"{on}: {DRIVES[on].summary}; queue: {queue}"


def _groups(record: Record, on: str) -> list[list[Run]]:
    """Return the repetitions of each run of a drive, by case and arm."""
    return [runs for case in CASES for arm in ARMS if (runs := record.find(on, case, arm))]


def drive_table(record: Record, on: str) -> Table:
    """Return the table of every run of one drive, with times per write."""
    table = Table(title=drive_title(record, on), title_justify="left", header_style="bold")
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in ("case", "arm") else "right",
                         no_wrap=heading in ("case", "arm"))
    before = None
    for runs in _groups(record, on):
        if before not in (None, runs[0].case):
            table.add_section()
        before = runs[0].case
        table.add_row(*cells(record, runs))
    return table


def overhead_table(record: Record) -> Table:
    """Return the table of instructions of each arm: median, extremes, ratio to dm-linear."""
    table = Table(title="Instructions of an aligned 4 KiB write", title_justify="left",
                  header_style="bold")
    for heading in ("engine", "arm", "median", "least", "most", "above raw, linear = 1"):
        table.add_column(heading, justify="left" if heading in ("engine", "arm") else "right")
    for engine, figures in record.overhead.items():
        for arm, values in figures.items():
            if values:
                ratio = overhead.ratio(figures, arm)
                table.add_row(engine, arm, f"{median(values):.0f}", f"{min(values):.0f}",
                              f"{max(values):.0f}", DASH if ratio is None else f"{ratio:.3f}")
    return table


def rates_table(record: Record) -> Table:
    """Return the table of writes a second on a clock that counts instructions: median, extremes."""
    table = Table(title="Writes for each 10^9 instructions of all processors", title_justify="left", header_style="bold")
    for heading in ("load", "arm", "module", "median", "least", "most", "against linear"):
        table.add_column(heading, justify="left" if heading in ("load", "arm", "module") else "right")
    for module, found in ("this", record.rates), ("before", record.before):
        for row, arms in found.items():
            for arm, values in arms.items():
                over = median(values) / median(arms["linear"]) if arms.get("linear") else None
                table.add_row(rates.LOADS[row].about, arm, module, f"{median(values):.0f}", f"{min(values):.0f}",
                              f"{max(values):.0f}", DASH if over is None else f"{over:.3f}")
    return table


def idle_table(record: Record) -> Table:
    """Return the table of what an idle device has more than one of dm-linear, by part and possible processors."""
    own, other = reversed(idle.ARMS)
    found = {possible: idle.beyond(idle.memory(record.idle, possible, own), idle.memory(record.idle, possible, other))
             for possible in dict.fromkeys(each.possible for each in record.idle)}
    sizes = ", ".join(f"{name} {size}" for name, size in record.structures.items())
    table = Table(title=f"Bytes of an idle device ({own}) beside {other}'s, by possible processors; structures: {sizes}",
                  title_justify="left", header_style="bold")
    table.add_column("part")
    for possible in sorted(found):
        table.add_column(str(possible), justify="right")
    parts = dict.fromkeys(part for possible in sorted(found, reverse=True) for part in found[possible])
    for part in parts:
        sizes_of = [found[possible].get(part, 0.0) for possible in sorted(found)]
        if max(map(abs, sizes_of)) >= IDLE_LEAST:
            table.add_row(part, *(f"{size:.0f}" for size in sizes_of))
    table.add_section()
    table.add_row("all", *(f"{sum(found[possible].values()):.0f}" for possible in sorted(found)))
    return table


def smaller_table(record: Record) -> Table:
    """Return the table of the runs with smaller logical blocks: medians, and counts of the last one."""
    table = Table(title=f"Logical blocks of 512 bytes over 4096, {smaller.DRIVE_MS} ms a request, on a clock of instructions",
                  title_justify="left", header_style="bold")
    for heading in ("case", "arm", "requests", "drive reads", "drive writes", "flushes", "pad reads", "mean", "p99", "a second",
                    "until flushed", "data"):
        table.add_column(heading, justify="left" if heading in ("case", "arm") else "right")
    for case in smaller.CASES:
        for arm in smaller.ARMS:
            found = smaller.of(record.smaller, case.name, arm)
            if not found:
                continue
            last = found[-1]
            data = "WRONG" if any(each.wrong for each in found) else "ok" if last.compared else DASH
            table.add_row(case.name, arm, *(number(count) for count in (last.requests, last.reads, last.writes, last.flushes)),
                          DASH if last.ledger is None else number(last.ledger["pad_reads"]),
                          duration(median(each.mean_us for each in found)), duration(median(each.p99_us for each in found)),
                          number(median(each.requests / each.wall_s for each in found)),
                          number(median(each.rate for each in found)), data)
        table.add_section()
    return table


def races_table(record: Record) -> Table:
    """Return the table of what conform found of each arm of smaller logical blocks."""
    table = Table(title="Logical blocks of 512 bytes over 4096: faults that alignctl conform found", title_justify="left",
                  header_style="bold")
    for heading in ("arm", "rounds", "faulty", "kinds", "of these faulty", "faults"):
        table.add_column(heading, justify="left" if heading in ("arm", "faults") else "right")
    for each in record.races:
        names = ", ".join(f"{name} {count}" for name, count in each.faults.items() if count)
        counts = (each.rounds, each.faulty, each.kinds, each.kinds_faulty)
        table.add_row(each.arm, *(DASH if each.why else number(count) for count in counts),
                      each.why or names or f"none; fewer than 1 in {each.bound}")
    return table


def bars(rows: list[tuple[str, float, str]], label: str) -> str:
    """Draw horizontal bars from zero: (arm, value, label)."""
    left, height, gap = 60, 14, 5
    most = max((value for _, value, _ in rows), default=0)
    if not most:
        return ""
    parts = []
    for i, (arm, value, words) in enumerate(rows):
        y = i * (height + gap)
        width = value / most * (WIDTH - left - 75)
        parts.append(rect(left, y, width, height, f"bar {arm}", f"{arm}: {words}"))
        parts.append(text(left - 6, y + height - 3, arm, "name", "end"))
        parts.append(text(left + width + 5, y + height - 3, words, "note"))
    bottom = len(rows) * (height + gap)
    parts.append(line(left, 0, left, bottom, "axis"))
    return svg(bottom + 4, label, parts)


def case_panel(record: Record, on: str, case: str) -> str:
    """Draw the wall time per write of one case, an arm a bar."""
    rows = []
    for arm in ARMS:
        runs = record.find(on, case, arm)
        if runs:
            wall = _middle(runs, lambda r: r.wall_us)
            rows.append((arm, wall, duration(wall)))
    return panel(case, bars(rows, f"{case} on {on}: time per write"), CASES[case].summary)


def overhead_panel(engine: str, figures: dict[str, list[float]]) -> str:
    rows = [(arm, ratio, f"{ratio:.2f}") for arm in figures
            if arm != "raw" and (ratio := overhead.ratio(figures, arm))]
    return panel(engine, bars(rows, f"{engine}: overhead"), "instructions above raw, dm-linear = 1")


def page(record: Record, figures: list[Figure], findings: list[str]) -> str:
    """Return one HTML page that needs nothing else."""
    met = sum(figure.verdict == MET for figure in figures)
    wanted = sum(figure.verdict == MET or figure.verdict not in PASSING for figure in figures)
    faults = "".join(f"<li>{escape(finding)}</li>" for finding in findings)
    drives = ""
    for on in record.drives:
        panels = "".join(case_panel(record, on, case) for case in CASES
                         if case in record.cases(on))
        rows = [("", cells(record, runs)) for runs in _groups(record, on)]
        headings = [Heading(name, title=name in ("case", "arm")) for name in HEADINGS]
        drives += (f"<h2>{escape(on)}</h2><p>{escape(drive_title(record, on))}</p>"
                   "<p>Wall time per write, median; each panel has a scale of its own.</p>"
                   f'<div class="panels">{panels}</div>{table(headings, [rows])}')
    costs = "".join(overhead_panel(engine, found) for engine, found in record.overhead.items())
    made = {run.arm for run in record.runs} | {arm for found in record.overhead.values() for arm in found}
    required = table([Heading(name, word=True) for name in ("row", "measure", "required", "measured", "verdict")],
                     [[("", [f.row, f.measure, f.required, f.measured, f.verdict]) for f in figures]])
    return document("dm-align: benchmark", f"""\
<div class="verdict{'' if met == wanted and not findings else ' bad'}">
<strong>{met} of {wanted} figures met, {len(findings)} findings.</strong>
<ul>{faults}</ul></div>
{required}
{key(tuple((arm, arm) for arm in ARMS if arm in made))}
<h2>Instructions of an aligned write</h2>
<div class="panels">{costs}</div>
{drives}
{definitions("How it was measured", record.machine.items())}""", COLOURS)
