# SPDX-License-Identifier: GPL-2.0
"""block-size: the method of probe that searches a drive's block, and reports what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table

from ..replays import Replays
from ..table import NONE, duration, number
from . import block_size, fits
from .block_size import Finding, Kind, Scan, Shape
from .found import Curve, Found, Say, Scatter, Task
from .kept import NotKept, keep
from .statistics import Estimate
from .target import DeviceTarget, Says
from .traces import write_trace

PERCENTILES = (10, 50, 90)
# Of the picture: more would hide each other.
MOST_POINTS = 6000


@dataclass(frozen=True)
class Searched:
    """
    finding   what the search has found
    says      what the device says of itself
    kept      path of the file that keeps it; None: not kept
    not_kept  why not, if it is certain
    """

    finding: Finding
    says: Says
    kept: str | None = None
    not_kept: str | None = None


class BlockSize:
    """block-size: the block that a drive cannot write a part of."""

    writes = False

    def dry(self, replays: Replays, task: Task) -> tuple[str, tuple[str, ...]]:
        """Return source and options of one run, for --dry-run and for the check of the device."""
        rows = [("write", task.area.start, block_size.SMALL)] if task.area else [("read", 0, block_size.SMALL)]
        return write_trace(replays, rows), ("--scan", "--timing", "closed")

    def run(self, replays: Replays, task: Task, say: Say, results: list[Any]) -> None:
        target = DeviceTarget(replays, task.device)
        area = (task.area.start, task.area.length) if task.area else None
        finding = block_size.probe(target, area, task.span, task.seed, say)
        kept = not_kept = None
        if finding.block:
            try:
                kept = str(keep(task.device, *finding.block, finding.method, 1 - block_size.WRONG))
            except NotKept as reason:
                not_kept = str(reason)
        results.append(Searched(finding, target.says, kept, not_kept))

    def found(self, task: Task, results: list[Searched]) -> Found:
        [searched] = results
        finding, scan = searched.finding, searched.finding.scan
        pictures: list[Curve | Scatter] = [Scatter(
            f"Time of a {'write' if task.area else 'read'} by its offset", "us", "bytes", points(scan))] if scan else []
        return Found(words(searched), table(task, finding), {
            "block": finding.block and {**finding.block._asdict(), "confidence": 1 - block_size.WRONG},
            "why": finding.why, "says": searched.says._asdict(), "contradicts": contradicts(searched),
            "penalty_us": finding.penalty and asdict(finding.penalty), "reads": finding.reads and finding.reads._asdict(),
            "write_cache": {"is": finding.cache, "why": finding.cache_why},
            "by": finding.method, "requests": finding.requests, "seconds": finding.elapsed_s,
            "kinds": [{"name": kind.name, "bytes": kind.shape.bytes, **times(kind.times),
                       "slower_us": kind.slower and asdict(kind.slower), "chance": kind.chance} for kind in finding.kinds],
            "scan": [{"offset": offset, **times(each)} for offset, each in sorted(scan.times.items())] if scan else [],
            "kept": searched.kept, "not_kept": searched.not_kept}, pictures)


def times(values: Sequence[float]) -> dict[str, float]:
    """Return the number of times, and their percentiles, for the document."""
    return {"requests": len(values), **{f"p{percent}_us": fits.percentile(values, percent) for percent in PERCENTILES}}


def points(scan: Scan) -> list[tuple[float, float]]:
    """Return the times by offset, or of many only the median at each offset."""
    found = [(float(offset), us) for offset, times in sorted(scan.times.items()) for us in times]
    return found if len(found) <= MOST_POINTS else [(offset, fits.percentile(times, 50))
                                                    for offset, times in sorted(scan.times.items())]


def contradicts(searched: Searched) -> bool | None:
    """Return whether the drive has another block than it says; None: cannot tell."""
    block, says = searched.finding.block, searched.says
    return block and tuple(block) != (says.physical, says.offset)


def between(estimate: Estimate) -> str:
    """Format a time with its interval."""
    return f"{duration(estimate.value)} ({duration(estimate.low)} to {duration(estimate.high)})"


def words(searched: Searched) -> list[str]:
    """Return what was found, a sentence in each."""
    finding, says = searched.finding, searched.says
    said = f"the drive says {says.physical} bytes from byte {says.offset} on"
    if finding.block:
        sentences = [f"block: {finding.block.bytes} bytes, from byte {finding.block.offset} on; {said}"
                     f"{', which is wrong' if contradicts(searched) else ', too'}"]
    else:
        sentences = [f"block: cannot tell: {finding.why}; {said}"]
    if finding.penalty:
        sentences.append(f"a write of a part of a block takes {between(finding.penalty)} more")
    elif finding.block:
        sentences.append(f"how much longer a write of a part of a block takes: cannot tell: {finding.why}")
    if finding.reads:
        sentences.append(f"reads across every {finding.reads.bytes} bytes, from byte {finding.reads.offset} on, take longer")
    if finding.cache_why:
        cache_says = "nothing" if says.write_cache is None else "on" if says.write_cache else "off"
        sentences.append(f"write cache: {finding.cache or 'cannot tell'}, "
                         f"{'although' if {finding.cache, cache_says} == {'on', 'off'} else 'and'} the drive says {cache_says}: "
                         f"{finding.cache_why}")
    if finding.requests:
        sentences.append(f"{number(finding.requests)} requests in {duration(finding.elapsed_s * 1e6)}")
    if searched.kept:
        sentences.append(f"kept in {searched.kept}, for check and attach")
    elif searched.not_kept:
        sentences.append(f"not kept: {searched.not_kept}")
    return sentences


def unverified(finding: Finding) -> list[Kind]:
    """Return the requests of the scan as one kind, if there are any."""
    scan = finding.scan
    if not scan:
        return []
    return [Kind("at any offset", Shape(scan.length, 0, scan.bytes), [us for times in scan.times.values() for us in times])]


def table(task: Task, finding: Finding) -> Table:
    """Return the times of the verification."""
    shown = Table(title=f"{task.device}: {finding.method or 'no requests'}", title_justify="left")
    shown.add_column("part")
    for heading in ("bytes", "requests", "p10", "p50", "p90", "slower by", "chance"):
        shown.add_column(heading, justify="right")
    for kind in finding.kinds or unverified(finding):
        shown.add_row(kind.name, number(kind.shape.bytes), number(len(kind.times)),
                      *(duration(fits.percentile(kind.times, percent)) for percent in PERCENTILES),
                      between(kind.slower) if kind.slower else NONE,
                      NONE if kind.chance is None else f"{kind.chance:.0e}" if kind.chance else "< 1e-300")
    return shown
