# SPDX-License-Identifier: GPL-2.0
"""The table of the demo's page: a run a line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .results import SETTLED, Results, Run


def number(value: float) -> str:
    """Digits in groups of three, a thin space between: 20 000."""
    return f"{value:,.0f}".replace(",", "\u202f")


def milliseconds(us: float) -> str:
    """A latency in milliseconds with three significant digits: 0.532, 12.3."""
    ms = us / 1000
    return f"{ms:.3f}" if ms < 1 else f"{ms:.2f}" if ms < 10 else f"{ms:.1f}"


def ledger_sum(run: Run) -> str:
    """The balance, its five right-hand terms in the ledger's order; zero gauges left out."""
    if run.ledger is None:
        return "\u2013"
    terms = [run.ledger[name] for name in SETTLED]
    shown = terms[:3] + [term for term in terms[3:] if term]
    equals = "=" if sum(terms) == run.ledger["rmw_expected"] else "\u2260"
    return f"{number(run.ledger['rmw_expected'])} {equals} " + " + ".join(map(number, shown))


def pad_reads(run: Run) -> str:
    return "\u2013" if run.ledger is None else number(run.ledger["pad_reads"])


def data_check(run: Run) -> str:
    check = run.replay["data_check"]
    if check["status"] == "ok":
        return "ok"
    return f"{check['status']}: {number(check['mismatches'])}"


@dataclass(frozen=True)
class Column:
    """A heading, what it means (shown below the table), and the text of a cell."""

    heading: str
    meaning: str
    cell: Callable[[Results, Run], str]
    text: bool = False  # left-aligned words rather than right-aligned figures


def _ratio(results: Results, run: Run) -> str:
    ratio = results.ratio_to_raw(run)
    return "\u2013" if ratio is None else f"{ratio:.2f}"


COLUMNS = (
    Column("workload", "name that alignctl replay knows it by", lambda _, r: r.workload, True),
    Column("through", "raw: the drive itself; report and pad: dm-align in that mode",
           lambda _, r: r.mode, True),
    Column("writes", "writes issued, one at a time, O_DIRECT",
           lambda _, r: number(r.requests)),
    Column("touches expected", "partial touches of physical blocks, from the workload's "
           "offsets and lengths alone", lambda _, r: number(r.touches_expected)),
    Column("touches at drive", "partial touches in the writes and write-zeroes that the "
           "drive received, counted by the drive", lambda _, r: number(r.drive["touches"])),
    Column("RMWs by drive", "read-modify-writes that the drive had to do; its cache can join "
           "several touches in one", lambda _, r: number(r.drive["rmws"])),
    Column("ledger", "rmw_expected = rmw_avoided + rmw_host + rmw_drive, counted by dm-align "
           "(then rmw_lost and rmw_pending, where not 0)", lambda _, r: ledger_sum(r), True),
    Column("pad reads", "reads that dm-align sent to complete blocks", lambda _, r: pad_reads(r)),
    Column("mean ms", "mean latency of a write",
           lambda _, r: milliseconds(r.latency["mean"])),
    Column("p99 ms", "99 % of the writes took no longer",
           lambda _, r: milliseconds(r.latency["p99"])),
    Column("wall s", "time for all the writes", lambda _, r: f"{r.replay['wall_s']:.2f}"),
    Column("\u00d7 raw", "time until all writes were on the drive, the flush behind them "
           "included, as a multiple of the raw run's", _ratio),
    Column("data", "every sector of the range read back and compared",
           lambda _, r: data_check(r), True),
)
