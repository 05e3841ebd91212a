# SPDX-License-Identifier: GPL-2.0
"""Common parts of programs of many replays: start and end."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from .command import attempt, refused
from .document import text_of
from .replays import Replays

USAGE = 2


class Program(Protocol):
    """Runs that go together."""

    @property
    def made(self) -> bool:
        """Return whether any run was made, so that there is something to report."""

    def warnings(self) -> list[str]:
        """Return the warnings to print before the first run."""

    def permit(self) -> None:
        """Check that the runs may be made. Raises Refused."""

    def plan(self) -> str:
        """Describe the runs, for --dry-run."""

    def run(self) -> None:
        """Make the runs."""

    def report(self, stopped: str | None) -> int:
        """Print the results; return the exit status."""


def machine() -> dict[str, str]:
    return {"date": datetime.now(UTC).isoformat(timespec="seconds"),
            "kernel": f"{platform.release()} on {platform.node()}"}


def carry_out(verb: str, html: Path | None, inputs: list[str], forced: list[str], dry_run: bool, as_json: bool,
              form: int, program: Callable[[Replays], Program]) -> int:
    """Make the runs of a program, and report on those that were made; return the exit status.

    inputs: paths that the runs read or write; form: format number of the document that --json prints
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
                print(text_of({"format": form, "dry_run": True, "plan": what.plan()}))
            else:
                print(f"{what.plan()}\n  nothing was done: --dry-run")

        stopped, status = attempt(verb, runs)
    finally:
        shutil.rmtree(folder)
    return max(status, what.report(stopped)) if what.made else status
