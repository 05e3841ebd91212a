# SPDX-License-Identifier: GPL-2.0
"""Verdicts: the conclusion from all runs of one workload through one mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from ..checks import check_below, check_data, check_ledger, check_unchanged
from ..intervals import FEWEST, Interval, compare, span, times, words
from ..results import FIXING, PASSING, Results, Run
from ..table import number


@dataclass(frozen=True)
class Verdict:
    """
    device          the path written to, or the profile of an emulated drive
    written         writes that reach the device; differs from requests through the page cache
    touches         partial touches of these writes
    at_drive        touches that reached the drive, as writes or as write-zeroes; None: raw, and
                    the drive does not count
    drive_rmws      RMWs that the drive did; None: the drive does not count
    host, avoided   touches that the target read for, and touches resolved without a read
    pad_reads       read requests of the target for padding
                    Of repetitions that differ, all these are means, of which only avoided is rounded down.
    mean_us p99_us  latencies of the writes that were issued, over the repetitions
    seconds         until all writes were durable, the final flush included
    to_raw          that time as a multiple of the raw run's of the same repetition; None: mode raw
    data_ok         every byte was read back as written, above and below the target
    """

    device: str
    workload: str
    mode: str
    runs: int
    requests: int
    written: int
    buffered: bool
    touches: int
    at_drive: int | None
    drive_rmws: int | None
    host: int | None
    avoided: int | None
    pad_reads: int | None
    mean_us: Interval
    p99_us: Interval
    seconds: Interval
    to_raw: Interval | None
    data_ok: bool

    @property
    def aligns(self) -> bool:
        """Return whether there are touches, in a mode that aligns."""
        return bool(self.touches) and self.mode in FIXING

    @property
    def words(self) -> str:
        """Return the verdict in words: the RMWs, then the time."""
        return f"{self._rmws}; {self.time}" if self.time else self._rmws

    @property
    def _rmws(self) -> str:
        if not self.data_ok:
            return "DATA DIFFERS"
        if not self.touches:
            return "nothing to align"
        # Where other touches came than the workload makes, as through the page cache, which is a finding, too.
        left = self.at_drive
        if left is not None and (left != self.touches if self.mode in PASSING else left > self.touches):
            return f"{left} touches reached the drive, {self.touches} were expected"
        if self.mode in PASSING:
            return "every touch reaches the drive"
        resolved = (self.host or 0) + (self.avoided or 0)
        if not self.at_drive and resolved < self.touches:
            return f"no RMW left to the drive, but {resolved} touches came, and {self.touches} were expected"
        if self.at_drive:
            return f"{self.touches - self.at_drive} of {self.touches} RMWs taken from the drive"
        if not self.host:
            return "all RMWs removed"
        if not self.avoided:
            return "all RMWs done by dm-align instead of the drive"
        # Rounded down, so that 100 % means that there was no read.
        share = 100 * self.avoided // self.touches
        return f"all RMWs taken from the drive, {share} % without a read"

    @property
    def time(self) -> str:
        """Describe the time relative to the raw run's; "" for mode raw, and for fewer than FEWEST repetitions.

        Without touches, and in mode report, every write passes unmodified: a gain is then by chance and
        not mentioned, but a cost is.
        """
        if self.to_raw is None or self.to_raw.low is None:
            return ""
        if not self.aligns and self.to_raw.differs and self.to_raw.mean < 1:
            return ""
        return words(self.to_raw)

    def document(self) -> dict[str, Any]:
        return {**asdict(self), "words": self.words}


def _cost(values: list[int]) -> int:
    """Return one figure for all repetitions; where they differ the mean, rounded up: what was left in one of them is not 0."""
    return -(-sum(values) // len(values))


def _gain(values: list[int]) -> int:
    """Return the same of what a mode is good for, rounded down: what was missing in one repetition is not all."""
    return sum(values) // len(values)


def verdict(results: Results, runs: list[Run]) -> Verdict:
    """Return the verdict on the repetitions of one workload through one mode, at least one."""
    ledgers = [run.ledger for run in runs if run.ledger]
    drives = [run.drive for run in runs if run.drive]
    raw = {} if runs[0].mode == "raw" else {
        run.repetition: run for run in results.repetitions(runs[0].profile, runs[0].workload, "raw")}

    def booked(name: str, mean: Callable[[list[int]], int] = _cost) -> int | None:
        return mean([ledger[name] for ledger in ledgers]) if ledgers else None

    return Verdict(
        runs[0].profile, runs[0].workload, runs[0].mode, len(runs), runs[0].requests, runs[0].written,
        runs[0].buffered, runs[0].touches_expected,
        _cost([drive["touches"] for drive in drives]) if drives else booked("rmw_drive"),
        _cost([drive["rmws"] for drive in drives]) if drives else None,
        booked("rmw_host"), booked("rmw_avoided", _gain), booked("pad_reads"),
        Interval.of([run.latency["mean"] for run in runs]),
        Interval.of([run.latency["p99"] for run in runs]),
        Interval.of([run.seconds for run in runs]),
        compare([(run.seconds, raw[run.repetition].seconds) for run in runs if run.repetition in raw]),
        not any(finding for run in runs for finding in (*check_data(run), *check_below(run))))


def verdicts(results: Results, modes: list[str]) -> list[Verdict]:
    """Return all verdicts, in the order of the devices, then of the workloads, then of the modes."""
    return [verdict(results, runs) for profile in results.profiles
            for workload in results.workloads(profile) for mode in modes
            if (runs := results.repetitions(profile, workload, mode))]


def _named(each: Verdict, to_raw: Interval) -> str:
    factor = to_raw.inverse if to_raw.mean < 1 else to_raw
    much = f", {times(factor.mean)} times [{span(factor)}]" if to_raw.differs else ""
    return f"{each.workload} through {each.mode}{much}"


def headline(found: list[Verdict]) -> list[str]:
    """Return the summary: the touches, then which workloads are faster, slower, and not shown to differ.

    Considers only workloads that have touches, in the modes that take them from the drive.
    """
    aligned = [each for each in found if each.aligns]
    if not aligned:
        return ["No run had a touch to take from the drive."]
    left = sum(each.at_drive or 0 for each in aligned)
    sentences = [f"Of {number(sum(each.touches for each in aligned))} partial touches, "
                 f"{number(left) if left else 'none'} reached the drive through "
                 f"{' and '.join(mode for mode in FIXING if mode in {each.mode for each in aligned})}."]
    devices = list(dict.fromkeys(each.device for each in found))
    judged = [(each, each.to_raw) for each in aligned if each.to_raw and each.to_raw.bounds]
    for device in devices:
        mine = [(each, ratio) for each, ratio in judged if each.device == device]
        where = f" on {device}" if len(devices) > 1 else ""
        for title, of in ((f"Faster than raw{where}", [(v, r) for v, r in mine if r.differs and r.mean < 1]),
                          (f"Slower than raw{where}", [(v, r) for v, r in mine if r.differs and r.mean > 1]),
                          (f"No difference in time shown{where}", [(v, r) for v, r in mine if not r.differs])):
            if of:
                sentences.append(f"{title}: {'; '.join(_named(*each) for each in of)}.")
    if len(judged) < len(aligned):
        sentences.append(f"Times are judged from {FEWEST} repetitions with a raw run each.")
    return sentences


def findings(results: Results) -> list[str]:
    """Return the findings, each a sentence that begins with the run; empty if all agrees."""
    return [finding for run in results.runs
            for finding in (*check_data(run), *check_below(run), *check_unchanged(run),
                            *check_ledger(run))]
