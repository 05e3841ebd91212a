# SPDX-License-Identifier: GPL-2.0
"""The search of all orders goes on where it was broken off, adds up its sets, and is not clean before it is complete."""

import json
import stat
import sys

import pytest

from lab.proof import orders

NAMES = ["partial read in mode pad", "partial whole in mode pad", "partial cut in mode coalesce"]
PROGRAM = """#!{python}
import os, sys
given = sys.argv[1:]
if "--list" in given:
    print({names!r})
    sys.exit(0)
with open({calls!r}, "a") as calls:
    print(given[given.index("--set") + 1], file=calls)
if given[given.index("--set") + 1] == {broken!r}:
    print("order 3: a read found what it must not")
    broken = 1
else:
    broken = 0
print("exhaustive: 1 sets, 5 orders, 2 lived to the end, 3 given up as the same as another, 4 states, 9 choices, 1 outcomes, "
      "0 circles, 0 cut off, {left} sets not to the end, reduction states, 0.5 s")
sys.exit(broken)
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Keep the results in a folder of the test; return a maker of programs that write down which sets they search."""
    monkeypatch.setattr(orders, "FILE", tmp_path / "orders.json")
    monkeypatch.setattr(orders, "OUT", tmp_path)
    path, calls = tmp_path / "sim", tmp_path / "calls"

    def program(broken="", left=0):
        path.write_text(PROGRAM.format(python=sys.executable, names="\n".join(NAMES), calls=str(calls), broken=broken, left=left))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        calls.write_text("")
        return str(path)

    program.calls = lambda: calls.read_text().splitlines()
    return program


def search(program):
    return orders.main([program, "--sets", "2-few", "--jobs", "1"])


def test_each_set_is_searched_once_and_the_figures_add_up(here, capsys):
    program = here()
    for _ in range(2):
        assert search(program) == 0
        assert capsys.readouterr().out.splitlines()[-1] == (
            "orders: 3 of 3 sets, 15 orders, 6 lived to the end, 12 states, 0 circles, 0 cut off, 0 sets not to the end, 2 s")
    assert sorted(here.calls()) == sorted(name.partition(" in mode ")[0] for name in NAMES)


def test_a_violation_is_told_ends_the_search_and_is_searched_again(here, capsys):
    for _ in range(2):
        assert search(here(broken="partial read")) == 1
        told = capsys.readouterr().out
        assert "order 3: a read found what it must not" in told and "orders: 3 of 3" not in told
        assert "partial read" in here.calls()
    assert search(here()) == 0 and "partial read" in here.calls()


def test_what_is_not_complete_is_not_clean(here):
    assert search(here(left=1)) == 1


def test_other_sources_begin_anew(here, monkeypatch):
    search(here())
    monkeypatch.setattr(orders, "key_of_the_sources", lambda without: "other sources")
    search(here())
    assert len(here.calls()) == 3 and list(json.loads(orders.FILE.read_text())) == ["other sources"]


@pytest.mark.parametrize("sets", ["x", "2-many", "few-2"])
def test_sets_that_are_none_end_with_status_2(here, sets, capsys):
    with pytest.raises(SystemExit) as ended:
        orders.main([here(), "--sets", sets])
    assert ended.value.code == 2 and sets in capsys.readouterr().err
