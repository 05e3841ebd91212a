# SPDX-License-Identifier: GPL-2.0
"""verify's conclusions from runs, the order of the runs, and the clean-up when one fails."""

import copy
import io
import json
import math
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
from handed import taken
from rich.console import Console
from verify_samples import made_up_verification

import align_reports
from align_reports.interrupt import Interrupted
from align_reports.intervals import Interval, compare, times
from align_reports.machine import Here, Refused
from align_reports.progress import show, wide
from align_reports.results import MODES, Results, Run
from align_reports.steps import steps
from align_reports.table import duration, number, size_name
from align_reports.verify import command as verify, table
from align_reports.verify.experiment import Experiment, all_runs
from align_reports.verify.verdict import findings, headline, verdicts


@pytest.fixture
def made_up():
    return made_up_verification()


def of(results, workload, mode):
    [found] = [v for v in verdicts(results, list(MODES)) if (v.workload, v.mode) == (workload, mode)]
    return found


def test_a_mean_has_the_interval_of_students_t():
    values = [9.2, 9.3, 9.1, 9.4, 9.25]
    interval = Interval.of(values)
    half = 2.776 * math.sqrt(sum((v - 9.25) ** 2 for v in values) / 4) / math.sqrt(5)
    assert interval.mean == pytest.approx(9.25)
    assert (interval.low, interval.high) == pytest.approx((9.25 - half, 9.25 + half))


@pytest.mark.parametrize("freedom, t", [(2, 4.303), (30, 2.042), (31, 2.040), (40, 2.021), (59, 2.001), (100, 1.984),
                                        (999, 1.962)])
def test_students_t_is_that_of_published_tables(freedom, t):
    values = [0.0] * freedom + [float(freedom + 1)]     # their mean is 1, their deviation the root of their number
    assert Interval.of(values).high - 1 == pytest.approx(t, abs=0.0006)


def test_no_time_is_said_to_be_below_0(made_up):
    interval = Interval.of([1.0, 20.5, 40.0])
    assert (interval.low, interval.mean) == (0, 20.5) and interval.high > 60
    for run in made_up.repetitions("/dev/test", "w512", "pad"):
        run.latency.update(mean=10.0 ** run.repetition, p99=10.0 ** run.repetition)
    figures = of(made_up, "w512", "pad").document()
    assert [figures[name]["low"] for name in ("mean_us", "p99_us")] == [0, 0]


def test_fewer_than_three_values_have_no_interval():
    assert Interval.of([3.0]) == Interval(3.0, None, None, 1)
    assert Interval.of([3.0, 5.0]) == Interval(4.0, None, None, 2)
    assert Interval.of([3.0, 5.0, 4.0]).low is not None


def test_from_two_repetitions_no_time_is_judged(made_up):
    two = Results(made_up.machine, [run for run in made_up.runs if run.repetition <= 2])
    assert of(two, "w4k_132k", "coalesce").words == "all RMWs taken from the drive, 97 % without a read"


def test_a_touch_left_in_one_repetition_only_is_not_rounded_away(made_up):
    runs = made_up.repetitions("/dev/test", "w4k_132k", "coalesce")
    runs[1].ledger.update(rmw_drive=1, rmw_avoided=77)
    left = of(made_up, "w4k_132k", "coalesce")
    assert (left.at_drive, left.host, left.avoided) == (1, 2, 77)
    assert left.words.startswith("79 of 80 RMWs taken from the drive")
    assert "none reached" not in headline(verdicts(made_up, list(MODES)))[0]
    for run in runs:
        run.ledger.update(rmw_drive=0, rmw_host=0, rmw_avoided=80)
    assert of(made_up, "w4k_132k", "coalesce").words.startswith("all RMWs removed;")
    runs[2].ledger.update(rmw_host=1, rmw_avoided=79)
    assert of(made_up, "w4k_132k", "coalesce").words.startswith("all RMWs taken from the drive, 98 % without a read")


