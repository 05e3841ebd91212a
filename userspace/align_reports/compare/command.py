# SPDX-License-Identifier: GPL-2.0
"""The same requests on two devices, in turn: alignctl verify with --vs.

Prints one table and the verdict. Exit status: 0 all agrees, 1 findings, 2 usage, 3 I/O error,
4 busy or unsafe.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from align_reports import devices, interrupt
from align_reports.command import put
from align_reports.compare import comparison
from align_reports.document import text_of
from align_reports.drive import Control
from align_reports.exit_status import FINDINGS, FINE
from align_reports.given import member
from align_reports.many import carry_out, machine
from align_reports.progress import Progress, show, wide
from align_reports.replays import Replays
from align_reports.steps import steps
from align_reports.table import duration

FORMAT = 2

@dataclass(frozen=True, kw_only=True)
class Given:
    """The arguments, see verbs/verify.c. passed_on: the options of each run, for replay"""

    operands: list[str]
    on: str
    vs: str
    repeat: int
    passed_on: list[str]
    in_phases: bool
    drive_control: str | None = None
    dry_run: bool = False
    force: list[str] | None = None
    html: Path | None = member(Path, default=None)
    json: bool = False

    @property
    def source(self) -> str:
        return self.operands[0]


class Comparing:
    """The program behind verify SOURCE --on DEV --vs DEV2."""

    def __init__(self, given: Given, replays: Replays) -> None:
        self._given, self._on, self._vs = given, given.on, given.vs
        self._replays = replays
        self._shared = devices.overlapping(given.on, given.vs)
        self._samples: list[comparison.Sample] = []
        self._progress = Progress()

    @property
    def made(self) -> bool:
        return bool(self._samples)

    def warnings(self) -> list[str]:
        if not self._shared:
            return []
        after = ("nothing is compared, as --no-check says" if "--no-check" in self._given.passed_on else
                 "what a run has written is compared before the next one starts")
        return [f"{self._on} and {self._vs} both lie on {', '.join(self._shared)} and may "
                f"overwrite each other's data: {after}"]

    def permit(self) -> None:
        self._replays.permit(self._given.source, [self._on, self._vs], *self._given.passed_on,
                             ask=not self._given.dry_run)

    def plan(self) -> str:
        return (f"{self._given.source} on {self._on} and on {self._vs}, {self._given.repeat} times "
                "each, in turn")

    def run(self) -> None:
        given = self._given
        compared = comparison.Comparison(
            self._replays, given.source, tuple(given.passed_on), given.in_phases,
            Control(given.drive_control) if given.drive_control else None, given.html is not None)
        wanted = steps([given.source], [self._on, self._vs], given.repeat)
        began = time.monotonic()
        for made, step in enumerate(wanted, 1):
            pace = (time.monotonic() - began) / (made - 1) if made > 1 else None
            left = pace and pace * (len(wanted) - made + 1)
            with self._progress.running(f"[{made}/{len(wanted)}] {step.mode}", left):
                sample = compared.make(step)
            self._samples.append(sample)
            self._progress.say(f"[{made}/{len(wanted)}] {sample.device}, repetition "
                               f"{sample.repetition}: {sample.replay['requests']} requests in "
                               f"{duration(sample.seconds * 1e6)}")

    def report(self, stopped: str | None) -> int:
        document = comparison.document(self._samples, self._on, self._vs)
        status = FINE
        if self._given.html:
            from align_reports.compare import page
            status = put("verify", self._given.html, page.render(
                self._given.source, self._samples, self._on, self._vs,
                {**machine(), "repetitions": f"{self._given.repeat} on each, in turn"}, stopped))
        interrupt.release()
        if self._given.json:
            print(text_of({
                "format": FORMAT, "source": self._given.source, "on": self._on, "vs": self._vs,
                "machine": machine(), "repetitions": self._given.repeat,
                "shared_disks": self._shared, "stopped": stopped, **document}, indent=1))
        else:
            from align_reports.compare import table
            out = wide()
            show(out, table.render(
                comparison.lines(self._samples, self._on, self._vs), self._samples, self._on,
                self._vs, f"{self._given.source}: means of the repetitions and their 95 % "
                "confidence intervals"))
            wrong = (f"FINDING: {each}" for each in document["findings"])
            for line in (document["verdict"], *wrong):
                out.print(line, markup=False, highlight=False, soft_wrap=True)
        return status or (FINDINGS if document["findings"] else FINE)


def main(given: Given) -> int:
    return carry_out("verify", given.html, [given.source, given.on, given.vs], given.force or [], given.dry_run,
                     given.json, FORMAT, lambda replays: Comparing(given, replays))
