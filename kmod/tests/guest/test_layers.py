# SPDX-License-Identifier: GPL-2.0
"""A module without the upper modes: it refuses them by name, and works as usual; run with DM_ALIGN_LAYERS (plugins/layer.py)."""

import subprocess

import pytest

from lab.paths import OUT
from rig.dm import Align, run

ALIGNCTL = OUT / "bin" / "alignctl"


def refused(device, mode):
    """Send the message "mode" through alignctl; return its output."""
    done = subprocess.run([ALIGNCTL, "set", device.name, "--mode", mode], capture_output=True, text=True)
    assert done.returncode
    return done.stdout + done.stderr


@pytest.mark.layer("report", "pad")
def test_a_mode_that_is_not_built_in_is_refused_by_name(rig):
    with Align(rig.drive("p4096").path, mode="report") as device:
        assert "mode coalesce is not built in" in refused(device, "coalesce")
        assert device.status().startswith("report ")


@pytest.mark.layer("report")
def test_a_module_of_mode_report_has_no_other_and_alignctl_reads_it(rig):
    with Align(rig.drive("p4096").path, mode="report") as device:
        assert "mode pad is not built in" in refused(device, "pad")
        device.message("mode report")
        device.message("flush")
        assert device.name in run(str(ALIGNCTL), "stats", device.name).stdout
