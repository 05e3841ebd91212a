# SPDX-License-Identifier: GPL-2.0
"""The experiment: each workload through each mode, again and again, in turn.

One run prepares the range, sets the counts to 0, makes the writes, reads the counts, and
reads everything back: through the target, and once more from the device itself after the
target was removed. The modes of one workload follow one another directly, so that other
activity of the machine affects all of them; each repetition begins with another mode.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, Protocol

from ..results import Run
from ..steps import Step


class Machine(Protocol):
    """Where the commands run: machine.Here, or the demo's guest."""

    def run(self, *argv: str, timeout: float | None, ok: tuple[int, ...]) -> str: ...

    def json(self, *argv: str, timeout: float | None, ok: tuple[int, ...]) -> Any: ...


@dataclass(frozen=True)
class Experiment:
    """
    device      path to which the workloads write
    folder      folder for the state between phases of a run; not on that device
    count       repetitions of each workload's pattern; None: as published
    attach      further options of `alignctl attach`
    replay      further options of `alignctl replay`, as `--physical N --offset N` where the device
                does not report them
    force       write although the device is in use or holds data
    control     sends a command to the emulated drive, if the device is one
    before      called between the preparation of a run and the reset of the counts
    timeout     seconds that a command may take; None: no limit
    """

    machine: Machine
    alignctl: str
    device: str
    folder: PurePath
    count: int | None = None
    attach: tuple[str, ...] = ()
    replay: tuple[str, ...] = ()
    force: bool = False
    control: Callable[[str], dict[str, Any]] | None = None
    before: Callable[[], None] | None = None
    timeout: float | None = None

    @property
    def name(self) -> str:
        """Return the target's name below /dev/mapper, unique to this process."""
        return f"alignctl-verify-{os.getpid()}"

    def make(self, step: Step) -> Run:
        """Make one run. Raises Refused, or OSError of the drive; removes the target on every way out."""
        if step.mode == "raw":
            return self._run(step, self.device, None)
        self._attach(step.mode)
        try:
            run = self._run(step, f"/dev/mapper/{self.name}", self.name)
        finally:
            self._align("detach", self.name)
        below = self._replay(step, self.device, "check", ok=(0, 1))
        return replace(run, below=below["data_check"])

    def try_mode(self, mode: str) -> None:
        """Check that the device supports a mode, without a write to it. Raises Refused."""
        if mode != "raw":
            self._attach(mode)
            self._align("detach", self.name)

    def _attach(self, mode: str) -> None:
        self._align("attach", self.device, "--name", self.name, "--mode", mode, *self.attach)

    def _align(self, *argv: str) -> None:
        self.machine.run(self.alignctl, *argv, timeout=self.timeout, ok=(0,))

    def _replay(self, step: Step, path: str, phase: str, ok: tuple[int, ...] = (0,)) -> dict[str, Any]:
        state = self.folder / "state.json"
        return self.machine.json(
            self.alignctl, "replay", step.workload, "--on", path, "--phase", phase, "--state",
            str(state), "--json", *self.replay,
            *(("--count", str(self.count)) if self.count and phase == "prepare" else ()),
            *(("--force", path) if self.force else ()), timeout=self.timeout, ok=ok)

    def _run(self, step: Step, path: str, name: str | None) -> Run:
        prepared = self._replay(step, path, "prepare")
        if self.before:
            self.before()
        if name:
            self._align("set", name, "--reset-stats")
        if self.control:
            self.control("reset")
        replay = self._replay(step, path, "run")
        # Held touches belong to the run: write them before the counts are read.
        if name and step.mode == "coalesce":
            self._align("set", name, "--flush")
        counted = self.control("stats") if self.control else None
        ledger, phases = self._ledger(name) if name else (None, None)
        # Status 1 means that data differs, which goes into the verdict.
        replay["data_check"] = self._replay(step, path, "check", ok=(0, 1))["data_check"]
        return Run(self.device, step.workload, step.mode, prepared["count"],
                   prepared["touches_expected"], replay, counted, ledger, step.repetition, phases)

    def _ledger(self, name: str) -> tuple[dict[str, int], list[list[int]]]:
        # Status 1 means that the ledger does not balance, which goes into the verdict.
        document = self.machine.json(self.alignctl, "stats", name, "--json", timeout=self.timeout,
                                     ok=(0, 1))
        device = document["devices"][0]
        return device["counters"], device["histograms"]["phase"]["bins"]


def all_runs(experiment: Experiment, wanted: list[Step]) -> Iterator[tuple[Step, Run]]:
    """Make and yield all runs; none if one of the modes is refused."""
    for mode in dict.fromkeys(step.mode for step in wanted):
        experiment.try_mode(mode)
    for step in wanted:
        yield step, experiment.make(step)