@pytest.mark.parametrize("mode, counts, said", [
    ("report", {"rmw_drive": 45}, "45 touches reached the drive, 60 were expected"),
    ("pad", {"rmw_drive": 80, "rmw_host": 0, "rmw_avoided": 0}, "80 touches reached the drive, 60 were expected"),
    ("pad", {"rmw_host": 0, "rmw_avoided": 0}, "no RMW left to the drive, but 0 touches came, and 60 were expected"),
    ("pad", {"rmw_host": 30, "rmw_avoided": 0}, "no RMW left to the drive, but 30 touches came, and 60 were expected"),
    ("pad", {"rmw_host": 60, "rmw_avoided": 0}, "all RMWs done by dm-align instead of the drive"),
    ("pad", {"rmw_host": 0, "rmw_avoided": 60}, "all RMWs removed")])
def test_words_do_not_say_more_than_the_counts(made_up, mode, counts, said):
    """Through the page cache other touches may come than were expected."""
    made_up.runs = [replace(run, touches_expected=60) for run in made_up.runs if run.workload == "records-4000"]
    for run in made_up.repetitions("/dev/test", "records-4000", mode):
        run.ledger.update(counts)
    assert of(made_up, "records-4000", mode).words.split(";")[0] == said


def test_the_interval_holds_the_mean_of_a_known_distribution_as_often_as_it_says():
    # Sums of digits of a fixed sequence: repeatable, and close enough to normal.
    state, inside, rounds = 12345, 0, 2000
    for _ in range(rounds):
        values = []
        for _ in range(5):
            total = 0
            for _ in range(12):
                state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
                total += state >> 40
            values.append(total / 2**24)
        interval = Interval.of(values)
        inside += interval.low <= 6 <= interval.high
    assert 0.93 < inside / rounds < 0.97


def test_each_repetition_begins_with_another_mode_and_all_modes_follow_each_other():
    made = steps(["w512", "w136k"], ["raw", "report", "pad", "coalesce"], 4)
    assert len(made) == 32
    for start in range(0, 32, 4):
        group = made[start:start + 4]
        assert {step.mode for step in group} == set(MODES)
        assert len({(step.workload, step.repetition) for step in group}) == 1
    assert [made[i].mode for i in range(0, 32, 8)] == list(MODES)


def test_removed_touches_and_shorter_time_are_told(made_up):
    assert of(made_up, "w4k_132k", "coalesce").words == \
        "all RMWs taken from the drive, 97 % without a read; 4.20 times faster [4.04 to 4.36]"
    assert of(made_up, "w4k_132k", "pad").words.endswith("; 2.05 times slower [2.05 to 2.05]")
    assert of(made_up, "w512", "pad").words.startswith("all RMWs done by dm-align")
    assert of(made_up, "w512", "report").words == "every touch reaches the drive; no difference shown"
    assert of(made_up, "w4096", "pad").words.startswith("nothing to align")


def test_a_mode_is_compared_with_raw_as_two_devices_are(made_up):
    """By pairs of one repetition and their geometric mean: 4 times as long, then a quarter, is neither."""
    for run, wall_s in zip(made_up.repetitions("/dev/test", "w512", "pad"), (4.0, 0.25, 1.0), strict=True):
        run.replay.update(wall_s=wall_s, flush_s=0)
    for run in made_up.repetitions("/dev/test", "w512", "raw"):
        run.replay.update(wall_s=1.0, flush_s=0)
    found = of(made_up, "w512", "pad")
    assert found.to_raw == compare([(4.0, 1.0), (0.25, 1.0), (1.0, 1.0)])
    assert found.to_raw.mean == pytest.approx(1) and found.words.endswith("; no difference shown")
    assert of(made_up, "w512", "raw").to_raw is None


def test_touches_that_went_to_the_drive_as_they_came_are_told(made_up):
    for run in made_up.repetitions("/dev/test", "w512", "pad"):
        run.ledger.update(rmw_host=run.ledger["rmw_host"] - 10, rmw_drive=10)
    assert "of 40 RMWs taken from the drive" in of(made_up, "w512", "pad").words


