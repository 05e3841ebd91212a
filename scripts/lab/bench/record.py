# SPDX-License-Identifier: GPL-2.0
"""The results of one benchmark: the data behind the table, the JSON file and the page.

A run is one case through one arm on one drive, once. Its documents keep the keys of the programs
that made them:

replay   `alignctl replay --json`, without its histograms
drive    drive512e's control socket, `stats`, for this run alone
ledger   `alignctl stats --json`, `counters`; None for an arm that is not dm-align
memory   sysfs of the target: bytes in use, high-water mark, max_blocks; None likewise
machine  guest_cpu: busy share of the guest's processors; host_load: load average of the machine;
         host_steal: stolen share of its processors' time
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from align_reports import folder

from .duel import Result
from .forecast import Forecast
from .idle import Idle, Made
from .open_loop import OpenLoop
from .races import Races
from .recording import Recorded
from .smaller import Result as SmallerResult

FORMAT = 3


@dataclass(frozen=True)
class Run:
    on: str
    case: str
    arm: str
    repeat: int
    count: int
    replay: dict[str, Any]
    drive: dict[str, Any]
    ledger: dict[str, int] | None
    memory: dict[str, int] | None
    machine: dict[str, float]

    @property
    def title(self) -> str:
        return f"{self.on} {self.case} {self.arm} #{self.repeat + 1}"

    @property
    def requests(self) -> int:
        return self.replay["requests"]

    @property
    def wall_us(self) -> float:
        """Return the microseconds from the first write to the last acknowledgement, per write."""
        return self.replay["wall_s"] * 1e6 / self.requests

    @property
    def settled_us(self) -> float:
        """Return the same until the end of the final flush."""
        return (self.replay["wall_s"] + self.replay["flush_s"]) * 1e6 / self.requests

    @property
    def mean_us(self) -> float:
        return self.replay["service_us"]["mean"]

    @property
    def iops(self) -> float:
        return self.requests / self.replay["wall_s"]

    @property
    def busy_us(self) -> float:
        """Return the drive's busy time per write, in microseconds."""
        return self.drive["busy_ns"] / 1e3 / self.requests

    @property
    def pad_reads(self) -> int:
        """Return the ledger's pad reads. Raises ValueError for an arm without a ledger."""
        if self.ledger is None:
            raise ValueError(f"{self.title}: the arm has no ledger")
        return self.ledger["pad_reads"]

    @property
    def cpu(self) -> float:
        return self.machine["guest_cpu"]


@dataclass(frozen=True)
class Series:
    """The values of a quantity in all repetitions of a run."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.values)

    @property
    def spread(self) -> float:
        """Return largest minus smallest, as a share of the median."""
        return (max(self.values) - min(self.values)) / self.median if self.median else 0.0


@dataclass
class Record:
    """
    A whole benchmark. overhead: {engine: {arm: [instructions per write, one a run]}};
    duel: runs of alignctl replay and of fio, in the order in which they were made;
    open_loop: runs of a long trace; recording: runs beside recorders;
    rates: {row: {arm: [writes a second, one a round]}}, before: the same with an older module;
    idle: memory of devices that do nothing; made: devices that were made and removed; structures: sizes of
    the module's; smaller: runs with smaller logical blocks than the drive's; races: what conform found there;
    forecast: what alignctl plan costs.
    """

    machine: dict[str, Any] = field(default_factory=dict)
    queues: dict[str, dict[str, int]] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
    overhead: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    duel: list[Result] = field(default_factory=list)
    open_loop: list[OpenLoop] = field(default_factory=list)
    recording: list[Recorded] = field(default_factory=list)
    rates: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    before: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    idle: list[Idle] = field(default_factory=list)
    made: list[Made] = field(default_factory=list)
    structures: dict[str, int] = field(default_factory=dict)
    smaller: list[SmallerResult] = field(default_factory=list)
    races: list[Races] = field(default_factory=list)
    forecast: Forecast | None = None

    def find(self, on: str, case: str, arm: str) -> list[Run]:
        """Return the repetitions of a run, in order; empty if it was not made."""
        return [run for run in self.runs if (run.on, run.case, run.arm) == (on, case, arm)]

    def series(self, on: str, case: str, arm: str,
               quantity: Callable[[Run], float]) -> Series | None:
        values = tuple(quantity(run) for run in self.find(on, case, arm))
        return Series(values) if values else None

    @property
    def drives(self) -> list[str]:
        return list(dict.fromkeys(run.on for run in self.runs))

    def cases(self, on: str) -> list[str]:
        return list(dict.fromkeys(run.case for run in self.runs if run.on == on))

    def save(self, path: Path, figures: Iterable[Any], findings: list[str]) -> None:
        folder.save(path, FORMAT, {**asdict(self), "findings": findings,
                                   "figures": [asdict(figure) for figure in figures]})

    @classmethod
    def load(cls, path: Path) -> Record:
        document = folder.load(path, FORMAT, "benchmark")
        return cls(document["machine"], document["queues"],
                   [Run(**run) for run in document["runs"]], document["overhead"],
                   [Result(**each) for each in document["duel"]],
                   # absent in older records
                   [OpenLoop(**each) for each in document.get("open_loop", [])],
                   [Recorded(**each) for each in document.get("recording", [])],
                   document.get("rates", {}), document.get("before", {}),
                   [Idle(**each) for each in document.get("idle", [])],
                   [Made(**each) for each in document.get("made", [])], document.get("structures", {}),
                   [SmallerResult(**each) for each in document.get("smaller", [])],
                   [Races(**each) for each in document.get("races", [])],
                   Forecast(**document["forecast"]) if document.get("forecast") else None)
