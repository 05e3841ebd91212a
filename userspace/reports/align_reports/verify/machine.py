# SPDX-License-Identifier: GPL-2.0
"""Commands on this machine, with the functions that the demo's guest has for its own."""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import Any


class Refused(Exception):
    """A command said why it does not do it; `status` is alignctl's exit status."""

    def __init__(self, words: str, status: int) -> None:
        super().__init__(words)
        self.status = status


class Here:
    """Runs commands; their progress lines and warnings go to the terminal."""

    def run(self, *argv: str, timeout: float | None = None, ok: tuple[int, ...] = (0,)) -> str:
        """Runs a command, returns its standard output. ok: good statuses. Raises Refused."""
        done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, timeout=timeout, check=False)
        if done.returncode < 0:
            raise KeyboardInterrupt
        if done.returncode not in ok:
            raise Refused(f"{shlex.join(argv)}: status {done.returncode}", done.returncode)
        return done.stdout

    def json(self, *argv: str, timeout: float | None = None, ok: tuple[int, ...] = (0,)) -> Any:
        return json.loads(self.run(*argv, timeout=timeout, ok=ok))
