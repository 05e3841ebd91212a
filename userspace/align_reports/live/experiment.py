# SPDX-License-Identifier: GPL-2.0
"""The experiment: periods in each mode, in balanced blocks of random order, under the load that there is.

A block has one period in each mode, so that what changes slowly in the load meets all modes; the order within
it is random, so that nothing periodic favours one. After each change of the mode some time is left out.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .keeper import Device, Lost

# The outcomes of a touch, in the ledger.
RESOLVED = ("rmw_avoided", "rmw_host", "rmw_drive", "rmw_lost")
# The writes with and without touches, as the ledger's histograms have them.
KINDS = ("misaligned", "aligned")


@dataclass(frozen=True)
class Period:
    """One period to measure. number, block: from 1"""

    number: int
    block: int
    mode: str
    seconds: int


@dataclass(frozen=True)
class Sample:
    """What was measured in one period.

    began     seconds from the start of the experiment to that of the period
    document  the device in the document of `alignctl stats --interval`
    """

    period: Period
    began: float
    document: dict[str, Any]

    @property
    def seconds(self) -> float:
        return self._interval["seconds"]

    @property
    def counters(self) -> dict[str, int]:
        return self.document["counters"]

    @property
    def _interval(self) -> dict[str, float]:
        return self.document["interval"]

    @property
    def writes_per_s(self) -> float:
        return self._interval["writes_per_second"]

    @property
    def touches_per_s(self) -> float:
        return self._interval["touches_per_second"]

    @property
    def resolved(self) -> int:
        """Return the touches that were resolved in the period."""
        return sum(self.counters[name] for name in RESOLVED)

    @property
    def moved(self) -> int:
        """Return by how many touches what arrived differs from what was resolved in the period."""
        return abs(self.counters["rmw_expected"] - self.resolved)

    def per_touch(self, *names: str) -> float | None:
        """Return the share of the resolved touches that these counters have; None without touches."""
        return sum(self.counters[name] for name in names) / self.resolved if self.resolved else None

    def per_1000_writes(self, *names: str) -> float | None:
        writes = self.counters["writes"]
        return 1000 * sum(self.counters[name] for name in names) / writes if writes else None

    def latency(self, kind: str, figure: str) -> float | None:
        """Return mean or p99 of aligned or misaligned writes, in us; None without such writes."""
        return self._interval[f"{kind}_{figure}_us"]

    def percentile(self, kind: str, name: str) -> float:
        """Return p50 or p99, in us: the upper end of its bin; 0 without such writes."""
        return self.document["histograms"][f"latency_{kind}"][f"{name}_us"]

    def bins(self, kind: str) -> list[tuple[float, int]]:
        """Return (upper bound in us, count) of each filled bin of the latencies."""
        return [(bound, count) for bound, count in self.document["histograms"][f"latency_{kind}"]["bins"]]


def blocks(modes: list[str], least: int, most: int, seed: int) -> Iterator[list[Period]]:
    """Draw blocks without end; a seed makes the same ones again. least, most: seconds of a period"""
    draw = random.Random(seed)
    number = 0
    for block in range(1, 1 << 62):
        order = list(modes)
        draw.shuffle(order)
        made = [Period(number + i, block, mode, draw.randint(least, most)) for i, mode in enumerate(order, 1)]
        number += len(made)
        yield made


def duration_of(periods: list[Period], settle: float) -> float:
    return sum(settle + period.seconds for period in periods)


def schedule(drawn: Iterator[list[Period]], settle: float, repeat: int | None, seconds: float | None) -> list[Period]:
    """Return the periods of `repeat` blocks, or of the blocks that fit into `seconds`."""
    periods: list[Period] = []
    planned = 0.0
    for block in drawn:
        planned += duration_of(block, settle)
        if (repeat is not None and block[0].block > repeat) or (seconds is not None and planned > seconds):
            break
        periods += block
    return periods


def enter_all(device: Device, modes: list[str]) -> None:
    """Enter each mode once, so that a refusal comes before anything is measured. Raises as Device."""
    for mode in modes:
        device.change(mode)


def take(device: Device, period: Period, settle: float, clock: Callable[[], float]) -> Sample:
    """Measure one period. settle: seconds to leave out after the change; clock: seconds since the start. Raises as Device."""
    device.change(period.mode)
    device.wait(settle)
    began = clock()
    document = device.measure(period.seconds)
    # The reading and the keeper's look are two moments.
    if any(target["mode"] != period.mode for target in document["targets"]):
        raise Lost(f"{document['name']}: another program changed its mode meanwhile")
    return Sample(period, began, document)
