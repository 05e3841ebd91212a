# SPDX-License-Identifier: GPL-2.0
"""A fleet as tables of words, the same for the terminal and for the page: by host, device, model and finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import attrgetter
from typing import TypeVar

from ..page import Heading
from ..table import number, rate, size_name
from .model import NOTHING
from .ranking import NOTE, SEVERITY, Entry, Fleet, Host, grade_of

T = TypeVar("T")
# NONE is as in the tables of alignctl's own verbs. UNKNOWN is a figure that no document has, which is not 0.
NONE = "-"
UNKNOWN = "not known"
# Between thousands, on the page only.
GROUP = "\u202f"
COUNTS = (Heading("SHIFT"), Heading("UNIT"), Heading("OTHER"))
COST = Heading("TOUCHES/DAY")
MEANINGS = {
    "RANK": "by what misaligned writes cost a day, then by the findings of each grade, then by name",
    "TOUCHES/DAY": "partial touches of physical blocks a day that cost a read: of stats, in its intervals (what is avoided "
                   "is not in it); else of plan, in its recording. Not known where no document has a time",
    "DISK-S/DAY": "seconds a day that disks spend on it, modelled: each write with touches costs a revolution, as fast as was "
                  "measured or the drive says. A drive that reads two blocks in two turns needs up to twice that, one that "
                  "collects a stream in its cache much less",
    "DISK-TIME": "the same as a share of the time of the disk",
    "EXTRA/DAY": "bytes a day that SSDs write and no host sent, modelled: the whole unit for each part of it that was sent. "
                 "<= if only an upper bound is known",
    "(confirmed)": "behind these bytes: each of the SSDs has itself counted as many writes that begin inside one of its units",
    "RATED/YEAR": "the same bytes in a year as a share of all that the SSD is rated to be written, by the host's hwdb; of "
                  "several SSDs the greatest share",
    "(1 of 2)": "behind a sum: of so many devices; of the others the rotation, or the unit of an SSD, is not known",
    "FROM": "the document that the touches are from",
    "SHIFT": "findings of check of places that are shifted: each block that is written there lies in two physical ones",
    "UNIT": "findings of units that are smaller than the physical block, or no multiple of it",
    "OTHER": "further findings of check, and devices that stats shows as gone or degraded",
    "NOTES": "notes of check, which cost nothing by themselves or are not known to; they have no say in the rank",
    "FIRST": "the device to look at first, and its gravest findings",
}


@dataclass(frozen=True)
class View:
    """A table: what its rows are, its headings, the rows, and the number of those that are left out."""

    title: str
    headings: tuple[Heading, ...]
    rows: list[list[str]]
    rest: int = 0


def cost(value: Fraction | None) -> str:
    return UNKNOWN if value is None else rate(float(value))


def count(value: int | None) -> str:
    return UNKNOWN if value is None else number(value)


def _of(figure: str | None, known: int, others: int, unknown: int) -> str:
    """Say of how many devices a sum is, unless it is of all; NONE: there is none of the kind that has such a figure."""
    if figure is None:
        return NONE if others and not unknown else UNKNOWN
    return f"{figure} ({number(known)} of {number(known + unknown)})" if unknown else figure


def disk_seconds(entry: Entry) -> str:
    found = entry.modelled
    return _of(None if found.disk_seconds is None else rate(float(found.disk_seconds)), found.disks, found.ssds, found.unknown)


def disk_time(entry: Entry) -> str:
    found = entry.modelled
    return _of(None if found.share is None else f"{rate(100 * float(found.share))} %", found.disks, found.ssds, found.unknown)


def extra(entry: Entry) -> str:
    found = entry.modelled
    most = "<= " if found.at_most else ""
    witness = " (confirmed)" if found.confirmed and found.confirmed == found.ssds else ""
    return _of(None if found.extra is None else most + size_name(float(found.extra)) + witness, found.ssds, found.disks,
               found.unknown)


def worn(entry: Entry) -> str:
    found = entry.modelled
    most = "<= " if found.at_most else ""
    if found.worn is None:
        return UNKNOWN if found.ssds or found.unknown else NONE
    return f"{most}{rate(100 * float(found.worn))} %"


# What touches cost in other units, in columns that are there only if a row has a figure.
DISK_SECONDS, DISK_TIME = Heading("DISK-S/DAY"), Heading("DISK-TIME")
EXTRA, WORN = Heading("EXTRA/DAY"), Heading("RATED/YEAR")
MODELLED = {DISK_SECONDS: disk_seconds, DISK_TIME: disk_time, EXTRA: extra, WORN: worn}


def _modelled(entries: Sequence[Entry], *headings: Heading) -> tuple[Heading, ...]:
    """Return those of the columns that have a figure."""
    figure = {EXTRA: attrgetter("extra"), WORN: attrgetter("worn")}
    some = [each.modelled for each in entries if each.modelled != NOTHING]
    return tuple(heading for heading in headings if any(
        figure.get(heading, attrgetter("disk_seconds"))(each) is not None for each in some))


def _cells(entry: Entry, shown: tuple[Heading, ...]) -> list[str]:
    """Return the figures of a row in those columns."""
    return [MODELLED[heading](entry) for heading in shown]


def _view(title: str, headings: Iterable[Heading], all_of: Sequence[T], most: int | None,
          row: Callable[[T], list[str]]) -> View:
    """Make a table with a row for each of the first `most`; None: for all."""
    rows = [row(each) for each in all_of[:most]]
    return View(title, (*headings,), rows, len(all_of) - len(rows))


def _counts(entry: Entry) -> list[str]:
    return [count(found) for grade, found in entry.grades().items() if grade != NOTE]


def codes(entry: Entry) -> str:
    """Name the findings of an entry, each once, the gravest first."""
    found = Counter((SEVERITY[grade_of(each)], each.code) for each in entry.findings if not each.note)
    return ", ".join(f"{code} ({times})" if times > 1 else code for (_, code), times in sorted(found.items())) or NONE


def _first(host: Host) -> str:
    device = next((each for each in host.devices if each.wrong), None)
    if device is None:
        return NONE
    return f"{device.name or UNKNOWN}: {codes(device) if device.faults() else 'touches'}"


def hosts(fleet: Fleet, most: int | None = None) -> View:
    shown = _modelled(fleet.hosts, DISK_SECONDS, EXTRA, WORN)
    return _view("hosts", (Heading("RANK"), Heading("HOST", title=True), COST, *shown, Heading("FROM", word=True), *COUNTS,
                           Heading("NOTES"), Heading("FIRST", word=True)), fleet.hosts, most,
                 lambda host: [number(host.rank), host.name or "", cost(host.cost), *_cells(host, shown), host.source or NONE,
                               *map(count, host.grades().values()), _first(host)])


def devices(fleet: Fleet, most: int | None = None) -> View:
    rows = fleet.devices()
    shown = _modelled(rows, DISK_SECONDS, DISK_TIME, EXTRA, WORN)
    return _view("devices", (Heading("HOST", title=True), Heading("DEVICE", title=True), Heading("MODEL", word=True), COST,
                             *shown, Heading("MODE", word=True), *COUNTS, Heading("FINDINGS", word=True)), rows, most,
                 lambda each: [each.host, each.name or UNKNOWN, each.model or UNKNOWN, cost(each.cost), *_cells(each, shown),
                               ", ".join(each.modes) or NONE, *_counts(each), codes(each)])


def models(fleet: Fleet, most: int | None = None) -> View:
    rows = fleet.models()
    shown = _modelled([each for each, _, _ in rows], DISK_SECONDS, EXTRA, WORN)
    return _view("models", (Heading("MODEL", title=True), Heading("DISKS"), Heading("HOSTS"), COST, *shown, *COUNTS), rows, most,
                 lambda row: [row[0].name or UNKNOWN, number(row[1]), number(row[2]), cost(row[0].cost), *_cells(row[0], shown),
                              *_counts(row[0])])


def findings(fleet: Fleet, most: int | None = None) -> View:
    return _view("findings", (Heading("FINDING", title=True), Heading("GRADE", word=True), Heading("HOSTS"), Heading("TIMES"),
                              Heading("FOR EXAMPLE", word=True)), fleet.findings(), most,
                 lambda row: [row[0].code, grade_of(row[0]), number(len({host.name for host in row[1]})), number(len(row[1])),
                              f"{row[1][0].name}: {row[0].device} {row[0].text}"])


# Tables of a fleet, of no more than a number of rows.
VIEWS: dict[str, Callable[..., View]] = {"host": hosts, "device": devices, "model": models, "finding": findings}


def _budget(whole: Entry) -> str:
    """Say in a further line what all touches cost in other units, as far as that is known."""
    found = whole.modelled
    parts = [f"{name}: {figure(whole)}" for name, figure, known in (
        ("disk-seconds a day", disk_seconds, found.disks), ("extra bytes a day of SSDs", extra, found.ssds)) if known]
    return "\nmodelled: " + "; ".join(parts) if parts else ""


def total(fleet: Fleet) -> str:
    """Say in a line what all hosts have together."""
    whole, hosts = fleet.total, fleet.hosts
    faults = number(whole.faults()) if whole.judged or whole.faults() else UNKNOWN
    return (f"hosts: {number(len(hosts))}, with findings or touches: {number(sum(host.wrong for host in hosts))}, "
            f"with a cost: {number(sum(host.cost is not None for host in hosts))}, "
            f"checked: {number(sum(host.judged for host in hosts))}\n"
            f"touches a day: {cost(whole.cost)}; findings: {faults}, notes: {count(whole.grades()[NOTE])}; "
            f"files not used: {number(len(fleet.unusable))}{_budget(whole)}")


def text(fleet: Fleet, view: View) -> str:
    """Return a table and the totals for the terminal, as alignctl's own verbs print tables."""
    whole = total(fleet).replace(GROUP, "")
    if not view.rows:
        return whole
    columns = []
    for heading, cells in zip(view.headings, zip(*view.rows, strict=True), strict=True):
        column = [heading.name, *(cell.replace(GROUP, "") for cell in cells)]
        width = max(map(len, column))
        place = str.ljust if heading.word or heading.title else str.rjust
        columns.append([place(cell, width) for cell in column])
    lines = ("  ".join(row).rstrip() for row in zip(*columns, strict=True))
    return "\n".join((*lines, "", whole))
