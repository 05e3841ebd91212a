# SPDX-License-Identifier: GPL-2.0
"""Ctrl-C and its kin: where they end what goes on, and where they wait.

They end a program only while it is within allowed(): so what has been begun is cleaned up, however
often somebody asks. alignctl holds them back until the program has come to catch().
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(KeyboardInterrupt):
    """Somebody has ended the program, or a command of it, by a signal."""

    def __init__(self, number: int) -> None:
        super().__init__("interrupted" if number == signal.SIGINT else
                         f"interrupted: {signal.strsignal(number)}")
        self.number = number

    @property
    def status(self) -> int:
        """The exit status, as a shell has it."""
        return 128 + self.number


class _State:
    """
    pending   the signal that has come and has ended nothing yet
    allowed   may one end what goes on now?
    """

    pending: int | None = None
    allowed = False


def _take(number: int, _frame: FrameType | None) -> None:
    # the first one counts
    _State.pending = _State.pending or number
    _obey()


def _obey() -> None:
    if _State.allowed and _State.pending is not None:
        number, _State.pending = _State.pending, None
        # what it ends is cleaned up undisturbed
        _State.allowed = False
        raise Interrupted(number)


def catch() -> None:
    """From now on a signal ends what is allowed() to be ended, and nothing else."""
    for number in SIGNALS:
        # nohup has it ignored; a shell ignores SIGINT for what is in its background
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _take)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


@contextlib.contextmanager
def allowed() -> Iterator[None]:
    """Within it a signal, also one that came before, raises Interrupted. Not to be nested."""
    _State.allowed = True
    try:
        _obey()
        yield
    finally:
        _State.allowed = False


def release() -> None:
    """From now on there is nothing to clean up: a signal ends the program."""
    for number in SIGNALS:
        if signal.getsignal(number) is _take:
            signal.signal(number, signal.SIG_DFL)
