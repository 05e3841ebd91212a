# SPDX-License-Identifier: GPL-2.0
"""The drive models have the published figures that they claim; what is printed and judged is what was measured."""

import json
import re
import subprocess

import pytest

from lab.demo.workloads import BY_NAME
from lab.drive import __main__ as command, published
from lab.drive.__main__ import BROKEN, DRIVE, FINE, OUTSIDE, main
from lab.drive.measures import Drive, profiles
from lab.drive.rows import DISK, ROWS, WORKLOADS, Row, host_us, play
from lab.drive.target import NBD, NbdTarget
from lab.pace import patience
from lab.paths import OUT, REPO, locked

# All that ask for all figures: one worker measures them.
pytestmark = pytest.mark.xdist_group("published figures")


@pytest.fixture
def written(tmp_path):
    """The arguments for files of a test."""
    return ["--json", str(tmp_path / "figures.json"), "--page", str(tmp_path / "page.html")]


def off(figures):
    """The rows that do not keep what their model claims."""
    return [f"{profile['name']}, {row['name']}: {row['measured']} {row['unit'] or ''}, published {row['published']}"
            for profile in figures["profiles"] for row in profile["rows"] if not row["holds"]]


def test_each_claimed_figure_is_within_its_tolerance(figures):
    claimed = [row for profile in figures["profiles"] for row in profile["rows"] if not row["not_claimed"]]
    assert not off(figures) and figures["within"]
    assert len(claimed) > 50 and all(abs(row["deviation_percent"]) <= 10 for row in claimed)


@pytest.mark.parametrize("name", ["w512, wall", "sequential read"])
@pytest.mark.parametrize("factor", [0.85, 1.15])
def test_a_wrong_figure_is_found(monkeypatch, capsys, written, name, factor):
    """A published one or, which is the same, a model's."""
    [row] = [row for row in ROWS if row.name == name]
    wrong = row._replace(published=row.measured() * factor)
    monkeypatch.setattr(published, "ROWS", tuple(wrong if each is row else each for each in ROWS))
    assert len(off(published.figures(row.profile))) == 1
    assert main(["--only", row.profile, "--virtual", *written]) == OUTSIDE
    printed = capsys.readouterr().out
    assert printed.count("outside 10 %") == 1 and "there are claimed figures outside their tolerance" in printed


@pytest.mark.parametrize("measured, holds", [(109, True), (91, True), (111, False), (89, False), (0, False), (None, False)])
def test_a_row_is_held_to_its_tolerance_unless_it_is_not_claimed(measured, holds):
    row = Row("instant", "a row", "A", None, 100, None)
    assert row.holds(measured) == holds
    assert row._replace(unclaimed="for a reason").holds(measured)


def test_each_profile_with_a_model_has_rows():
    assert published.names() == list(profiles()) and {row.profile for row in ROWS} == set(profiles())
    assert all(row.unclaimed for row in ROWS if row.measure is None or row.published is None)


def test_the_workloads_are_those_of_alignctl():
    printed = subprocess.run([OUT / "bin/alignctl", "workloads", "--json"], capture_output=True, text=True, check=True,
                             timeout=patience(60)).stdout
    theirs = {each["name"]: each for each in json.loads(printed)["workloads"]}
    for name, ours in WORKLOADS.items():
        shape, row = BY_NAME[name], theirs[name]
        count = shape.published_count
        assert (count, shape.requests(count), shape.bytes_written(count), shape.touches_expected(count), ours.wall_s) == (
            row["count"], row["writes"], row["bytes"], row["touches_expected"], row["published"]["wall_s"])
        if len(ours.mean_us) == 1:
            assert ours.mean_us[0] == row["published"]["mean_us"]
        else:
            assert re.findall(r"(\d+) us", row["published"]["note"]) + re.findall(r"mean (\d+)", row["published"]["note"]) \
                == [str(ours.mean_us[0]), str(ours.mean_us[1]), str(ours.mean_us[0])]
        # the host takes some time between an answer and its next write
        assert 10 < host_us(name) < 100


@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_touches_of_the_published_workloads_are_rmws_or_saved(workload):
    done = play(Drive(DISK), workload)
    assert done.rmws + done.rmws_saved == BY_NAME[workload].touches_expected(BY_NAME[workload].published_count)


