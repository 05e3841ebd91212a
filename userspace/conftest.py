# SPDX-License-Identifier: GPL-2.0
"""What tests of all the programs need."""

import signal

import pytest


@pytest.fixture
def hangup():
    """What a test starts does not ignore SIGHUP, also if all the tests run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)
