# SPDX-License-Identifier: GPL-2.0
"""
The rig of the tests that need faults which only this kernel makes: User Mode Linux, with fault injection, KASAN and
lockdep, on its own test disks. In make check-all also with kmemleak: test_unload.py comes last and looks for leaks of the other
tests.
"""

import pytest

from lab.paths import OUT
from lab.plugins import inside
from rig.dm import run
from rig.memdisk import memory_disk
from rig.rig import Rig


@pytest.fixture(scope="session", autouse=True)
def configfs():
    run("mount", "-t", "configfs", "configfs", "/sys/kernel/config", ok=False)


@pytest.fixture
def rig():
    rig = Rig(None, OUT / "bin", inside.config()["module"])
    rig.load_module()
    return rig


@pytest.fixture
def disk():
    with memory_disk() as disk:
        yield disk
