# SPDX-License-Identifier: GPL-2.0
"""systemd's units that are installed: valid, and those that run all day are locked up."""

import re
import subprocess

import pytest

from lab.pace import patience
from lab.paths import REPO

FOLDERS = {"SBINDIR": "/bin", "UNITDIR": "/lib/systemd/system", "UDEVDIR": "/lib/udev",
           "TEXTFILE_DIR": "/var/lib/prometheus/node-exporter"}
SERVICES = ("align-metrics", "align-check-metrics", "align-disk-metrics")
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


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_of_metrics_is_locked_up(units, name):
    done = analyze("security", "--offline=true", "--no-pager", units / f"{name}.service")
    exposure = float(re.search(rf"Overall exposure level for {name}.service: ([\d.]+)", done.stdout)[1])
    assert exposure <= EXPOSURE, done.stdout


@pytest.mark.parametrize("name", SERVICES)
def test_nothing_in_the_units_is_misspelt(units, name):
    done = analyze("verify", "--man=no", *units.glob(f"{name}.*"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def lines(units, name):
    return {line for line in (units / f"{name}.service").read_text().splitlines() if "=" in line and not line.startswith("#")}


def test_the_service_of_check_is_locked_up_as_that_of_stats_but_for_reading_disks(units):
    stats, check = (lines(units, name) for name in SERVICES[:2])
    own = re.compile(r"(Description|Documentation|ExecStart|TimeoutStartSec|IOSchedulingClass)=")
    assert {line for line in stats - check if not own.match(line)} == {"PrivateDevices=yes"}
    assert {line for line in check - stats if not own.match(line)} == {"DeviceAllow=block-* r"}


def test_the_service_of_top_is_locked_up_as_that_of_stats_but_for_loading_programs(units):
    stats, top = (lines(units, name) for name in ("align-metrics", "align-disk-metrics"))
    own = re.compile(r"(Description|Documentation|Exec\w+|Type|TimeoutStartSec|Restart\w*|WantedBy|ConditionPathExists)=")
    assert {line for line in stats - top if not own.match(line)} == {"CapabilityBoundingSet="}
    assert {line for line in top - stats if not own.match(line)} == {
        "CapabilityBoundingSet=CAP_BPF CAP_PERFMON", "SystemCallFilter=bpf perf_event_open"}
