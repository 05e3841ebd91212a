# SPDX-License-Identifier: GPL-2.0
"""make test T=<word> finds the named tests of each kind, and builds no more than the tests need."""

import pytest

from lab import pick
from lab.paths import REPO


@pytest.mark.parametrize("word", ["test_hold.py", "test_hold", "hold", "kmod/tests/guest/test_hold.py"])
def test_a_file_is_found_by_its_path_and_by_its_name(word, monkeypatch):
    monkeypatch.chdir(REPO)
    assert "kmod/tests/guest/test_hold.py" in pick.pick(word).python


def test_a_path_names_no_file_of_that_name_elsewhere(monkeypatch):
    monkeypatch.chdir(REPO)
    twice = {path.name for path in pick.files("test_*.py") if len(pick.pick(path.name).python) > 1}
    assert twice and pick.pick("no/" + min(twice)).python == []
    for path in pick.files(min(twice)):
        assert pick.pick(str(path.relative_to(REPO))).python == [str(path.relative_to(REPO))]


def test_one_test_of_a_file_is_kept_apart():
    assert pick.pick("test_pick.py::test_one").python == ["scripts/lab/tests/test_pick.py::test_one"]


def test_a_part_of_a_functions_name_chooses_it():
    picked = pick.pick("kept_apart")
    assert (picked.python, picked.expression) == (["scripts/lab/tests/test_pick.py"], "kept_apart")


@pytest.mark.parametrize("word, expected", [("decimal", {"alignctl": ["decimal"]}),
                                            ("test_iolog.c", {"alignctl": ["trace_iolog"]}),
                                            ("mechanics", {"drive512e": ["mechanics"]}),
                                            ("the last that 64 bits hold", {"alignctl": ["the last that 64 bits hold"]})])
def test_c_unit_tests_are_found_by_file_and_by_promise(word, expected):
    assert pick.pick(word).c == expected


def test_kunit_suites_are_found_by_file():
    assert [path.name for path in pick.pick("geometry_test.c").kunit] == ["geometry_test.c"]


def test_what_no_test_is_called_is_nothing():
    assert not pick.pick("no such " + "word")


@pytest.mark.parametrize("paths, expected", [
    (["Documentation/tests/test_manual.py"], (["venv"], ["programs"])),
    (["kmod/tests/guest/test_hold.py"], (["check"], ["programs", "test-tools"])),
    ([], ([], [])),
])
def test_no_more_is_set_up_than_is_needed(paths, expected):
    assert pick.needs(paths) == expected


def test_c_unit_tests_run_where_their_samples_are_found(monkeypatch):
    ran = []
    monkeypatch.setattr(pick, "run", lambda *command, cwd=REPO: ran.append((command, cwd)) or 0)
    with pytest.raises(SystemExit) as end:
        pick.main(["test_iolog.c"])
    assert not end.value.code
    [(command, folder)] = [each for each in ran if str(each[0][0]).endswith("-unit")]
    assert command[1:] == ("trace_iolog",) and folder == REPO / "userspace/alignctl"
