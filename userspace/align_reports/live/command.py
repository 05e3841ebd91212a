# SPDX-License-Identifier: GPL-2.0
"""The modes of an align device in use, in turn, under its own load: alignctl verify with --live.

Writes nothing to the device. Prints one table and the verdict. Exit status: 0 all agrees, 1 findings, 2 usage,
3 I/O error, 4 the device is not as the experiment left it.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from align_reports import interrupt
from align_reports.command import attempt, put, refused
from align_reports.document import text_of
from align_reports.exit_status import FINDINGS, FINE, USAGE
from align_reports.given import member
from align_reports.intervals import FEWEST
from align_reports.live import figures
from align_reports.live.experiment import Sample, blocks, duration_of, enter_all, schedule, take
from align_reports.live.keeper import Device, Kept, Lost
from align_reports.machine import Refused
from align_reports.many import machine
from align_reports.output import clock
from align_reports.progress import Progress, show, wide
from align_reports.table import duration, rate

FORMAT = 1
# Left out after each change, at least: the device's queue, and what waited for the change.
SETTLE_S = 1.0


@dataclass(frozen=True)
class Place:
    """The device, as alignctl describes it. socket: file of the socket to its mode's keeper, -1: none; mode: that before"""

    socket: int
    dm: str
    mode: str
    hold_ms: int
    name: str


@dataclass(frozen=True, kw_only=True)
class Given:
    """The arguments, see verbs/verify.c. repeat: None if there are seconds"""

    operands: list[str]
    live: bool
    keeper: Place = member(lambda members: Place(**members))
    modes: list[str]
    period: list[int]
    repeat: int | None = None
    seconds: int | None = None
    warmup: float | None = None
    seed: int | None = None
    dry_run: bool = False
    html: Path | None = member(Path, default=None)
    json: bool = False


def settle_time(given: Given) -> float:
    """Return the seconds to leave out after a change: as told, or a hold time where blocks are held, and SETTLE_S at least."""
    if given.warmup is not None:
        return given.warmup
    held = given.keeper.hold_ms / 1000 if "coalesce" in given.modes else 0.0
    return max(SETTLE_S, held)


class Living:
    """The program behind verify NAME --live."""

    def __init__(self, given: Given) -> None:
        self._given, self._place = given, given.keeper
        self._settle = settle_time(given)
        self.seed: int = secrets.randbelow(1 << 32) if given.seed is None else given.seed
        least, most = given.period
        self.periods = schedule(blocks(given.modes, least, most, self.seed), self._settle, given.repeat,
                                given.seconds)
        self.samples: list[Sample] = []
        self.failed = FINE
        self._progress = Progress()

    @property
    def blocks(self) -> int:
        return len(self.periods) // len(self._given.modes)

    def plan(self) -> str:
        least, most = self._given.period
        span = f"{least} to {most} s" if most > least else f"{least} s"
        said = (f"{self._place.name}: {len(self.periods)} periods of {span}, {self.blocks} each in "
                f"{', '.join(self._given.modes)}, {self._settle:g} s left out before each; seed {self.seed}; "
                f"{clock(duration_of(self.periods, self._settle))} minutes in all; mode {self._place.mode} is put back")
        if self.blocks < FEWEST:
            said += f"; fewer than {FEWEST} periods in each mode allow no verdict"
        return said

    def run(self, device: Device, now: Callable[[], float] = time.monotonic) -> None:
        """Measure all periods and keep each sample; put the mode back in any case. Raises as Device."""
        lost = False
        try:
            self._measure(device, now)
        except Lost:
            lost = True
            raise
        finally:
            self._put_back(device, lost)

    def _put_back(self, device: Device, told: bool) -> None:
        """Put the mode back; report and remember if that failed. told: why the mode is not ours is reported anyway"""
        try:
            left = device.end()
        except Refused as error:
            self.failed = error.status
            print(f"alignctl verify: {error}", file=sys.stderr)
            return
        if left:
            why = "" if told else f": {left}"
            print(f"alignctl verify: {self._place.name}: its mode is left as it is{why}", file=sys.stderr)

    def _measure(self, device: Device, now: Callable[[], float]) -> None:
        self._progress.say(self.plan())
        enter_all(device, self._given.modes)
        start = now()
        for at, period in enumerate(self.periods):
            title = f"[{period.number}/{len(self.periods)}] {period.mode}, {period.seconds} s"
            with self._progress.running(title, duration_of(self.periods[at:], self._settle)):
                sample = take(device, period, self._settle, lambda: now() - start)
            self.samples.append(sample)
            self._progress.say(f"{title}: {rate(sample.writes_per_s)} writes/s, {rate(sample.touches_per_s)} touches/s"
                      + self._latency(sample))

    @staticmethod
    def _latency(sample: Sample) -> str:
        mean = sample.latency("misaligned", "mean")
        return "" if mean is None else f", misaligned writes take {duration(mean)}"

    def machine(self) -> dict[str, Any]:
        """Describe the measurement, as the page and the document show it."""
        return {"device": f"{self._place.name} ({self._place.dm})", **machine(), "modes": ", ".join(self._given.modes),
                "mode before": self._place.mode, "seed": self.seed,
                "order": "blocks with a period in each mode, in random order; the mode is changed in use",
                "left out": f"{self._settle:g} s after each change of the mode"}

    def report(self, stopped: str | None) -> int:
        """Print the results; return the exit status."""
        given, modes = self._given, self._given.modes
        made = figures.document(self.samples, modes)
        status = FINE
        if given.html and self.samples:
            from align_reports.live import page
            status = put("verify", given.html, page.render(self._place.name, self.samples, modes, self.machine(), stopped))
        interrupt.release()
        if given.json:
            print(text_of({
                "format": FORMAT, "device": self._place.name, "dm": self._place.dm, "mode_before": self._place.mode,
                "modes": modes, "machine": machine(), "seed": self.seed, "warmup_s": self._settle,
                "periods_planned": len(self.periods), "stopped": stopped, **made}, indent=1))
        else:
            out = wide()
            if self.samples:
                from align_reports.live import table
                show(out, table.render(self.samples, modes, f"{self._place.name}: means of the periods and their 95 % "
                                       "confidence intervals"))
            for line in (*made["verdict"], *(f"FINDING: {each}" for each in made["findings"])):
                out.print(line, markup=False, highlight=False, soft_wrap=True)
        return status or (FINDINGS if made["findings"] else FINE)


def too_short(given: Given, living: Living) -> bool:
    """Report if not a single block fits into --seconds; return whether."""
    if living.periods:
        return False
    print(f"alignctl verify: --seconds {given.seconds}: too short for a period in each of {len(given.modes)} modes; "
          "give more, or a shorter --period", file=sys.stderr)
    return True


def main(given: Given) -> int:
    living = Living(given)
    if refused("verify", given.html, given.operands) or too_short(given, living):
        return USAGE
    if given.dry_run:
        print(text_of({"format": FORMAT, "dry_run": True, "plan": living.plan()}) if given.json else
              f"{living.plan()}\n  nothing was done: --dry-run")
        return FINE
    place = given.keeper
    # Programs that this one starts do not inherit the socket, or it would outlive this program.
    device = Kept(socket.socket(fileno=os.dup(place.socket)), os.environ["ALIGNCTL"], place.name, place.dm, place.mode)
    os.close(place.socket)
    stopped, status = attempt("verify", lambda: living.run(device))
    status = max(status, living.failed)
    return max(status, living.report(stopped)) if living.samples else status
