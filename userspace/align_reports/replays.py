# SPDX-License-Identifier: GPL-2.0
"""Runs of alignctl replay, on devices that their user has allowed to be overwritten."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import interrupt
from .machine import Here, Refused, execute

USAGE, BUSY = 2, 4


class Quiet(Here):
    """Runs commands that repeat their messages: each line on standard error is shown once."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def status(self, *argv: str, timeout: float | None = None,
               whole: bool = False) -> tuple[int, str]:
        status, output, said = execute(argv, whole=whole, timeout=timeout, stderr=subprocess.PIPE)
        for line in said.splitlines():
            if line not in self._said:
                print(line, file=sys.stderr)
        self._said.update(said.splitlines())
        return status, output


@dataclass
class Replays:
    """
    alignctl    path of the program
    folder      folder for intermediate files
    forced      devices to write to although they are in use or hold data
    facts       properties of the last run's device: its queue, its blocks
    """

    alignctl: str
    folder: Path
    forced: list[str] = field(default_factory=list)
    here: Quiet = field(default_factory=Quiet)
    facts: dict[str, Any] | None = None

    def force(self, device: str) -> tuple[str, ...]:
        same = any(os.path.samefile(device, forced) for forced in self.forced)
        return ("--force", device) if same else ()

    def make(self, source: str, device: str, *options: str,
             ok: tuple[int, ...] = (0,)) -> dict[str, Any]:
        """Make a run; return alignctl's document. Raises Refused."""
        document = self.here.json(self.alignctl, "replay", source, "--on", device, "--json",
                                  *options, *self.force(device), ok=ok)
        self.facts = document.get("device_facts")
        return document

    def dry(self, source: str, device: str, *options: str) -> int:
        """Try a run with --dry-run; return alignctl's status, after alignctl has printed any reason against the run."""
        return self.here.status(self.alignctl, "replay", source, "--on", device, "--dry-run",
                                "--json", *options, *self.force(device))[0]

    def permit(self, source: str, devices: list[str], *options: str, ask: bool = True,
               restored: str | None = None) -> None:
        """Check before the first run that all devices may be written to; ask for confirmation where needed.

        restored: the area of the device that is written to and restored; None: the device is overwritten
        Raises Refused.
        """
        busy = []
        for device in devices:
            status = self.dry(source, device, *options)
            if status not in (0, BUSY):
                raise Refused(f"{device}: the runs are not possible, see above", status)
            if status:
                busy.append(device)
        if not busy:
            return
        if not ask or not confirmed(devices, restored):
            kept = (f"; {restored} alone would be overwritten, and restored, if no other program writes there: "
                    f"--force {shlex.quote(busy[0])} allows that" if restored else "")
            raise Refused(f"{' and '.join(busy)}: refused, see above; nothing was written{kept}", BUSY)
        self.forced += devices


def confirmed(devices: list[str], restored: str | None) -> bool:
    """Ask the user at a terminal to confirm by typing the names; return whether confirmed. Scripts use --force."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    names = " ".join(devices)
    what = f"{restored} will be overwritten, and restored," if restored else "All of that will be overwritten"
    print(f"{what} on {' and '.join(devices)}. Type {names} to go on: ", end="", file=sys.stderr, flush=True)
    with interrupt.allowed():
        return sys.stdin.readline().strip() == names