def test_the_drives_own_count_goes_before_the_targets(made_up):
    for run in made_up.repetitions("/dev/test", "w512", "pad"):
        made_up.runs[made_up.runs.index(run)] = Run(**{**vars(run), "drive": {"touches": 3, "rmws": 2}})
    found = of(made_up, "w512", "pad")
    assert (found.at_drive, found.drive_rmws) == (3, 2)
    assert any("the drive received 3" in finding for finding in findings(made_up))


SPOILS = {
    "a sector differs above": (lambda run: run.replay["data_check"].update(status="mismatch", mismatches=1),
                               "data check says"),
    "a sector differs beneath": (lambda run: run.below.update(status="mismatch", mismatches=1),
                                 "data check of the drive beneath says"),
    "the ledger does not balance": (lambda run: run.ledger.update(rmw_host=99), "does not balance"),
    "the ledger saw other touches": (lambda run: run.ledger.update(rmw_expected=1, rmw_host=1),
                                     "rmw_expected is 1"),
    "the ledger saw other writes": (lambda run: run.ledger.update(writes=41), "saw 41 writes, replay issued 40"),
}


@pytest.mark.parametrize("what", SPOILS)
def test_a_finding_is_made_when(what, made_up):
    spoil, words = SPOILS[what]
    assert findings(made_up) == []
    run = made_up.find("/dev/test", "w512", "pad")
    spoil(run)
    assert any(words in finding and run.title in finding for finding in findings(made_up))
    assert ("DATA DIFFERS" in of(made_up, "w512", "pad").words) == what.startswith("a sector")


@pytest.mark.parametrize("workload, mode, spoil, words", [
    ("w512", "raw", lambda run: run.drive.update(touches=39), ["received 39 partial touches, expected 40"]),
    ("w512", "report", lambda run: run.drive.update(touches=39), ["received 39 partial touches, expected 40"]),
    ("records-4000", "raw", lambda run: run.drive.update(touches=118), ["expected 120; this assumes that the page cache"]),
    ("records-4000", "report", lambda run: run.ledger.update(writes=62),
     ["saw 62 writes, replay issued 40, of which the page cache was to make 60; ", "a smaller --count"]),
    ("records-4000", "pad", lambda run: run.ledger.update(rmw_expected=124, rmw_host=124),
     ["rmw_expected is 124, the workload has 120 partial touches; this assumes that the page cache"]),
])
def test_what_was_planned_is_held_against_what_was_counted(workload, mode, spoil, words, made_up):
    for i, run in enumerate(made_up.runs):
        left = 0 if run.mode in ("pad", "coalesce") else run.touches_expected
        made_up.runs[i] = replace(run, drive={"touches": left, "rmws": left})
    assert findings(made_up) == []
    run = made_up.find("/dev/test", workload, mode)
    spoil(run)
    found = findings(made_up)
    for word in words:
        assert any(word in finding and run.title in finding for finding in found)
    # A direct run makes no assumption about the page cache.
    assert any("page cache" in finding for finding in found) == (workload == "records-4000")


def test_writes_above_the_queues_limit_are_a_finding_only_where_a_drive_counts(made_up):
    index = made_up.runs.index(made_up.find("/dev/test", "w512", "report"))
    run = made_up.runs[index]
    run.ledger.update(writes_over_limits=20)
    assert findings(made_up) == []
    made_up.runs[index] = replace(run, drive={"touches": 40, "rmws": 40})
    assert any("20 writes were larger" in finding for finding in findings(made_up))


def test_buffered_writes_are_shown_with_what_the_device_gets(made_up):
    cells = {v.workload: table.COLUMNS[2].cell(v) for v in verdicts(made_up, list(MODES))}
    assert (cells["w512"], cells["records-4000"]) == ("40", "40 as 60")


def test_the_columns_are_named_as_the_members_of_the_document(made_up):
    members = list(of(made_up, "w512", "pad").document())
    named = [column.heading.lower().replace(" ", "_") for column in table.COLUMNS]
    named = [f"{name}_us" if name in ("mean", "p99") else name for name in named]
    assert [name for name in named if name not in members] == []
    assert named == [member for member in members if member in named], "in the same order"


