# SPDX-License-Identifier: GPL-2.0
"""The module is unloaded without a leak. This test is the last one here, so that it covers all others."""

import time
from pathlib import Path

import pytest

from rig.dm import run
from rig.rig import Rig

KMEMLEAK = Path("/sys/kernel/debug/kmemleak")
# kmemleak does not report objects younger than 5 s.
AGE = 6


def leaks():
    """Return kmemleak's report of objects without a reference."""
    time.sleep(AGE)
    for _ in range(2):		# as the first scan may find a stale pointer in a register or on a stack
        KMEMLEAK.write_text("scan")
    return KMEMLEAK.read_text()


def test_a_second_target_of_that_name_is_refused(rig: Rig, tmp_path):
    """The same module under another name registers nothing, and leaks nothing."""
    other = tmp_path / "dm-other.ko"
    other.write_bytes(Path(rig._module).read_bytes().replace(b"dm_align\0", b"dm_other\0"))
    with rig.log() as log:
        assert run("insmod", other, ok=False).returncode, "the module was loaded"
    assert "already registered" in log.text, log.text
    assert not Path("/sys/module/dm_other").exists()
    rig.unload_module()
    rig.load_module()


@pytest.mark.check_all("test_leaks.py looks for leaks of devices, of refused tables and of requests without memory")
@pytest.mark.kmemleak
@pytest.mark.timeout(120)
def test_nothing_is_left_when_the_module_has_gone(rig):
    rig.unload_module()
    assert leaks() == ""
