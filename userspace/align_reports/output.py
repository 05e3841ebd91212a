# SPDX-License-Identifier: GPL-2.0
"""Standard output and error: if a stream cannot be written, end as alignctl's own verbs do.

A full disk: one line on standard error, and status 3 unless a graver one was due. A closed pipe:
SIGPIPE without a message, as any program that does not ignore the signal (Python does).
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from .document import ESCAPED
from .exit_status import IO


class Unwritable(Exception):
    """A standard stream cannot be written. Not an OSError, which stands for a fault of devices or files.

    closed: the reader of a pipe has gone
    """

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror)
        self.closed = error.errno == errno.EPIPE


class _Stream:
    """A standard stream that raises Unwritable; otherwise the wrapped stream.

    told: raise on a full disk, too; not for standard error, which has nowhere to report to
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
    # At exit Python would try to write the rest of the buffer once more.
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    print(f"{program}: standard output: {failure}", file=sys.stderr)
    sys.exit(max(status, IO))


def run(program: str, main: Callable[[list[str]], int]) -> NoReturn:
    """Run `main` on the command line and exit with its status. program: the name in messages."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ESCAPED)
    sys.stdout, sys.stderr = _Stream(sys.stdout, True), _Stream(sys.stderr, False)
    status = 0
    try:
        try:
            status = main(sys.argv[1:])
        except SystemExit as ended:     # raised by argparse
            status = ended.code if isinstance(ended.code, int) else 0
        except Unwritable:
            raise
        except Exception:
            # A fault of the program, or no memory. Python's own status for that stands for findings here.
            traceback.print_exc()
            status = IO
        sys.stdout.flush()
    except Unwritable as failure:
        _end(program, failure, status)
    sys.exit(status)


def clock(seconds: float) -> str:
    """Format minutes and seconds for a progress line: 1:05, 72:30."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
