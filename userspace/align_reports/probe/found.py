# SPDX-License-Identifier: GPL-2.0
"""What all methods take and yield: the task, and the results with their pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from rich.table import Table

from ..replays import Replays
from .area import Area
from .samples import Sample
from .statistics import Estimate

# Prints a line of progress.
Say = Callable[[str], None]


@dataclass(frozen=True)
class Task:
    """
    count     requests of each run; None: as the workload has it, or as the method finds
    span      bytes of the device over which requests spread; None: all
    area      the area to write to; None: the method only reads
    seed      seed of the random offsets
    depth     cnc: greatest depth; chunk-size: requests in flight
    recorded  the results are recorded samples, of no device that is here
    """

    device: str
    count: int | None
    span: int | None
    seed: int
    depth: int | None
    area: Area | None = None
    recorded: bool = False

    @property
    def requests(self) -> int:
        """Return the requests of each run of a method that leaves their number to alignctl."""
        assert self.count is not None
        return self.count


@dataclass(frozen=True)
class Found:
    """The results of a method: sentences, a table, a document, and the page's pictures.

    rotation: how fast the disk rotates, in revolutions a minute, zeroes for no rotation; None: not told
    """

    words: list[str]
    table: Table
    document: dict[str, Any]
    curves: list[Curve | Scatter]
    rotation: Estimate | None = None


@dataclass(frozen=True)
class Curve:
    """A picture of a line: y over x, x on a logarithmic axis. mark: x of the point to highlight."""

    title: str
    unit: str
    x_unit: str
    points: list[tuple[float, float]]
    mark: float | None = None


@dataclass(frozen=True)
class Scatter:
    """A picture of points: y over x, both axes from 0."""

    title: str
    unit: str
    x_unit: str
    points: list[tuple[float, float]]


class Method(Protocol):
    """A method of probe."""

    @property
    def writes(self) -> bool:
        """Return whether the method writes, to an area that it is given."""

    def dry(self, replays: Replays, task: Task) -> tuple[str, tuple[str, ...]]:
        """Return source and options of one run, for --dry-run and for the check of the device."""

    def run(self, replays: Replays, task: Task, say: Say, results: list[Any]) -> None:
        """Make the runs, and append what each of them yields to the results."""

    def found(self, task: Task, results: list[Any]) -> Found:
        """Return what follows from the results, of which there is at least one."""


@runtime_checkable
class FromSamples(Protocol):
    """A method that can do with recorded samples, too."""

    @property
    def needed(self) -> tuple[str, ...]:
        """Return the columns, other than offset and time, that it cannot do without."""

    def sampled(self, samples: Sequence[Sample]) -> list[Any]:
        """Return samples as results."""
