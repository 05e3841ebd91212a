# SPDX-License-Identifier: GPL-2.0
"""Tests that cannot decide on a slow machine, and fail on any other."""

import pytest

from lab import pace

# A machine with nothing else to do measures about 1, and a little more with two guests on two processors.
SLOW = 1.5


def too_slow(what):
    """End a test that was not fast enough: skip it on a slow machine, else fail it."""
    slowness = pace.slowness()
    if slowness < SLOW:
        pytest.fail(f"{what}, and the machine is not slow ({slowness:.2f} times the reference)")
    pytest.skip(f"{what}: the machine is too slow to tell ({slowness:.1f} times the reference)")
