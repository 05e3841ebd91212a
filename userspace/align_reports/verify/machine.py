# SPDX-License-Identifier: GPL-2.0
"""Commands on this machine, with the functions that the demo's guest has for its own."""

from __future__ import annotations

import contextlib
import json
import shlex
import subprocess
from typing import IO, Any

from .. import interrupt

# How long a command may take to end what is under way when a signal has ended it.
GRACE_S = 10.0


class Refused(Exception):
    """A command said why it does not do it; `status` is alignctl's exit status."""

    def __init__(self, words: str, status: int) -> None:
        super().__init__(words)
        self.status = status


def execute(argv: tuple[str, ...], *, whole: bool, timeout: float | None = None,
            stderr: int | IO[str] | None = None) -> tuple[int, str, str]:
    """Runs a command; its exit status and what it said.

    whole: it goes on to its end whatever happens, also when the terminal sends a signal to all.
    Raises Interrupted, when the command has ended.
    """
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=stderr, text=True,
                          start_new_session=whole) as child:
        try:
            if whole:
                output, words = child.communicate(timeout=timeout)
            else:
                with interrupt.allowed():
                    output, words = child.communicate(timeout=timeout)
        except interrupt.Interrupted as signal:
            child.send_signal(signal.number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.communicate(timeout=GRACE_S)
            raise
        finally:
            # nothing if it has ended
            child.kill()
    if child.returncode < 0:
        raise interrupt.Interrupted(-child.returncode)
    return child.returncode, output, words


class Here:
    """Runs commands; their progress lines and warnings go to the terminal."""

    def status(self, *argv: str, timeout: float | None = None,
               whole: bool = False) -> tuple[int, str]:
        """Runs a command; its exit status and standard output."""
        return execute(argv, whole=whole, timeout=timeout)[:2]

    def run(self, *argv: str, timeout: float | None = None, ok: tuple[int, ...] = (0,)) -> str:
        """Runs a command, returns its standard output. ok: good statuses. Raises Refused.

        A signal waits until it has ended: a target is made or removed, not left in between.
        """
        return self._good(argv, ok, timeout=timeout, whole=True)

    def json(self, *argv: str, timeout: float | None = None, ok: tuple[int, ...] = (0,)) -> Any:
        """The document that a command prints. A signal ends it."""
        return json.loads(self._good(argv, ok, timeout=timeout))

    def _good(self, argv: tuple[str, ...], ok: tuple[int, ...], **how: Any) -> str:
        status, output = self.status(*argv, **how)
        if status not in ok:
            raise Refused(f"{shlex.join(argv)}: status {status}", status)
        return output
