# SPDX-License-Identifier: GPL-2.0
"""What a program prints: if it cannot be written, the program ends as alignctl's own verbs do.

A full disk: one line on standard error, and status 3 unless a graver one was due. A closed pipe:
SIGPIPE, and not a word, as of any program that does not ignore the signal (Python does).
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn

IO = 3


class Unwritable(Exception):
    """A standard stream takes no more. No OSError, which is taken for a fault of devices or files.

    closed: is nobody there any more to read it?
    """

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror)
        self.closed = error.errno == errno.EPIPE


class _Stream:
    """A standard stream that raises Unwritable. All else is the stream's own.

    told: raise it of a full disk, too? Of standard error that could not be told to anybody.
    """

    def __init__(self, stream: Any, told: bool) -> None:
        self._stream, self._told = stream, told

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _attempt(self, act: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return act(*arguments)
        except OSError as error:
            failure = Unwritable(error)
            if failure.closed or self._told:
                raise failure from error
            return None

    def write(self, text: str) -> Any:
        return self._attempt(self._stream.write, text)

    def flush(self) -> None:
        self._attempt(self._stream.flush)


def _end(program: str, failure: Unwritable, status: int) -> NoReturn:
    if failure.closed:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    # What is still in the buffer would be tried once more at the exit.
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    print(f"{program}: standard output: {failure}", file=sys.stderr)
    sys.exit(max(status, IO))


def run(program: str, main: Callable[[list[str]], int]) -> NoReturn:
    """Runs `main` on the command line and ends the program with its status. program: its name."""
    sys.stdout, sys.stderr = _Stream(sys.stdout, True), _Stream(sys.stderr, False)
    status = 0
    try:
        try:
            status = main(sys.argv[1:])
        except SystemExit as ended:     # of argparse
            status = ended.code if isinstance(ended.code, int) else 0
        sys.stdout.flush()
    except Unwritable as failure:
        _end(program, failure, status)
    sys.exit(status)


def clock(seconds: float) -> str:
    """Minutes and seconds, as progress lines show them: 1:05, 72:30."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
