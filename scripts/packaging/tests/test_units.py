# SPDX-License-Identifier: GPL-2.0
"""systemd's units that are installed: valid, and the one that runs all day is locked up."""

import re
import subprocess

import pytest

from lab.pace import patience
from lab.paths import REPO

FOLDERS = {"SBINDIR": "/bin", "UNITDIR": "/lib/systemd/system", "UDEVDIR": "/lib/udev",
           "TEXTFILE_DIR": "/var/lib/prometheus/node-exporter"}
# Of 10, the more the worse; systemd calls 2.0 and less OK.
EXPOSURE = 2.0


@pytest.fixture
def units(tmp_path):
    """The folder of the units as they are installed, with a program that is there."""
    for path in (REPO / "scripts/packaging/systemd").iterdir():
        text = re.sub(r"@(\w+)@", lambda found: FOLDERS[found[1]], path.read_text())
        (tmp_path / path.name.removesuffix(".in")).write_text(text.replace("/bin/alignctl", "/bin/true"))
    return tmp_path


def analyze(*arguments):
    return subprocess.run(["systemd-analyze", *map(str, arguments)], capture_output=True, text=True, timeout=patience(60),
                          check=False)


def test_the_service_of_the_metrics_is_locked_up(units):
    done = analyze("security", "--offline=true", "--no-pager", units / "align-metrics.service")
    exposure = float(re.search(r"Overall exposure level for align-metrics.service: ([\d.]+)", done.stdout)[1])
    assert exposure <= EXPOSURE, done.stdout


def test_nothing_in_the_units_is_misspelt(units):
    done = analyze("verify", "--man=no", units / "align-metrics.service", units / "align-metrics.timer")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
