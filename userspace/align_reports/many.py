# SPDX-License-Identifier: GPL-2.0
"""What programs of many replays have in common: how they are begun and ended, and what they say meanwhile."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from .output import clock
from .replays import Replays
from .verify.command import TABLE_WIDTH, attempt, refused

USAGE = 2


class Program(Protocol):
    """Runs that go together."""

    @property
    def made(self) -> bool:
        """Has any run been made, so that there is something to report?"""

    def warnings(self) -> list[str]:
        """What is said before anything is done."""

    def permit(self) -> None:
        """Sees whether the runs may be made. Raises Refused."""

    def plan(self) -> str:
        """What would be done, for --dry-run."""

    def run(self) -> None:
        """Makes the runs."""

    def report(self, stopped: str | None) -> int:
        """Prints what was found; the exit status."""


def machine() -> dict[str, str]:
    return {"date": datetime.now(UTC).isoformat(timespec="seconds"),
            "kernel": f"{platform.release()} on {platform.node()}"}


def running(console: Console, what: str,
            left_s: float | None) -> Status | contextlib.nullcontext[None]:
    """On a terminal, that something goes on, and how much longer if that is known."""
    if not console.is_terminal:
        return contextlib.nullcontext()
    return console.status(escape(what) + (f", {clock(left_s)} left" if left_s is not None else ""))


def wide() -> Console:
    return Console(width=None if sys.stdout.isatty() else TABLE_WIDTH)


def carry_out(verb: str, html: Path | None, inputs: list[str], forced: list[str], dry_run: bool, as_json: bool,
              form: int, program: Callable[[Replays], Program]) -> int:
    """Makes the runs of a program, and reports on those that were made; the exit status.

    inputs: what the runs read or write; form: of the document that --json prints
    """
    if refused(verb, html, inputs):
        return USAGE
    folder = Path(tempfile.mkdtemp(prefix=f"alignctl-{verb}-"))
    try:
        what = program(Replays(os.environ["ALIGNCTL"], folder, forced))

        def runs() -> None:
            for warning in what.warnings():
                print(f"alignctl: warning: {warning}", file=sys.stderr)
            what.permit()
            if not dry_run:
                what.run()
            elif as_json:
                print(json.dumps({"format": form, "dry_run": True, "plan": what.plan()}))
            else:
                print(f"{what.plan()}\n  nothing was done: --dry-run")

        stopped, status = attempt(verb, runs)
    finally:
        shutil.rmtree(folder)
    return max(status, what.report(stopped)) if what.made else status