def test_figures_of_any_size_are_short(made_up):
    for run in made_up.runs:
        run.replay.update(requests=12345678, wall_s=123456.7)
        run.latency.update(mean=1234567.8, p99=98765432.1)
    cells = {column.heading: column.cell(of(made_up, "w512", "pad")) for column in table.COLUMNS}
    assert (cells["requests"], cells["mean"], cells["p99"]) == ("12.3 M", "1.23 s", "98.8 s")
    assert cells["seconds"] == "123\u202f457"


@pytest.mark.parametrize("us, said", [(0.25, "0.250 \u00b5s"), (532, "532 \u00b5s"), (0, "0 \u00b5s"), (999.7, "1.00 ms"),
                                      (16700, "16.7 ms"), (999.7e3, "1.00 s"), (17000, "17.0 ms"),
                                      (4.684e6, "4.68 s"), (1203.4e6, "1\u202f203 s")])
def test_a_time_has_three_digits_and_a_unit(us, said):
    assert duration(us) == said


@pytest.mark.parametrize("count, said", [(0, "0"), (40, "40"), (999499, "999\u202f499"), (999501, "1 M"),
                                         (12345678, "12.3 M"), (2.5e9, "2.5 G"), (999.6e9, "1 T"), (1.234e13, "12.3 T"),
                                         (7e15, "7 P"), (1 << 64, "18.4 E")])
def test_a_count_has_at_most_six_digits(count, said):
    assert number(count) == said


@pytest.mark.parametrize("ratio, said", [(0.0123, "0.0123"), (0.5, "0.50"), (9.99, "9.99"), (62.04, "62"), (999.4, "999"),
                                         (999.6, "1\u202f000"), (41300, "41\u202f300"), (2.03e7, "20.3 M")])
def test_a_ratio_has_no_exponent_that_is_not_small(ratio, said):
    assert times(ratio) == said


@pytest.mark.parametrize("bytes_, said", [(1023, "1023 B"), (4096, "4 KiB"), (1 << 50, "1 PiB"), (12345 << 40, "12.06 PiB"),
                                          (1 << 60, "1 EiB"), (1048575, "1 MiB"),
                                          (1048063, "1023 KiB"), (1048064, "0.9995 MiB")])
def test_a_size_has_a_unit_that_makes_it_short(bytes_, said):
    assert size_name(bytes_) == said


def test_the_table_has_a_line_for_every_workload_and_mode(made_up):
    console = Console(width=260, record=True, file=io.StringIO())
    console.print(table.render(verdicts(made_up, list(MODES)), "title"))
    lines = console.export_text().splitlines()
    for found in verdicts(made_up, list(MODES)):
        assert any(all(word in line for word in (f" {found.workload} ", f" {found.mode} ", found.words))
                   for line in lines)


