# SPDX-License-Identifier: GPL-2.0
"""Ctrl-C and other terminating signals: where a signal ends the program, and where it waits.

A signal ends the program only within allowed(), so that every step is cleaned up, however often
the user presses Ctrl-C. alignctl blocks the signals until the program has called catch().
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(KeyboardInterrupt):
    """A signal has ended the program, or a command that it ran."""

    def __init__(self, number: int) -> None:
        super().__init__("interrupted" if number == signal.SIGINT else
                         f"interrupted: {signal.strsignal(number)}")
        self.number = number

    @property
    def status(self) -> int:
        """Return the exit status that a shell would report."""
        return 128 + self.number


class _State:
    """
    pending   the signal that has arrived and has not been raised yet
    allowed   whether a signal may end the program now
    """

    pending: int | None = None
    allowed = False


def _take(number: int, _frame: FrameType | None) -> None:
    # the first signal counts
    _State.pending = _State.pending or number
    _obey()


def _obey() -> None:
    if _State.allowed and _State.pending is not None:
        number, _State.pending = _State.pending, None
        # no second signal disturbs the clean-up
        _State.allowed = False
        raise Interrupted(number)


def catch() -> None:
    """Catch the signals: from now on a signal raises Interrupted within allowed() only."""
    for number in SIGNALS:
        # nohup ignores SIGHUP, and it must stay ignored; SIGINT, which shells ignore for background jobs, is caught
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _take)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


@contextlib.contextmanager
def allowed() -> Iterator[None]:
    """Let a signal, also one that arrived before, raise Interrupted in this context. Not to be nested."""
    _State.allowed = True
    try:
        _obey()
        yield
    finally:
        _State.allowed = False


@contextlib.contextmanager
def postponed() -> Iterator[None]:
    """Let a signal wait until the end of this context, also after release(): for a file that is not to be left half made."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def release() -> None:
    """Restore the signals' default action, now that nothing is left to clean up."""
    for number in SIGNALS:
        if signal.getsignal(number) is _take:
            signal.signal(number, signal.SIG_DFL)
