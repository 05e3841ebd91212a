# SPDX-License-Identifier: GPL-2.0
"""Runs of `alignctl replay` that go together: on two devices in turn, or as a method wants them.

Prints one table and what it says. Exit status: 0 all agrees, 1 findings, 2 usage, 3 I/O error,
4 busy or unsafe.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from align_reports import interrupt, needs

try:
    from rich.console import Console
    from rich.markup import escape
    from rich.status import Status
except ImportError:
    print(needs.rich("alignctl replay: --vs and methods"), file=sys.stderr)
    sys.exit(3)

from align_reports.plan import clock
from align_reports.compare import comparison, devices, page as comparison_page, table as comparison_table
from align_reports.probe import page
from align_reports.probe.methods import METHODS, SEED, Task
from align_reports.replays import Replays
from align_reports.table import duration
from align_reports.verify.command import TABLE_WIDTH, attempt, number, put, refused
from align_reports.verify.drive import Control
from align_reports.verify.experiment import steps

FINE, FINDINGS, USAGE = 0, 1, 2
FORMAT = 1
REPEAT = 5
# Of replay, passed on to each run.
VALUES = ("count", "start", "span", "areas", "seed", "physical", "offset", "depth", "think",
          "threads", "warmup", "timing", "speed")
SWITCHES = ("scan", "no-check", "buffered", "direct", "fdatasync")
# Of replay, refused by alignctl where there are many runs: see check_devices() in verbs/replay.c.
NOT_HERE = ("phase", "state", "histogram", "verify-below", "wrap", "scale", "check")


def arguments(argv: list[str]) -> argparse.Namespace:
    """What alignctl has checked and documented: see verbs/replay.c."""
    parser = argparse.ArgumentParser(prog="alignctl replay", add_help=False, allow_abbrev=True)
    parser.add_argument("source")
    for name in (*VALUES, "on", "vs", "drive-control"):
        parser.add_argument(f"--{name}")
    for name in (*SWITCHES, "json", "dry-run", "phased"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--force", action="append", default=[])
    parser.add_argument("--repeat", type=number, default=REPEAT)
    parser.add_argument("--html", type=Path)
    return parser.parse_intermixed_args(argv)


def passed_on(given: argparse.Namespace) -> tuple[str, ...]:
    """The options of each run."""
    values = {name: getattr(given, name.replace("-", "_")) for name in VALUES}
    return (*(word for name, value in values.items() if value is not None
              for word in (f"--{name}", value)),
            *(f"--{name}" for name in SWITCHES if getattr(given, name.replace("-", "_"))))


class Comparing:
    """replay SOURCE --on DEV --vs DEV2."""

    def __init__(self, given: argparse.Namespace, replays: Replays) -> None:
        self._given, self._on, self._vs = given, given.on, given.vs
        self._replays = replays
        self._shared = devices.overlapping(given.on, given.vs)
        self._samples: list[comparison.Sample] = []
        self._console = Console(stderr=True)

    @property
    def made(self) -> bool:
        return bool(self._samples)

    def warnings(self) -> list[str]:
        if not self._shared:
            return []
        after = ("nothing is compared, as --no-check says" if self._given.no_check else
                 "what a run has written is compared before the next one starts")
        return [f"{self._on} and {self._vs} both lie on {', '.join(self._shared)} and may "
                f"overwrite each other's data: {after}"]

    def permit(self) -> None:
        self._replays.permit(self._given.source, [self._on, self._vs], *passed_on(self._given),
                             ask=not self._given.dry_run)

    def plan(self) -> str:
        return (f"{self._given.source} on {self._on} and on {self._vs}, {self._given.repeat} times "
                "each, in turn")

    def run(self) -> None:
        given = self._given
        compared = comparison.Comparison(
            self._replays, given.source, passed_on(given), given.phased,
            Control(given.drive_control) if given.drive_control else None, given.html is not None)
        wanted = steps([given.source], [self._on, self._vs], given.repeat)
        began = time.monotonic()
        for made, step in enumerate(wanted, 1):
            pace = (time.monotonic() - began) / (made - 1) if made > 1 else None
            left = pace and pace * (len(wanted) - made + 1)
            with running(self._console, f"[{made}/{len(wanted)}] {step.mode}", left):
                sample = compared.make(step)
            self._samples.append(sample)
            self._console.print(f"[{made}/{len(wanted)}] {sample.device}, repetition "
                                f"{sample.repetition}: {sample.replay['requests']} requests in "
                                f"{duration(sample.seconds * 1e6)}", markup=False, highlight=False,
                                soft_wrap=True)

    def report(self, stopped: str | None) -> int:
        document = comparison.document(self._samples, self._on, self._vs)
        status = FINE
        if self._given.html:
            status = put("replay", self._given.html, comparison_page.render(
                self._given.source, self._samples, self._on, self._vs,
                {**machine(), "repetitions": f"{self._given.repeat} on each, in turn"}, stopped))
        interrupt.release()
        if self._given.json:
            print(json.dumps({
                "format": FORMAT, "source": self._given.source, "on": self._on, "vs": self._vs,
                "machine": machine(), "repetitions": self._given.repeat,
                "shared_disks": self._shared, "stopped": stopped, **document}, indent=1))
        else:
            out = wide()
            out.print(comparison_table.render(
                comparison.lines(self._samples, self._on, self._vs), self._samples, self._on,
                self._vs, f"{self._given.source}: means of the repetitions and their 95 % "
                "confidence intervals"))
            wrong = (f"FINDING: {each}" for each in document["findings"])
            for line in (document["verdict"], *wrong):
                out.print(line, markup=False, highlight=False, soft_wrap=True)
        return status or (FINDINGS if document["findings"] else FINE)


class Measuring:
    """replay METHOD --on DEV."""

    def __init__(self, given: argparse.Namespace, replays: Replays) -> None:
        self._given, self._replays = given, replays
        self._method = METHODS[given.source]
        count, span, depth = (number(value) if value else None
                              for value in (given.count, given.span, given.depth))
        self._task = Task(given.on, count, span, number(given.seed) if given.seed else SEED, depth)
        self._results: list[Any] = []
        self._console = Console(stderr=True)

    @property
    def made(self) -> bool:
        return bool(self._results)

    def warnings(self) -> list[str]:
        return []

    def permit(self) -> None:
        source, options = self._method.dry(self._replays, self._task)
        self._replays.permit(source, [self._given.on], *options, ask=not self._given.dry_run)

    def plan(self) -> str:
        source, options = self._method.dry(self._replays, self._task)
        return (f"{self._given.source} on {self._given.on}: many runs as of alignctl replay "
                f"{Path(source).name} {' '.join(options)}")

    def run(self) -> None:
        with running(self._console, f"{self._given.source} on {self._given.on}", None):
            self._method.run(self._replays, self._task, lambda words: self._console.print(
                words, markup=False, highlight=False, soft_wrap=True), self._results)

    def report(self, stopped: str | None) -> int:
        found = self._method.found(self._task, self._results)
        status = FINE
        if self._given.html:
            status = put("replay", self._given.html, page.render(
                self._given.source, self._given.on, found, machine(), stopped))
        interrupt.release()
        if self._given.json:
            print(json.dumps({
                "format": FORMAT, "method": self._given.source, "device": self._given.on,
                "machine": machine(), "device_facts": self._replays.facts, "stopped": stopped,
                **found.document}, indent=1))
        else:
            out = wide()
            out.print(found.table)
            for line in found.words:
                out.print(line, markup=False, highlight=False, soft_wrap=True)
        return status


def machine() -> dict[str, str]:
    return {"date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "kernel": f"{platform.release()} on {platform.node()}"}


def running(console: Console, what: str,
            left_s: float | None) -> Status | contextlib.nullcontext[None]:
    """On a terminal, that something goes on, and how much longer if that is known."""
    if not console.is_terminal:
        return contextlib.nullcontext()
    return console.status(escape(what) + (f", {clock(left_s)} left" if left_s is not None else ""))


def wide() -> Console:
    return Console(width=None if sys.stdout.isatty() else TABLE_WIDTH)


def make(what: Comparing | Measuring, dry_run: bool, as_json: bool) -> tuple[str | None, int]:
    """Makes the runs; why they ended early, if they did, and the exit status."""
    def runs() -> None:
        for warning in what.warnings():
            print(f"alignctl: warning: {warning}", file=sys.stderr)
        what.permit()
        if not dry_run:
            what.run()
        elif as_json:
            print(json.dumps({"format": FORMAT, "dry_run": True, "plan": what.plan()}))
        else:
            print(f"{what.plan()}\n  nothing was done: --dry-run")

    return attempt("replay", runs)


def main(argv: list[str]) -> int:
    given = arguments(argv)
    inputs = [given.source, given.on, *([given.vs] if given.vs else [])]
    if refused("replay", given.html, inputs):
        return USAGE
    folder = Path(tempfile.mkdtemp(prefix="alignctl-replay-"))
    try:
        replays = Replays(os.environ["ALIGNCTL"], folder, given.force)
        what = (Comparing if given.vs else Measuring)(given, replays)
        stopped, status = make(what, given.dry_run, given.json)
    finally:
        shutil.rmtree(folder)
    return max(status, what.report(stopped)) if what.made else status
