# SPDX-License-Identifier: GPL-2.0
"""The benchmark of alignctl fleet makes hosts that are all answered for, in each kind of answer."""

import json
import re

import pytest

from lab.bench import fleet


@pytest.mark.parametrize("hosts", [7])
def test_all_hosts_are_answered_for(monkeypatch, capsys, hosts):
    monkeypatch.setattr(fleet, "SECONDS", float("inf"))
    monkeypatch.setattr("sys.argv", ["bench-fleet", "--hosts", str(hosts)])
    assert fleet.main() == 0
    shown = capsys.readouterr().out
    assert re.findall(r"(\d+) hosts answered for\n", shown) == [str(hosts)] * 3
    # as large as those of machines with twelve disks
    assert int(re.search(r"of 12 disks, (\d+) kB each", shown)[1]) > 40


def test_hosts_differ_as_those_of_a_fleet_do(tmp_path):
    """In their disks, in what is shifted, and in what that costs."""
    hosts = 2 * fleet.MACHINES
    fleet.make(tmp_path, hosts)
    folders = sorted((tmp_path / "answers").iterdir())
    checks = [json.loads((folder / "check.json").read_text()) for folder in folders]
    plans = [json.loads(path.read_text()) for folder in folders for path in folder.glob("plan-*.json")]
    disks = [row for check in checks for row in check["devices"] if not row["lies_on"]]
    assert (len(checks), len(plans), len(disks)) == (hosts, hosts, hosts * fleet.DISKS)
    assert len({json.dumps(check["devices"]) for check in checks}) == fleet.MACHINES
    assert len({plan["touches_expected"] for plan in plans}) > fleet.TRACES / 2
    assert len({plan["touches_expected"] / plan["seconds"] for plan in plans}) == hosts
    findings = [len(check["findings"]) for check in checks]
    assert {0, fleet.DISKS} < set(findings) and 0.4 < sum(findings) / len(disks) < 0.6
    assert {row["model"]: row["unit"]["rotation"]["rpm"] for row in disks} == fleet.MODELS
