# SPDX-License-Identifier: GPL-2.0
"""The schedule of a benchmark: its runs, their counts, and the time left.

The requested rows decide which runs are needed. A run that several rows need is made once.
Each repetition goes over all drives, and on each drive the arms of a case follow one another
directly, so that a drift of the machine affects all of them.

Costs are for the ETA only: no result depends on them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

from .arms import ARMS
from .cases import CASES, DRIVES, TABLE_CASES, Case, Drive

# Counts of single runs: quick, full. Compared arms have the same count, except dm-ebs where it
# is many times slower; then rates are compared.
COUNTS: dict[tuple[str, str], tuple[int, int]] = {
    ("instant", "w136k"): (300, 5000),
    ("instant", "w4k_132k"): (300, 5000),
    ("instant", "diskbenchi-existing"): (100, 4000),
    ("instant", "diskbenchi-fresh"): (100, 4000),
    ("instant", "seq8k-shifted"): (2000, 131072),
    ("instant", "w512-held"): (4000, 20000),
    ("instant", "w512-64-blocks"): (1000, 20000),
    ("instant", "w512-1-block"): (500, 2000),
    ("instant", "append-512-dsync"): (512, 2048),
    ("fixed-2ms", "w136k"): (200, 1000),
    ("fixed-2ms", "w136k-aligned"): (200, 1000),
    ("fixed-2ms", "w4k_132k"): (200, 1000),
    ("fixed-10ms", "rand512-32"): (2000, 8000),
    ("st1000dm003", "w4k_132k"): (300, 2000),
    ("st1000dm003", "w136k-aligned"): (300, 2000),
    ("hdd-nocache", "w512"): (300, 2000),
}
# Counts in the tables, by case; a quarter of them in a quick plan.
TABLE_COUNTS = {
    "w512": 400, "w4096": 400, "w4096_512": 400, "w136k": 200, "w4k_132k": 200,
    "diskbenchi-0": 50, "diskbenchi-existing": 50, "diskbenchi-fresh": 50, "seq8k-shifted": 500,
    "areasync-512": 25, "append-512-dsync": 300, "rand512-1": 300, "rand512-8": 1000,
    "rand512-32": 2000, "rand4k-1": 400, "rand4k-32": 2000,
}
# dm-ebs writes each block of a long write separately: 1/n of the count is enough.
EBS_DIVISOR = {"w136k": 8, "w4k_132k": 8, "diskbenchi-existing": 25, "diskbenchi-fresh": 25}

GUEST_MS = 0.8          # a request, in an emulated guest
FIXED_S = 2.0           # a run: programs, devices
RANGE_MS_PER_MIB = 12.0  # preparing a range and reading it back
BOOT_S = 15.0


@dataclass(frozen=True)
class Need:
    """Runs that a row needs: one case on one drive, through some arms."""

    on: str
    case: str
    arms: tuple[str, ...]


def table_needs(on: str) -> tuple[Need, ...]:
    """Return the needs of every case through every arm on one drive."""
    return tuple(Need(on, case, ARMS) for case in TABLE_CASES)


@dataclass(frozen=True)
class Step:
    """One run to make."""

    drive: Drive
    case: Case
    arm: str
    repeat: int
    count: int

    @property
    def title(self) -> str:
        return f"{self.drive.name} {self.case.name} {self.arm} #{self.repeat + 1}"

    @property
    def estimate_s(self) -> float:
        waits = {"pad": 2, "ebs": 4}.get(self.arm, 1) * self.drive.request_ms
        if self.arm == "ebs":
            waits *= EBS_DIVISOR.get(self.case.name, 1)
        each = self.case.steps * (GUEST_MS + waits / min(self.case.depth, self.drive.depth))
        mib = self.case.bytes(self.count) / 2**20
        return FIXED_S + (self.count * each + mib * RANGE_MS_PER_MIB) / 1000


def count_for(on: str, case: str, arm: str, quick: bool) -> int:
    """Return the count of a run."""
    short, full = COUNTS.get((on, case)) or (TABLE_COUNTS[case] // 4, TABLE_COUNTS[case])
    count = short if quick else full
    if arm == "ebs":
        count = max(count // EBS_DIVISOR.get(case, 1), 4)
    return count


def steps(needs: Iterable[Need], repeat: int, quick: bool, most: int | None = None) -> list[Step]:
    """Return one repetition: every run once, by drive, case and arm; no count above `most`."""
    wanted: dict[tuple[str, str], set[str]] = {}
    for need in needs:
        wanted.setdefault((need.on, need.case), set()).update(need.arms)
    def count(on: str, case: str, arm: str) -> int:
        return min(count_for(on, case, arm, quick), most or sys.maxsize)
    return [Step(DRIVES[on], CASES[case], arm, repeat, count(on, case, arm))
            for on in DRIVES for case in CASES for arm in ARMS
            if arm in wanted.get((on, case), ())]


class Progress:
    """The time of the runs still to make, from the pace of the runs so far."""

    def __init__(self, planned: Iterable[Step]) -> None:
        self._todo = sum(step.estimate_s for step in planned)
        self._estimated = 0.0
        self._taken = 0.0

    @property
    def eta_s(self) -> float:
        pace = self._taken / self._estimated if self._estimated else 1.0
        return self._todo * pace

    def finished(self, step: Step, seconds: float) -> None:
        self._todo -= step.estimate_s
        self._estimated += step.estimate_s
        self._taken += seconds
