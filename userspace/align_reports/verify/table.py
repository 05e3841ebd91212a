# SPDX-License-Identifier: GPL-2.0
"""The verdict as one table, for the terminal and for the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rich.table import Table

from ..intervals import Interval, span, times
from ..table import NONE, digits, duration, number
from .verdict import Verdict


def _count(value: int | None) -> str:
    return NONE if value is None else number(value)


def _ratio(interval: Interval | None) -> str:
    if interval is None:
        return NONE
    if interval.low is None:
        return times(interval.mean)
    # In a narrow cell the interval wraps as a whole.
    return f"{times(interval.mean)} [{span(interval)}]".replace(" to ", "\u00a0to\u00a0")


@dataclass(frozen=True)
class Column:
    """A column: heading, meaning, and a function for its cells. title: the cells name the rows."""

    heading: str
    meaning: str
    cell: Callable[[Verdict], str]
    text: bool = False  # left-aligned words rather than right-aligned figures
    title: bool = False


# Named as the members of the --json document.
COLUMNS = (
    Column("workload", "name that alignctl replay knows it by", lambda v: v.workload, True, True),
    Column("mode", "raw: the device itself; the others: dm-align in that mode", lambda v: v.mode, True, True),
    Column("requests", "writes issued; through the page cache also, as how many the device gets them",
           lambda v: f"{number(v.requests)} as {number(v.written)}" if v.buffered
           else number(v.requests)),
    Column("touches", "partial touches of physical blocks that they make: RMWs of a drive "
           "without a cache", lambda v: number(v.touches)),
    Column("at drive", "of them, what the drive received, of writes and of write-zeroes "
           "together: by its own count, or else by the target's", lambda v: _count(v.at_drive)),
    Column("drive RMWs", "by the drive's own count, where it has one; its write cache may join several touches in one",
           lambda v: _count(v.drive_rmws)),
    Column("host", "touches whose block dm-align read, and wrote back whole", lambda v: _count(v.host)),
    Column("avoided", "touches resolved without a read of their own", lambda v: _count(v.avoided)),
    Column("mean", "mean latency of a write, of a buffered one until the page cache has it; "
           "mean of the repetitions", lambda v: duration(v.mean_us.mean)),
    Column("p99", "99 % of the writes took no longer, mean of the repetitions; of fewer than 100 writes, the longest",
           lambda v: duration(v.p99_us.mean)),
    Column("seconds", "until all writes were durable, the flush at the end included; mean of the "
           "repetitions", lambda v: digits(v.seconds.mean)),
    Column("to raw", "seconds as a multiple of the raw run's of the same repetition: geometric mean "
           "and its 95 % confidence interval", lambda v: _ratio(v.to_raw)),
    Column("data ok", "every sector read back and compared, through the target and from the device "
           "beneath", lambda v: "yes" if v.data_ok else "NO", True),
    Column("words", "the verdict: the RMWs, then the time beside raw", lambda v: v.words, True),
)


def render(found: list[Verdict], title: str) -> Table:
    table = Table(title=title, title_justify="left", header_style="bold")
    for column in COLUMNS:
        table.add_column(column.heading, justify="left" if column.text else "right",
                         no_wrap=column.title)
    last = None
    for each in found:
        if last not in (None, each.workload):
            table.add_section()
        last = each.workload
        table.add_row(*(column.cell(each) for column in COLUMNS))
    return table


def legend() -> str:
    """Return the meaning of each column, a line each."""
    width = max(len(column.heading) for column in COLUMNS)
    return "\n".join(f"{column.heading:<{width}}  {column.meaning}" for column in COLUMNS)
