# SPDX-License-Identifier: GPL-2.0
"""One run of alignctl replay, on a device that may be overwritten, as its user has said."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import interrupt
from .verify.machine import Here, Refused, execute

USAGE, BUSY = 2, 4


class Quiet(Here):
    """Runs commands that say the same again and again: what one says is shown once."""

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
    alignctl    the program
    folder      for what is made on the way
    forced      devices that are written to although they are in use or hold data
    facts       of the device of the last run: its queue, its blocks
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
        """Makes a run, returns alignctl's document. Raises Refused."""
        document = self.here.json(self.alignctl, "replay", source, "--on", device, "--json",
                                  *options, *self.force(device), ok=ok)
        self.facts = document.get("device_facts")
        return document

    def dry(self, source: str, device: str, *options: str) -> int:
        """Whether a run could be made: alignctl's status; what stands against it has been shown."""
        return self.here.status(self.alignctl, "replay", source, "--on", device, "--dry-run",
                                "--json", *options, *self.force(device))[0]

    def permit(self, source: str, devices: list[str], *options: str, ask: bool = True,
               restored: str | None = None) -> None:
        """Sees whether runs can be made on all devices, before any is; asks a person who must say.

        restored: the part of each that is written to, and restored in the end; None: it is overwritten
        Raises Refused.
        """
        busy = []
        for device in devices:
            status = self.dry(source, device, *options)
            if status not in (0, BUSY):
                raise Refused(f"{device}: cannot be done, see above", status)
            if status:
                busy.append(device)
        if not busy:
            return
        if not ask or not confirmed(devices, restored):
            kept = (f"; {restored} alone would be overwritten, and restored, if nobody else writes there: "
                    f"--force {busy[0]} allows that" if restored else "")
            raise Refused(f"{' and '.join(busy)}: refused, see above; nothing was written{kept}", BUSY)
        self.forced += devices


def confirmed(devices: list[str], restored: str | None) -> bool:
    """Lets a person at a terminal confirm by typing the names. A script has --force."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    names = " ".join(devices)
    what = f"{restored} will be overwritten, and restored," if restored else "All of that will be overwritten"
    print(f"{what} on {' and '.join(devices)}. Type {names} to go on: ", end="", file=sys.stderr, flush=True)
    with interrupt.allowed():
        return sys.stdin.readline().strip() == names
