# SPDX-License-Identifier: GPL-2.0
"""The order of repeated runs: the modes of a workload directly after one another."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """One run to make."""

    repetition: int
    workload: str
    mode: str

    @property
    def title(self) -> str:
        return f"{self.workload} {self.mode}"


def steps(workloads: list[str], modes: list[str], repetitions: int) -> list[Step]:
    """Return every run in order. The first one is in the first mode, so in raw if that is asked for."""
    return [Step(repetition + 1, workload, modes[(first + repetition) % len(modes)])
            for repetition in range(repetitions) for workload in workloads
            for first in range(len(modes))]
