# SPDX-License-Identifier: GPL-2.0
"""Commands on this machine, with the interface that the demo's guest has, too."""

from __future__ import annotations

import contextlib
import json
import shlex
import subprocess
from typing import IO, Any

from . import interrupt

# How long a command may clean up after a signal.
GRACE_S = 10.0


class Refused(Exception):
    """A command refused, and printed the reason; `status` is alignctl's exit status."""

    def __init__(self, words: str, status: int) -> None:
        super().__init__(words)
        self.status = status


def execute(argv: tuple[str, ...], *, whole: bool, timeout: float | None = None,
            stderr: int | IO[str] | None = None) -> tuple[int, str, str]:
    """Run a command; return exit status, standard output and standard error.

    whole: let the command run to its end, also when the terminal signals all processes.
    Raises Interrupted, after the command has ended.
    """
    # alignctl writes UTF-8 in any locale; names in its messages may have any bytes.
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=stderr, encoding="utf-8", errors="surrogateescape",
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
            # no effect if the child has ended
            child.kill()
    if child.returncode < 0:
        raise interrupt.Interrupted(-child.returncode)
    return child.returncode, output, words


class Here:
    """Runs commands; their progress lines and warnings go to the terminal."""

    def status(self, *argv: str, timeout: float | None = None,
               whole: bool = False) -> tuple[int, str]:
        """Run a command; return exit status and standard output."""
        return execute(argv, whole=whole, timeout=timeout)[:2]

    def run(self, *argv: str, timeout: float | None = None, ok: tuple[int, ...] = (0,)) -> str:
        """Run a command; return its standard output. ok: good statuses. Raises Refused.

        A signal waits until the command has ended: a target is made or removed, not left in between.
        """
        return self._good(argv, ok, timeout=timeout, whole=True)

    def json(self, *argv: str, timeout: float | None = None, ok: tuple[int, ...] = (0,)) -> Any:
        """Run a command; return the document that it prints. A signal ends the command."""
        return json.loads(self._good(argv, ok, timeout=timeout))

    def _good(self, argv: tuple[str, ...], ok: tuple[int, ...], **how: Any) -> str:
        status, output = self.status(*argv, **how)
        if status not in ok:
            raise Refused(f"{shlex.join(argv)}: status {status}", status)
        return output