@pytest.mark.parametrize("columns", [20, 40, 80, 100, 132, 150, 170, 220])
def test_no_figure_is_lost_on_a_narrow_terminal(made_up, columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("align_reports.progress.TABLE_WIDTH", columns)
    found = verdicts(made_up, list(MODES))
    show(wide(), table.render(found, "title"))
    lines = capsys.readouterr().out.splitlines()
    shown = set(re.findall(r"[^\s\u2500-\u257f]+", "\n".join(lines)))
    cells = [column.cell(each) for each in found for column in table.COLUMNS]
    assert not {word for cell in cells for word in cell.split()} - shown and "\u2026" not in shown
    if columns <= 132:
        assert [line for line in lines if line.startswith("words: ")] == [f"words: {each.words}" for each in found]
        assert [line for line in lines if line.startswith("data ok: ")] == ["data ok: yes"] * len(found)


@pytest.mark.parametrize("name", ["disk[a].img", "a[/b].img", "d:x:k.img", "[link=x]"])
def test_a_name_in_a_table_is_no_markup(made_up, name, capsys):
    show(wide(), table.render(verdicts(made_up, list(MODES)), name))
    assert capsys.readouterr().out.splitlines()[0].rstrip() == name


class Diary(Here):
    """A stand-in for alignctl that records its commands, and fails at the given one."""

    def __init__(self, fails=None):
        self.lines, self.fails = [], fails

    def status(self, *argv, timeout=None, whole=False):
        line = " ".join(word for word in argv[1:] if not word.startswith("/tmp"))
        self.lines.append(line)
        if self.fails and self.fails in line:
            return 4, ""
        if "stats" in argv:
            return 0, json.dumps({"devices": [{"counters": {}, "histograms": {"phase": {"bins": []}}}]})
        return 0, json.dumps({"count": 7, "touches_expected": 7, "data_check": {"status": "ok"}})


def one_run(tmp_path, mode, **options):
    diary = Diary(options.pop("fails", None))
    experiment = Experiment(diary, "alignctl", "/dev/test", tmp_path, **options)
    [step] = [step for step in steps(["w512"], list(MODES), 1) if step.mode == mode]
    return experiment, step, diary


def test_a_run_counts_its_own_writes_only_and_is_checked_above_and_below(tmp_path):
    experiment, step, diary = one_run(tmp_path, "coalesce", count="7")
    run = experiment.make(step)
    words = ["attach /dev/test", "--phase prepare", "--reset-stats", "--phase run", "--flush", "stats alignctl",
             f"--on /dev/mapper/{experiment.name} --phase check", "detach", "--on /dev/test --phase check"]
    order = [next(i for i, line in enumerate(diary.lines) if word in line) for word in words]
    assert order == sorted(order) and len(diary.lines) == len(words)
    assert run.below == {"status": "ok"}
    assert "--count 7" in diary.lines[order[1]] and "--count" not in diary.lines[order[3]]


def test_raw_attaches_nothing(tmp_path):
    experiment, step, diary = one_run(tmp_path, "raw")
    assert experiment.make(step).ledger is None
    assert not any("attach" in line or "stats" in line for line in diary.lines)


@pytest.mark.parametrize("fails", ["--phase prepare", "--phase run", "stats align"])
def test_the_target_is_gone_whatever_fails(fails, tmp_path):
    experiment, step, diary = one_run(tmp_path, "pad", fails=fails.replace("align", "alignctl-verify"))
    with pytest.raises(Refused):
        experiment.make(step)
    assert diary.lines[-1] == f"detach {experiment.name}"


def test_an_attach_that_is_refused_detaches_nothing(tmp_path):
    experiment, step, diary = one_run(tmp_path, "pad", fails="attach /dev/test")
    with pytest.raises(Refused):
        experiment.make(step)
    assert not any(line.startswith("detach") for line in diary.lines)


def test_a_mode_that_is_refused_stops_the_experiment_before_it_writes(tmp_path):
    experiment, _, diary = one_run(tmp_path, "raw", fails="--mode coalesce", attach=("--physical", "8192"))
    with pytest.raises(Refused):
        next(all_runs(experiment, steps(["w512"], list(MODES), 1)))
    assert [line.split()[0] for line in diary.lines] == ["attach", "detach"] * 2 + ["attach"]
    assert all("--physical 8192" in line for line in diary.lines if line.startswith("attach"))


def test_options_of_replay_go_to_each_phase(tmp_path, monkeypatch):
    made = []
    monkeypatch.setenv("ALIGNCTL", "alignctl")
    monkeypatch.setattr(verify, "all_runs", lambda experiment, wanted: made.append(experiment) or [])
    given = taken(verify, "verify", "rand4k", "--on", "/dev/test", "--direct", "--threads", "4", "--offset", "512", "--buffered",
                  "--span", "8M")
    verify.measure(given, tmp_path, Results(), Console(quiet=True))
    experiment, diary = made[0], Diary()
    replace(experiment, machine=diary).make(steps(["w512"], ["pad"], 1)[0])
    phases = [line for line in diary.lines if line.startswith("replay")]
    assert len(phases) == 4
    for line in phases:
        assert "--offset 512 --span 8388608 --threads 4 --buffered" in line and "--direct" not in line
    assert not any("--threads" in line or "--buffered" in line for line in diary.lines if line.startswith("attach"))
    facts = verify.machine(given)
    assert (facts["threads"], facts["access"]) == (4, "through the page cache")


def test_a_page_that_cannot_be_written_is_refused_before_anything_happens(tmp_path, capsys):
    assert verify.main(taken(verify, "verify", "w512", "--on", "/dev/null", "--html", tmp_path / "no" / "page.html")) == 2
    assert "No such file" in capsys.readouterr().err


def ended(made_up, monkeypatch, how, *arguments):
    def half(given, folder, results, console):
        results.runs += made_up.runs
        raise how
    monkeypatch.setattr(verify, "measure", half)
    return verify.main(taken(verify, "verify", "w512", "--on", "/dev/test", *arguments))


def test_what_was_measured_before_it_was_stopped_is_printed(made_up, monkeypatch, capsys, tmp_path):
    assert ended(made_up, monkeypatch, Interrupted(signal.SIGINT), "--json") == 130
    document = json.loads(capsys.readouterr().out)
    assert document["stopped"] == "interrupted" and len(document["runs"]) == len(made_up.runs)
    assert ended(made_up, monkeypatch, Refused("busy", 4), "--html", str(tmp_path / "page.html")) == 4
    assert "Not verified" in (tmp_path / "page.html").read_text()
    capsys.readouterr()
    assert ended(made_up, monkeypatch, Refused("busy", 4)) == 4
    assert "w4k_132k" in capsys.readouterr().out


def test_json_has_every_verdict_and_no_words_beside_it(made_up, monkeypatch, capsys):
    monkeypatch.setattr(verify, "measure", lambda given, folder, results, console: results.runs.extend(made_up.runs))
    assert verify.main(taken(verify, "verify", "w512", "--on", "/dev/test", "--json", "--repeat", "4", "--threads", "2")) == 0
    document = json.loads(capsys.readouterr().out)
    assert next(iter(document)) == "format" and document["format"] == verify.FORMAT
    assert (document["machine"]["repetitions"], document["machine"]["threads"]) == (4, 2)
    assert [(v["workload"], v["mode"]) for v in document["verdicts"]] == \
        [(v.workload, v.mode) for v in verdicts(made_up, list(MODES))]
    spoiled = copy.deepcopy(made_up)
    spoiled.runs[-1].below.update(status="mismatch", mismatches=1)
    monkeypatch.setattr(verify, "measure", lambda given, folder, results, console: results.runs.extend(spoiled.runs))
    assert verify.main(taken(verify, "verify", "w512", "--on", "/dev/test", "--json")) == 1
    assert json.loads(capsys.readouterr().out)["findings"]


def test_results_of_several_repetitions_load_as_they_were(made_up, tmp_path):
    made_up.save(tmp_path / "verify.json", [])
    assert Results.load(tmp_path / "verify.json") == made_up


@pytest.mark.parametrize("program", ["verify", "compare", "live", "probe", "fleet", "conform"])
def test_without_rich_it_says_what_to_install_and_which_python_was_asked(program):
    # -S: no folder of packages is searched.
    done = subprocess.run([sys.executable, "-S", os.path.dirname(align_reports.__file__), program],
                          env={}, capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "apt-get install python3-rich" in done.stderr
    assert f"which {sys.executable} does not have" in done.stderr and "ALIGNCTL_PYTHON names another one" in done.stderr


@pytest.mark.parametrize("program", ["verify", "compare", "live"])
def test_what_draws_nothing_does_not_load_rich(program):
    """rich and the pages take most of the start, and a program with --json needs neither."""
    done = subprocess.run([sys.executable, "-c", f"import sys, align_reports.{program}.command\nprint(*sys.modules)"],
                          capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()} | set(done.stdout.split())
    assert "align_reports" in loaded and not loaded & {"rich", f"align_reports.{program}.page", f"align_reports.{program}.table"}
