# SPDX-License-Identifier: GPL-2.0
"""The benchmark of alignctl fleet makes hosts that are all answered for, in each kind of answer."""

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
