# SPDX-License-Identifier: GPL-2.0
"""What Prometheus records of guests with different loads is what their drives counted, and what check finds.

The commands of the services run in each guest, and the way of their files is that of a user: see test_dashboard_under_load.py.
"""

import time

import pytest

from lab.dashboard.fleet_run import ALIGNED, DISK, HOSTS, scraped, started
from lab.machines import LeftOut
from lab.pace import scaled

# One worker: there is one guest of each name at a time.
pytestmark = [pytest.mark.xdist_group("fleet-dashboard"),
              pytest.mark.check_all("test_fleet_monitoring.py has the same programs read made-up metrics"),
              pytest.mark.timeout(600)]
SECONDS = 10
SHIFTED = "db1"
SECTOR = 512


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    try:
        with started(tmp_path_factory.mktemp("fleet"), seconds=2 * SECONDS, every=2, name="fleet-test") as running:
            yield running
    except LeftOut as reason:
        pytest.skip(str(reason))


def counters(monitors, when):
    """Return {host: {counter without prefix: value}} of the disks that have the loads."""
    found = {}
    for labels, value in monitors.at(f'{{__name__=~"alignctl_disk_.*_total", device="{DISK}"}}', when):
        found.setdefault(labels["instance"], {})[labels["__name__"].removeprefix("alignctl_disk_")] = value
    return found


def of_hosts(monitors, query):
    return {labels["instance"]: value for labels, value in monitors.at(query)}


def test_the_counters_are_those_of_the_drives_and_the_records_follow(fleet):
    machines, monitors = fleet
    before, drives = counters(monitors, scraped(monitors, time.time())), {}
    for name, machine in machines.items():
        drives[name] = machine.drive.control("stats")
        machine.begin(scaled(SECONDS))
    time.sleep(scaled(SECONDS))
    for machine in machines.values():
        machine.end()
    after = counters(monitors, scraped(monitors, time.time()))
    for name, machine in machines.items():
        grown = {each: after[name][each] - before[name].get(each, 0) for each in after[name]}
        stats = machine.drive.control("stats")
        assert grown["writes_total"] == stats["writes"] - drives[name]["writes"] > 0, name
        assert grown["written_bytes_total"] == stats["write_bytes"] - drives[name]["write_bytes"], name
        if name == SHIFTED:
            assert grown["touches_total"] == 2 * grown["inside_writes_total"] == 2 * grown["writes_total"]
        else:
            assert grown["misaligned_writes_total"] > 0
    # the records of the same time
    touches = of_hosts(monitors, "instance:alignctl_disk_touches:rate5m")
    assert set(touches) == set(machines) and all(value > 0 for value in touches.values())
    revolutions = of_hosts(monitors, "alignctl_check_revolution_seconds")
    lost = of_hosts(monitors, "instance:alignctl_disk_rmw_seconds:rate5m")
    assert revolutions == {"db1": pytest.approx(60 / 7200), "log1": pytest.approx(60 / 7200), "ssd1": 0}
    assert set(lost) == {"db1", "log1"} and set(of_hosts(monitors, "instance:alignctl_disk_extra_bytes:rate5m")) == {"ssd1"}
    models = {labels["model"]: value for labels, value in monitors.at("model:alignctl_check_disks:count")}
    assert models == {"hdd7200": 2, "qlc-16k": 1}


def test_a_finding_ends_when_its_partition_is_made_anew(fleet):
    machines, monitors = fleet
    assert {host.name: host.start % 8 * SECTOR for host in HOSTS if host.start % 8} == {SHIFTED: 3584}
    assert of_hosts(monitors, "alignctl_check_shift_bytes > 0") == {SHIFTED: 3584}
    assert of_hosts(monitors, "instance:alignctl_check_shifted_disks:count") == {SHIFTED: 1}
    assert monitors.alerts()["AlignDiskShifted"] == "pending"
    machine = machines[SHIFTED]
    machine.partition(ALIGNED)
    machine.check()
    scraped(monitors, time.time() + 2 * monitors.scraped)
    assert of_hosts(monitors, "alignctl_check_shift_bytes > 0") == {}
    assert of_hosts(monitors, "instance:alignctl_check_findings:sum") == {}
    assert "AlignDiskShifted" not in monitors.alerts()
