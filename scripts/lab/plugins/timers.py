# SPDX-License-Identifier: GPL-2.0
"""A pytest plugin that stretches the time limits of tests, --timeout and @pytest.mark.timeout, and the tests' delays, on a
slow machine, on the host and in guests: see pace.py."""

import signal

import pytest
import pytest_timeout

from .. import pace


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart():
    pace.begin_test()


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_timeout_set_timer(item, settings):
    """Set a timer like pytest-timeout's own, but reconsider the machine's slowness before the limit strikes."""
    if settings.method != "signal":
        return pytest_timeout.pytest_timeout_set_timer(
            item, settings._replace(timeout=pace.patience(settings.timeout)))
    limit = pace.Limit(settings.timeout)

    def strike(*_):
        __tracebackhide__ = True
        if limit.over():
            pytest_timeout.timeout_sigalrm(item, settings._replace(timeout=round(limit.now(), 1)))
        else:
            signal.setitimer(signal.ITIMER_REAL, max(limit.left(), 0.1))

    def cancel():
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)

    item.cancel_timeout = cancel
    signal.signal(signal.SIGALRM, strike)
    signal.setitimer(signal.ITIMER_REAL, settings.timeout)
    return True
