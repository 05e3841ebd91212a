# SPDX-License-Identifier: GPL-2.0
"""The figures of the drive models, measured once for all tests of a worker."""

import pytest

from lab.drive import published


@pytest.fixture(scope="session")
def figures():
    """What the models have now, on the virtual clock."""
    return published.figures()
