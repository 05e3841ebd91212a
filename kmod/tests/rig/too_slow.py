# SPDX-License-Identifier: GPL-2.0
"""What cannot be told on a machine that is too slow for it, and is a fault on any other."""

import pytest

from lab import pace

# A machine with nothing else to do measures about 1, and a little more with two guests on two processors.
SLOW = 1.5


def too_slow(what):
    """Ends a test that did not come to its point in time: skipped on a slow machine, failed on one that is not."""
    slowness = pace.slowness()
    if slowness < SLOW:
        pytest.fail(f"{what}, and the machine is not slow ({slowness:.2f} times the reference)")
    pytest.skip(f"{what}: the machine is too slow to tell ({slowness:.1f} times the reference)")
