# SPDX-License-Identifier: GPL-2.0
"""A pytest plugin that limits the time of a whole test session, DM_ALIGN_BUDGET_MINUTES (85; 0 for no end).

A test that is not finished by then is "not run: out of time": no failure and no pass, with a separate count in pytest's
last line, a list above it, and a separate exit status if there is no failure. A test that is running at the end of the
time is interrupted; a guest is killed, and its finished tests count.

With pytest-xdist the controlling process sets the end, and each worker keeps to it.
"""

import math
import os
import signal
import threading
import time

import pytest

VARIABLE = "DM_ALIGN_BUDGET_MINUTES"
# CI ends a run after 90 minutes, and the report has to come before.
DEFAULT_MINUTES = 85
# Names the end of the time, on the monotonic clock, which all processes of this machine share.
DEADLINE = "DMALIGN_DEADLINE"
WORDS = "not run: out of time"
# pytest has statuses up to 5 of its own.
EXIT_STATUS = 10
# Seconds until a test that ignores the interruption is interrupted again.
INTERVAL = 5


class OutOfTime(pytest.skip.Exception):  # type: ignore[name-defined]  # pytest creates this class at run time
    """The session's time is over, and the test is not run."""

    def __init__(self):
        super().__init__(WORDS, _use_item_location=True)


def left():
    """Return the seconds until the session's time is over."""
    return float(os.environ.get(DEADLINE, math.inf)) - time.monotonic()


def over():
    return left() <= 0


def minutes():
    text = os.environ.get(VARIABLE, str(DEFAULT_MINUTES))
    try:
        return float(text)
    except ValueError:
        raise pytest.UsageError(f"{VARIABLE}={text}: give minutes, or 0 for no end") from None


class Clock:
    """Interrupts the test that is running at the end of the time."""

    def __init__(self):
        self._inside = False
        signal.signal(signal.SIGUSR2, self._strike)
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self):
        while not over():
            # The deadline does not change, but the machine may sleep.
            time.sleep(min(max(left(), 0.01), 60))
        while True:
            if self._inside:
                signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR2)
            time.sleep(INTERVAL)

    def _strike(self, *_):
        if self._inside:
            raise OutOfTime

    def _inner(self, item):
        # A guest's test waits for its result with a limit of its own.
        self._inside = not hasattr(item, "dm_align_batch")
        try:
            return (yield)
        finally:
            self._inside = False

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_setup(self, item):
        # A guest's test may have its result already.
        if over() and not hasattr(item, "dm_align_batch"):
            raise OutOfTime
        return (yield from self._inner(item))

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item):
        return (yield from self._inner(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        if call.excinfo and call.excinfo.errisinstance(OutOfTime):
            report.not_run = True
        return report


def pytest_configure(config):
    if "DMALIGN_BATCH" in os.environ:
        return
    if not hasattr(config, "workerinput") and minutes() and DEADLINE not in os.environ:
        os.environ[DEADLINE] = str(time.monotonic() + 60 * minutes())
        config.add_cleanup(lambda: os.environ.pop(DEADLINE, None))
    if DEADLINE in os.environ:
        config.pluginmanager.register(Clock(), "lab-clock")


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report):
    if getattr(report, "not_run", False):
        return WORDS, "t", WORDS.upper()
    return None


def pytest_report_header():
    return f"time: {left() / 60:.0f} minutes ({VARIABLE})" if left() < math.inf else f"time: no end ({VARIABLE}=0)"


def _not_run(config):
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return reporter.stats.get(WORDS, []) if reporter else []


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    if not hasattr(session.config, "workerinput") and _not_run(session.config) and session.exitstatus == 0:
        session.exitstatus = EXIT_STATUS


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter, config):
    missing = _not_run(config)
    if not missing:
        return
    terminalreporter.section(WORDS, yellow=True)
    for report in missing:
        terminalreporter.line(report.nodeid)
    counts = {word: len(terminalreporter.stats.get(word, [])) for word in ("passed", "failed", "error")}
    terminalreporter.line(f"{counts['passed']} passed, {counts['failed'] + counts['error']} failed, {len(missing)} {WORDS}; "
                          f"{VARIABLE}=N gives N minutes, 0 no end")
