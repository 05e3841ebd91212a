# SPDX-License-Identifier: GPL-2.0
"""One build of the simulation for all of its tests."""

import pytest

from lab.linux import kernels
from sim.programs import make


@pytest.fixture(scope="session")
def linux():
    return kernels.fetch_source(kernels.USUAL)


@pytest.fixture(scope="session")
def built(tmp_path_factory, linux):
    """Return the folder of a build."""
    out = tmp_path_factory.mktemp("sim")
    done = make(out, linux)
    assert done.returncode == 0, done.stderr[-8000:]
    return out
