# SPDX-License-Identifier: GPL-2.0
"""The benchmark of Prometheus serves what alignctl writes, and counts the series that it has served."""

import json
import re
import subprocess

import pytest

from lab.bench import prometheus
from lab.pace import patience
from lab.paths import OUT


@pytest.fixture(scope="module")
def check(tmp_path_factory):
    return prometheus.printed(tmp_path_factory.mktemp("host") / "host", 8)


def names(text):
    return set(re.findall(r"^(alignctl_\w+)", text, re.M))


def test_a_host_serves_what_alignctl_writes(check):
    host = prometheus.Host(3, check)
    top = subprocess.run([OUT / "bin/alignctl", "top", "--help"], capture_output=True, text=True, check=True,
                         timeout=patience(30)).stdout
    # only with --cgroups
    listed = {name for name in re.findall(r"^ (alignctl_\w+)$", top, re.M) if "cgroup" not in name}
    assert names(host.disks(1)) == listed
    assert names(host.check()) == names(check) | {"alignctl_check_revolution_seconds"}
    checked = subprocess.run(["promtool", "check", "metrics"], input=host.check() + host.disks(9), capture_output=True, text=True,
                             timeout=patience(30), check=False)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_hosts_differ_and_their_counters_rise(check):
    hosts = [prometheus.Host(number, check) for number in range(2)]
    infos = [set(re.findall(r"^alignctl_check_disk_info.*", host.check(), re.M)) for host in hosts]
    assert len(infos[0]) == len(infos[1]) == 8 and not infos[0] & infos[1]
    for name in ("writes", "misaligned_writes", "inside_writes", "touches", "written_bytes", "touched_bytes"):
        before, after = (sum(map(int, re.findall(rf"^alignctl_disk_{name}_total{{.*}} (\d+)$", hosts[0].disks(seconds), re.M)))
                         for seconds in (1, 100))
        assert 0 < before < after, name


def test_the_series_are_those_that_were_served(check, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["bench-prometheus", "--hosts", "6", "--disks", "8", "--minutes", "0.5", "--interval", "1",
                                     "--json"])
    assert prometheus.main() == prometheus.FINE
    found = json.loads(capsys.readouterr().out)
    served = [line for line in prometheus.Host(0, check).served(1).splitlines() if not line.startswith("#")]
    assert found["targets_up"] == 6 and found["scraped_series"] == 6 * len(served)
    assert found["head_series"] > found["scraped_series"] + found["recorded_series"] > found["scraped_series"] > 6 * 8 * 10
    assert 0 < found["scrape_median_s"] <= found["scrape_max_s"] and 0 < found["heap_bytes"] < found["rss_max_bytes"]
    assert 0 < found["rules_mean_s"] <= found["rules_max_s"]
    assert set(found["rule_group_s"]) >= {"alignctl-disks", "alignctl-alerts"}
    assert "6 hosts of 8 disks" in prometheus.table(found) and "nan" not in prometheus.table(found)
