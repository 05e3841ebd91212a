# SPDX-License-Identifier: GPL-2.0
"""The results of runs: the data behind the tables, the JSON files and the pages.

A run is one workload, through one way to the drive (its *mode*), on one drive: the demo's
profile, or the device that `alignctl verify` was given. Its documents keep the keys of the
programs that made them:

replay  `alignctl replay --json`: requests, writes_expected, wall_s, service_us, data_check, ...
drive   drive512e's control socket, `stats`: touches, rmws, reads, ... of the run alone; None
        for a drive that does not count
ledger  `alignctl stats --json`, `counters` of the one device; None in the mode `raw`,
        which has no target and so no ledger
phases  from the same document: where in a block the writes began, [[byte, writes], ...]
below   `data_check` once more, read from the drive itself after the target was removed
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from . import folder

FORMAT = 3
# The modes that leave writes unmodified, and those that take touches from the drive.
PASSING, FIXING = ("raw", "report"), ("pad", "coalesce")
MODES = (*PASSING, *FIXING)
PROFILES = ("st1000dm003", "hdd-nocache")

# The right-hand side of the ledger's balance, in the order of printing.
SETTLED = ("rmw_avoided", "rmw_host", "rmw_drive", "rmw_lost", "rmw_pending")


@dataclass(frozen=True)
class Run:
    profile: str
    workload: str
    mode: str
    count: int
    touches_expected: int
    replay: dict[str, Any]
    drive: dict[str, Any] | None
    ledger: dict[str, int] | None
    repetition: int = 1
    phases: list[list[int]] | None = None
    below: dict[str, Any] | None = None

    @property
    def title(self) -> str:
        return f"{self.profile} {self.workload} {self.mode}"

    @property
    def latency(self) -> dict[str, Any]:
        return self.replay["service_us"]

    @property
    def seconds(self) -> float:
        """Return the seconds until all writes were durable, the final flush included."""
        return self.replay["wall_s"] + self.replay["flush_s"]

    @property
    def requests(self) -> int:
        return self.replay["requests"]

    @property
    def buffered(self) -> bool:
        return self.replay.get("buffered", False)

    @property
    def written(self) -> int:
        """Return the number of writes that reach the device: as issued, or as the page cache is expected to make them."""
        return self.replay["writes_expected"] if self.buffered else self.requests


@dataclass
class Results:
    """The results of a demo. `machine` identifies its set-up: guest kernel, QEMU, counts, times."""

    machine: dict[str, Any] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)

    def find(self, profile: str, workload: str, mode: str) -> Run | None:
        return next(iter(self.repetitions(profile, workload, mode)), None)

    def repetitions(self, profile: str, workload: str, mode: str) -> list[Run]:
        return [run for run in self.runs
                if (run.profile, run.workload, run.mode) == (profile, workload, mode)]

    @property
    def profiles(self) -> list[str]:
        return list(dict.fromkeys(run.profile for run in self.runs))

    def workloads(self, profile: str) -> list[str]:
        return list(dict.fromkeys(r.workload for r in self.runs if r.profile == profile))

    def save(self, path: Path, findings: list[str]) -> None:
        folder.save(path, FORMAT, {"machine": self.machine, "findings": findings,
                                   "runs": [asdict(run) for run in self.runs]})

    @classmethod
    def load(cls, path: Path) -> Results:
        document = folder.load(path, FORMAT, "demo")
        return cls(document["machine"], [Run(**run) for run in document["runs"]])
