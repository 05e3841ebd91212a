# SPDX-License-Identifier: GPL-2.0
"""One build of the simulation for all of its tests."""

import pytest

from lab.linux import kernels
from sim.programs import build_once


@pytest.fixture(scope="session")
def linux():
    return kernels.fetch_source(kernels.USUAL)


@pytest.fixture(scope="session")
def built(tmp_path_factory, linux):
    """Return the folder of a build."""
    return build_once(tmp_path_factory.mktemp("sim"), linux)


@pytest.fixture(scope="session")
def searching(tmp_path_factory, linux):
    """Return the folder of a build that sees accesses."""
    return build_once(tmp_path_factory.mktemp("accesses"), linux, "ACCESSES=1")
