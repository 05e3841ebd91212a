# SPDX-License-Identifier: GPL-2.0
"""The schedule of a demo: which runs, of how many writes, and the time left.

The costs below are for planning and for the ETA only: no result depends on them. Wrong
costs make the demo longer or shorter than its budget.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from align_reports.steps import steps

from .workloads import WORKLOADS, Workload

# Modes of the demo by profile. No touch may be held above a drive without a volatile cache.
MODES_ON = {
    "st1000dm003": ("raw", "report", "pad", "coalesce"),
    "hdd-nocache": ("raw", "report", "pad"),
}

# Milliseconds that one count takes: (raw, report or coalesce; pad). Measured in a guest under TCG,
# which adds 0.25 to 1 ms to every request.
COST_MS = {
    "st1000dm003": {
        "w512": (0.9, 2.0), "w4096": (0.9, 1.1), "w4096_512": (1.3, 5.0),
        "w136k": (1.4, 4.5), "w4k_132k": (5.5, 6.5),
    },
    "hdd-nocache": {
        "w512": (16.8, 9.6), "w4096": (8.8, 9.2), "w4096_512": (17.5, 19.8),
        "w136k": (17.3, 22.1), "w4k_132k": (35.0, 39.0),
    },
}

# Cost of preparing the range and reading it back, per MiB of range, and of starting each program.
RANGE_MS_PER_MIB = 30.0
FIXED_S = 2.2

# Least count of a run. A drive with a cache needs more, or the final flush is most of the time.
FEWEST = {"st1000dm003": 100, "hdd-nocache": 30}


@dataclass(frozen=True)
class Step:
    """One run to make, with its estimate in seconds."""

    profile: str
    repetition: int
    workload: Workload
    mode: str
    count: int

    @property
    def title(self) -> str:
        return f"{self.profile} {self.workload.name} {self.mode}, repetition {self.repetition}"

    @property
    def estimate_s(self) -> float:
        return FIXED_S + self.count * _variable_s(self.profile, self.workload, self.mode)


def _variable_s(profile: str, workload: Workload, mode: str) -> float:
    """Return the seconds that each further count adds to a run, its preparation and check included."""
    passed, padded = COST_MS[profile][workload.name]
    span_mib = workload.span(1000) / 1000 / 2**20
    return ((padded if mode == "pad" else passed) + span_mib * RANGE_MS_PER_MIB) / 1000


def _round_down(count: float) -> int:
    """Round down to one or two leading digits: 1234 gives 1200."""
    if count < 10:
        return int(count)
    unit = 10 ** (int(math.log10(count)) - 1)
    return int(count // unit) * unit


def least_s(profile: str, workload: Workload, repetitions: int) -> float:
    """Return the seconds that the shortest runs of a workload take together, `repetitions` per mode."""
    return repetitions * sum(FIXED_S + FEWEST[profile] * _variable_s(profile, workload, mode)
                             for mode in MODES_ON[profile])


def affordable(profile: str, workload: Workload, repetitions: int, budget_s: float) -> int:
    """Return the largest round count whose runs, `repetitions` per mode, fit in budget_s together."""
    modes = MODES_ON[profile]
    per_count = sum(_variable_s(profile, workload, mode) for mode in modes)
    count = (budget_s / repetitions - len(modes) * FIXED_S) / per_count
    return min(max(_round_down(max(count, 0)), FEWEST[profile]), workload.published_count)


class Schedule:
    """The runs still to make: all repetitions of a workload in a row, each with its modes in verify's order.

    The counts fit a time budget. Before each workload they are chosen anew, from the rest of
    the budget and from the pace of the runs so far, so that a slow machine makes fewer writes
    rather than a longer demo.
    """

    def __init__(self, profiles: tuple[str, ...], repetitions: int, budget_s: float | None) -> None:
        """Plan all runs. budget_s: seconds for all of them; None asks for the published counts."""
        self._repetitions, self._budget_s = repetitions, budget_s
        self._todo = [(profile, workload) for profile in profiles for workload in WORKLOADS]
        self._steps: list[Step] = []
        self._fresh = True    # the next step is the first of its workload
        self._estimated = 0.0
        self._taken = 0.0
        self._choose_counts()

    @property
    def _pace(self) -> float:
        return self._taken / self._estimated if self._estimated else 1.0

    def _choose_counts(self) -> None:
        self._steps = []
        least = {each: least_s(*each, self._repetitions) for each in self._todo}
        for profile, workload in self._todo:
            count = workload.published_count
            if self._budget_s is not None:
                # The workloads share what the budget has beyond their shortest runs.
                more = (self._budget_s - self._taken) / self._pace - sum(least.values())
                share = least[profile, workload] + max(more, 0) / len(self._todo)
                count = affordable(profile, workload, self._repetitions, share)
            self._steps += [Step(profile, step.repetition, workload, step.mode, count) for step in
                            steps([workload.name], list(MODES_ON[profile]), self._repetitions)]

    def __len__(self) -> int:
        return len(self._steps)

    @property
    def eta_s(self) -> float:
        """Return the seconds that the runs still to make will take."""
        return sum(step.estimate_s for step in self._steps) * self._pace

    def next(self) -> Step:
        """Return the run to make now; call `finished` after it."""
        if self._fresh:
            self._choose_counts()
            self._fresh = False
        return self._steps[0]

    def finished(self, seconds: float) -> None:
        """Record that the run of `next` took `seconds`."""
        self._estimated += self._steps.pop(0).estimate_s
        self._taken += seconds
        profile, workload = self._todo[0]
        if not self._steps or (self._steps[0].profile, self._steps[0].workload) != (profile, workload):
            self._todo.pop(0)
            self._fresh = True


def patience(estimate_s: float) -> float:
    """Return the seconds after which a step estimated at estimate_s has surely hung.

    A machine that is busy with other work was seen to need four times the estimate.
    """
    return 300 + 10 * estimate_s
