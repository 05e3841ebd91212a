# SPDX-License-Identifier: GPL-2.0
"""A pytest plugin that gives tests, and all that they start, the signals of a terminal's first program.

What starts a session may block or ignore signals (nohup, a shell's background, a supervisor that awaits SIGTERM itself),
and each child inherits that: tests that end a program by a signal would depend on where they run. A test that leaves a
signal otherwise than it found it, so that the next one depends on it, fails.
"""

import signal

import pytest

# SIGINT is Python's, KeyboardInterrupt; SIGPIPE and SIGXFSZ Python ignores, and restores in what it starts.
DEFAULT = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD)
WATCHED = (*DEFAULT, signal.SIGINT)


def pytest_configure():
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in DEFAULT:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _now():
    """Return what signals do here: the handlers of WATCHED, and what is blocked."""
    return [signal.getsignal(number) for number in WATCHED], signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    item.signals_before = _now()
    return (yield)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item):
    """Fail the test behind which a signal is not as before it; restore it for the next one."""
    before, after = item.signals_before, _now()
    if before != after:
        for number, handler in zip(WATCHED, before[0], strict=True):
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before[1])
        pytest.fail(f"the test leaves signals otherwise than it found them: {before} before, {after} now", pytrace=False)
