# SPDX-License-Identifier: GPL-2.0
"""What the periods say: the figures of each mode, and each mode beside the first one.

Periods are the unit of repetition, and those of one block a pair. Latencies and rates are compared by their
ratio, as runs of verify are; touches per touch, which are often exactly 0 or 1, by their difference.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from ..intervals import FEWEST, Interval, compare, span, times, words
from ..table import digits, duration, number, rate
from .experiment import KINDS, Period, Sample

# Bins of the ledger's latencies are up to this much wide: four an octave, so that the ratio of their ends is at most 5/4.
BIN = 1.25
# As words() of the intervals has it.
NO_DIFFERENCE = "no difference shown"
NO_WRITES = "no writes came: nothing can be said"


@dataclass(frozen=True)
class Quantity:
    """A figure of a period.

    of          the figure; None: there is none, as the latency of writes that did not come
    difference  compare by difference, rather than by ratio
    least       smaller differences are none, however narrow the interval; of ratios, smaller factors
    own         a matter of the load as much as of the mode
    """

    name: str
    meaning: str
    unit: str
    of: Callable[[Sample], float | None]
    difference: bool = False
    least: float = 1.0
    own: bool = False

    def show(self, value: float) -> str:
        if self.unit == "us":
            return duration(value)
        return digits(value) if self.difference else rate(value)


def _latency(kind: str, figure: str) -> Callable[[Sample], float | None]:
    return lambda sample: sample.latency(kind, figure)


QUANTITIES = (
    Quantity("writes", "writes that arrived", "1/s", lambda s: s.writes_per_s, own=True),
    Quantity("touches", "partial touches that arrived: RMWs of a drive without a cache", "1/s",
             lambda s: s.touches_per_s, own=True),
    Quantity("at_drive", "of each touch, RMWs left to the drive", "1/touch", lambda s: s.per_touch("rmw_drive"), True, 0.01),
    Quantity("host", "of each touch, RMWs that dm-align did", "1/touch", lambda s: s.per_touch("rmw_host"), True, 0.01),
    Quantity("rmws", "RMWs left to the drive or done by dm-align", "1/1000 writes",
             lambda s: s.per_1000_writes("rmw_drive", "rmw_host"), True, 10),
    *(Quantity(f"{kind}_{figure}", f"{words} latency of {kind} writes", "us", _latency(kind, figure), least=BIN)
      for kind in KINDS for figure, words in (("mean", "mean"), ("p99", "99th percentile of the"))),
)


@dataclass(frozen=True)
class Figure:
    """A quantity in one mode, over its periods. values: None of no period"""

    mode: str
    quantity: Quantity
    interval: Interval | None


@dataclass(frozen=True)
class Change:
    """A quantity in a mode beside that in the first mode, over the blocks that have both.

    by  the difference of the two, or their ratio; None: it cannot be computed
    """

    mode: str
    first: str
    quantity: Quantity
    by: Interval | None
    words: str


def _values(samples: list[Sample], mode: str, quantity: Quantity) -> dict[int, float]:
    """Return the figure of each block that has one."""
    found = ((sample.period.block, quantity.of(sample)) for sample in samples if sample.period.mode == mode)
    return {block: value for block, value in found if value is not None}


def figure(samples: list[Sample], mode: str, quantity: Quantity) -> Figure:
    values = list(_values(samples, mode, quantity).values())
    return Figure(mode, quantity, Interval.of(values) if values else None)


def _difference(interval: Interval, quantity: Quantity) -> str:
    if interval.bounds is None:
        return f"nothing can be said from fewer than {FEWEST} repetitions"
    low, high = interval.bounds
    if low <= 0 <= high or abs(interval.mean) < quantity.least:
        return NO_DIFFERENCE
    more = interval.mean > 0
    ends = sorted((abs(low), abs(high)))
    return (f"{quantity.show(abs(interval.mean))} {'more' if more else 'fewer'} "
            f"[{' to '.join(map(quantity.show, ends))}]")


def _ratio(interval: Interval, quantity: Quantity) -> str:
    less, more = ("fewer", "more") if quantity.own else ("lower", "higher")
    if interval.differs and max(interval.mean, 1 / interval.mean) <= quantity.least * (1 + 1e-9):
        return f"{NO_DIFFERENCE}: {times(interval.mean)} times is within a bin of the histogram"
    return words(interval, less, more)


def change(samples: list[Sample], mode: str, first: str, quantity: Quantity) -> Change:
    """Compare a mode with the first one, by pairs of periods of one block."""
    mine, others = (_values(samples, each, quantity) for each in (mode, first))
    pairs = [(mine[block], others[block]) for block in mine if block in others]
    by: Interval | None = None
    if quantity.difference:
        by = Interval.of([one - other for one, other in pairs], -math.inf) if pairs else None
    else:
        by = compare(pairs)
    if by is None:
        said = "nothing can be said: a figure is 0" if pairs else "nothing can be said: there were none"
    else:
        said = _difference(by, quantity) if quantity.difference else _ratio(by, quantity)
    return Change(mode, first, quantity, by, said)


def changes(samples: list[Sample], modes: list[str]) -> list[Change]:
    """Compare every mode with the first one, in every quantity."""
    return [change(samples, mode, modes[0], quantity) for mode in modes[1:] for quantity in QUANTITIES]


@dataclass(frozen=True)
class Load:
    """The writes per second of the periods."""

    least: float
    most: float
    median: float

    @classmethod
    def of(cls, samples: list[Sample]) -> Load:
        rates = [sample.writes_per_s for sample in samples]
        return cls(min(rates), max(rates), statistics.median(rates))

    @property
    def words(self) -> str:
        said = f"{rate(self.least)} to {rate(self.most)} writes/s in the periods, median {rate(self.median)}"
        if self.least * BIN >= self.most:
            return f"The load was even: {said}."
        return (f"The load varied: {said}. Figures per second compare only where it is the same; latencies and RMWs "
                "for each touch compare better.")


def any_writes(samples: list[Sample]) -> bool:
    return any(sample.counters["writes"] for sample in samples)


def verdict(samples: list[Sample], modes: list[str]) -> list[str]:
    """Return the conclusion, a sentence for each mode but the first, and one on the load."""
    if not samples:
        return ["nothing can be said: no period was measured"]
    if not any_writes(samples):
        return [NO_WRITES]
    said = []
    if not any(sample.counters["rmw_expected"] for sample in samples):
        said.append("No write was misaligned: there is nothing to align.")
    found = changes(samples, modes)
    for mode in modes[1:]:
        of = {each.quantity.name: each.words for each in found if each.mode == mode}
        parts = [f"RMWs for each touch: left to the drive {of['at_drive']}, done by dm-align {of['host']}",
                 f"misaligned writes: mean latency {of['misaligned_mean']}, p99 {of['misaligned_p99']}",
                 f"aligned writes: mean latency {of['aligned_mean']}, p99 {of['aligned_p99']}"]
        said.append(f"{mode} beside {modes[0]}: {'; '.join(parts)}.")
    return [*said, Load.of(samples).words]


def findings(samples: list[Sample]) -> list[str]:
    """Return the findings, a sentence each."""
    found = []
    for sample in samples:
        lost = sample.counters["rmw_lost"]
        if lost:
            found.append(f"period {sample.period.number}, {sample.period.mode}: {number(lost)} touches failed before they "
                         "were resolved; the kernel log, 'dmesg', says why")
    return found


def _numbers(period: Period) -> dict[str, Any]:
    return {"number": period.number, "block": period.block, "mode": period.mode}


def document(samples: list[Sample], modes: list[str]) -> dict[str, Any]:
    """Return the members of the JSON document that the samples make."""
    return {
        "verdict": verdict(samples, modes),
        "findings": findings(samples),
        "load": {**asdict(Load.of(samples)), "words": Load.of(samples).words} if samples else None,
        "figures": [{"name": quantity.name, "unit": quantity.unit,
                     "modes": {mode: interval and asdict(interval) for mode in modes
                               for interval in [figure(samples, mode, quantity).interval]}}
                    for quantity in QUANTITIES],
        "changes": [{"mode": each.mode, "beside": each.first, "name": each.quantity.name,
                     "kind": "difference" if each.quantity.difference else "ratio",
                     "by": each.by and asdict(each.by), "words": each.words}
                    for each in changes(samples, modes)],
        "periods": [{**_numbers(sample.period), "began_s": round(sample.began, 3), "seconds": sample.seconds,
                     "moved": sample.moved, "counters": sample.counters,
                     **{quantity.name: quantity.of(sample) for quantity in QUANTITIES}} for sample in samples],
    }


def ranges(change_by: Interval | None, quantity: Quantity) -> str:
    """Format the difference or ratio with its interval, for a table."""
    if change_by is None:
        return ""
    if not quantity.difference:
        return times(change_by.mean) + (f" [{span(change_by)}]" if change_by.bounds else "")
    shown = f"{change_by.mean:+.3g}"
    return shown + (f" [{change_by.bounds[0]:+.3g} to {change_by.bounds[1]:+.3g}]" if change_by.bounds else "")
