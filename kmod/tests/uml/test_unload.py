# SPDX-License-Identifier: GPL-2.0
"""The module goes, and nothing of it is left. The last of the tests here, so that it is about all that they did."""

import time
from pathlib import Path

import pytest

from rig.dm import run
from rig.rig import Rig

KMEMLEAK = Path("/sys/kernel/debug/kmemleak")
# kmemleak does not report what is younger than 5 s.
AGE = 6


def leaks():
    """What nobody has a pointer to any more, as kmemleak tells it."""
    time.sleep(AGE)
    for _ in range(2):		# what stood in a register or on a stack in the first scan
        KMEMLEAK.write_text("scan")
    return KMEMLEAK.read_text()


def test_a_second_target_of_that_name_is_refused(rig: Rig, tmp_path):
    """The same module under another name: it registers nothing, and leaves nothing behind."""
    other = tmp_path / "dm-other.ko"
    other.write_bytes(Path(rig._module).read_bytes().replace(b"dm_align\0", b"dm_other\0"))
    with rig.log() as log:
        assert run("insmod", other, ok=False).returncode, "it was loaded"
    assert "already registered" in log.text, log.text
    assert not Path("/sys/module/dm_other").exists()
    rig.unload_module()
    rig.load_module()


@pytest.mark.timeout(120)
def test_nothing_is_left_when_the_module_has_gone(rig):
    rig.unload_module()
    assert leaks() == ""
