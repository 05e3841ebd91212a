# SPDX-License-Identifier: GPL-2.0
"""The benchmark of alignctl check makes a host up whose devices are all answered for."""

import re

from lab.bench import check


def test_all_devices_are_answered_for(monkeypatch, capsys):
    monkeypatch.setattr(check, "SECONDS", float("inf"))
    monkeypatch.setattr("sys.argv", ["bench-check", "--disks", "9", "--volumes", "30", "--runs", "1"])
    assert check.main() == 0
    shown = dict(re.findall(r"headers (\w+) .*, (\d+) series$", capsys.readouterr().out, re.M))
    # of each disk identity, block, shift and the capacity that it was not asked for, of one that is shifted a finding, and two
    # of the host
    assert int(shown["read"]) == 4 * 9 + 1 + 2
    # of each device that is not there a finding with its reason
    assert int(shown["unread"]) == int(shown["read"]) + 2 * (2 * 9 + 30)