def test_a_misaligned_stream_of_any_length_needs_two_rmws():
    done = play(Drive(DISK), "w136k")
    assert (done.rmws, done.blocks_written) == (2, 170001)


def test_every_row_is_printed_with_its_deviation_or_its_reason(figures):
    text = published.text(figures)
    assert max(map(len, text.splitlines())) <= 80
    for profile in figures["profiles"]:
        for each in profile["rows"]:
            printed = re.sub(r"\n {6}(?=\S)", " ", text).partition(f"{profile['name']}: ")[2].splitlines()
            [number, *_] = [number for number, line in enumerate(printed)
                            if re.match(rf"  {re.escape(each['name'])} +{re.escape(each['source'])} ", line)]
            if each["deviation_percent"] is not None:
                assert f"{each['deviation_percent']:+.1f} %" in printed[number]
            assert not each["not_claimed"] or printed[number + 1] == f"    not claimed: {each['not_claimed']}"


@pytest.mark.parametrize("arguments, told", [
    (["--only", "instant"], "--only instant: no profile with published figures; give one of st1000dm003, "),
    (["--only", "hdd5400", "--documents"], "--documents: the document is of all profiles"),
    (["a"], "unrecognized arguments: a")])
def test_bad_arguments_are_named(capsys, arguments, told):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2 and told in capsys.readouterr().err


def test_one_profile_is_measured_alone(capsys, written, tmp_path):
    assert main(["--only", "qlc-64k", "--virtual", *written]) == FINE
    printed = capsys.readouterr().out
    assert "qlc-64k: " in printed and "qlc-16k: " not in printed and "in real time" not in printed
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert [profile["name"] for profile in figures["profiles"]] == ["qlc-64k"] and figures["within"]


def test_a_file_that_cannot_be_written_and_a_drive_that_does_not_run_are_told_apart(capsys, monkeypatch, written):
    assert main(["--only", "qlc-64k", "--virtual", *written, "--json", "/nonexistent/x"]) == BROKEN
    assert "/nonexistent/x" in capsys.readouterr().err
    monkeypatch.setattr(NbdTarget, "PROGRAM", (NBD, "/nowhere/drive512e.so"))
    build_nbd()
    assert main(["--only", "qlc-64k", *written]) == DRIVE
    assert "drive512e-nbd did not start" in capsys.readouterr().err


def build_nbd():
    """Build drive512e-nbd, which `make programs` does not."""
    with locked("drive512e-nbd", OUT):
        subprocess.run(["make", "-s", "-C", REPO / "userspace/drive512e", f"OUT={OUT}", NBD], check=True, timeout=patience(300),
                       capture_output=True)


@pytest.mark.parametrize("profile, touches", [("nvme-512e", 200), ("qlc-64k", 100)])
def test_the_plugin_in_real_time_counts_the_touches_that_it_must(profile, touches):
    build_nbd()
    run = published.real_time(profile)
    assert run["touches"] == run["expected_touches"] == touches and not run["claimed"] and run["holds"]
    assert 0 < run["model_us"] < run["plugin_us"]


@pytest.mark.parametrize("plugin_us, claimed, counted, holds", [
    (1140, True, 200, True), (860, True, 200, True), (1160, True, 200, False), (840, True, 200, False), (2000, False, 200, True),
    (1000, True, 199, False), (1000, False, 201, False)])
def test_a_run_in_real_time_is_judged(monkeypatch, capsys, written, plugin_us, claimed, counted, holds):
    assert published.judged(1000, plugin_us, claimed, counted, 200) == holds
    run = {"profile": "qlc-64k", "model_us": 1000, "plugin_us": plugin_us, "touches": counted, "expected_touches": 200,
           "claimed": claimed, "holds": holds}
    monkeypatch.setattr(command.published, "real_time", lambda name: run)
    assert main(["--only", "qlc-64k", *written]) == (FINE if holds else OUTSIDE)
    printed = capsys.readouterr().out
    assert ("outside 15 %" in printed) == (claimed and not 850 <= plugin_us <= 1150)
    assert ("not 200" in printed) == (counted != 200)
    assert ("the transport takes about as long as the drive" in printed) == (not claimed)
