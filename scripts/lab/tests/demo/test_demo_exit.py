# SPDX-License-Identifier: GPL-2.0
"""The demo's exit status: 0 for a clean result, 1 for a spoiled one, 2 if the demo could not run."""

import json

import pytest

from lab.demo import __main__ as demo
from lab.machines.remote import GuestError


@pytest.fixture
def outcome(monkeypatch, tmp_path):
    """Return a function that runs the demo's main with given results."""
    def run(results):
        def measured(given, empty, console):
            empty.runs += results.runs
        monkeypatch.setattr(demo, "demonstrate", measured)
        return demo.main(["--out", str(tmp_path / "demo")])
    return run


def test_a_clean_result_exits_with_0_and_leaves_its_files(outcome, made_up, tmp_path, capsys):
    assert outcome(made_up) == 0
    assert "105 runs, 0 findings" in capsys.readouterr().out
    assert json.loads((tmp_path / "demo" / "demo.json").read_text())["findings"] == []
    assert "Nothing was lost" in (tmp_path / "demo" / "demo.html").read_text()
    assert "w4k_132k" in (tmp_path / "demo" / "demo.txt").read_text()


@pytest.mark.parametrize("spoil", [
    lambda run: run.drive.update(touches=run.drive["touches"] + 1),
    lambda run: run.ledger.update(rmw_host=run.ledger["rmw_host"] + 1),
    lambda run: run.replay["data_check"].update(status="mismatch", mismatches=1),
], ids=["a touch too many", "an unbalanced ledger", "a wrong byte"])
@pytest.mark.parametrize("mode", ["report", "pad"])
def test_one_spoiled_figure_exits_with_1_and_is_named(spoil, mode, outcome, made_up, tmp_path,
                                                     capsys):
    run = made_up.find("hdd-nocache", "w4096_512", mode)
    spoil(run)
    assert outcome(made_up) == 1
    assert f"FINDING: {run.title}" in capsys.readouterr().out
    findings = json.loads((tmp_path / "demo" / "demo.json").read_text())["findings"]
    assert findings and all(run.title in finding for finding in findings)
    page = (tmp_path / "demo" / "demo.html").read_text()
    assert "Not verified" in page and all(finding in page for finding in findings)


def test_a_demo_that_cannot_run_exits_with_2_says_why_and_leaves_no_old_page(
        outcome, made_up, monkeypatch, tmp_path, capsys):
    def broken(given, results, console):
        raise GuestError("alignctl attach /dev/vdb: status 3: no such target")
    assert outcome(made_up) == 0
    monkeypatch.setattr(demo, "demonstrate", broken)
    assert demo.main(["--out", str(tmp_path / "demo")]) == 2
    assert "no such target" in capsys.readouterr().err
    assert not (tmp_path / "demo" / "demo.html").exists()


def test_two_demos_do_not_write_to_one_folder(outcome, made_up, monkeypatch, tmp_path, capsys):
    second = []

    def during(given, results, console):
        second.append(demo.main(["--out", str(tmp_path / "demo")]))
        results.runs += made_up.runs
    monkeypatch.setattr(demo, "demonstrate", during)
    assert demo.main(["--out", str(tmp_path / "demo")]) == 0
    assert second == [2]
    assert f"demo: {tmp_path / 'demo'} is in use by another run" in capsys.readouterr().err


@pytest.mark.parametrize("ending, words", [
    (GuestError("the guest is gone"), "the guest is gone"),
    (KeyboardInterrupt(), "interrupted"),
])
def test_a_demo_that_breaks_off_exits_with_2_and_shows_what_it_has(
        ending, words, made_up, monkeypatch, tmp_path, capsys):
    def half(given, results, console):
        results.runs += made_up.runs[:15]
        raise ending
    monkeypatch.setattr(demo, "demonstrate", half)
    assert demo.main(["--out", str(tmp_path / "demo")]) == 2
    said = capsys.readouterr().out
    assert words in said and "FINDING: hdd-nocache w512 raw: did not run" in said
    assert words in (tmp_path / "demo" / "demo.html").read_text()
