# SPDX-License-Identifier: GPL-2.0
"""The schedule: runs, order, repetitions; and the steps of a run."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from bench_samples import record, run

from lab.bench import __main__ as bench, schedule, trace
from lab.bench.arms import ARMS, joined, table
from lab.bench.cases import CASES, DRIVES, TABLE_CASES, TABLE_DRIVES
from lab.bench.figures import QUICK_ROWS, ROWS
from lab.bench.runner import Runner
from lab.machines.remote import GuestError
from lab.pace import patience


def needs(names):
    return [need for name in names for need in ROWS[name].needs]


def test_a_run_that_several_rows_need_is_made_once():
    steps = schedule.steps(needs(ROWS), 0, quick=False)
    keys = [(step.drive.name, step.case.name, step.arm) for step in steps]
    assert len(keys) == len(set(keys))
    for need in needs(ROWS):
        assert {(need.on, need.case, arm) for arm in need.arms} <= set(keys)


def test_the_tables_have_every_arm_of_every_case_on_every_drive_with_a_time():
    steps = schedule.steps(needs(f"tables-{on}" for on in TABLE_DRIVES), 0, quick=False)
    assert len(steps) == len(TABLE_DRIVES) * len(TABLE_CASES) * len(ARMS)
    assert {"w512", "w4096", "w4096_512", "w136k", "w4k_132k", "diskbenchi-0",
            "diskbenchi-existing", "diskbenchi-fresh", "seq8k-shifted", "areasync-512",
            "append-512-dsync", "rand512-1", "rand512-8", "rand512-32", "rand4k-1",
            "rand4k-32"} == set(TABLE_CASES)


def test_the_arms_of_a_case_follow_one_another_and_the_drives_too():
    steps = schedule.steps(needs(ROWS), 0, quick=False)
    for key in (lambda s: s.drive.name, lambda s: (s.drive.name, s.case.name)):
        seen = [key(step) for step in steps]
        changes = sum(a != b for a, b in zip(seen, seen[1:]))
        assert changes + 1 == len(set(seen))


@pytest.mark.parametrize("quick", [True, False])
def test_arms_that_are_compared_have_one_count_but_for_dm_ebs(quick):
    counts = {}
    for step in schedule.steps(needs(ROWS), 0, quick):
        if step.arm != "ebs":
            counts.setdefault((step.drive.name, step.case.name), set()).add(step.count)
    assert all(len(found) == 1 for found in counts.values())


def test_the_published_counts_are_those_of_the_full_plan():
    full = {(s.drive.name, s.case.name): s.count
            for s in schedule.steps(needs(QUICK_ROWS), 0, quick=False)}
    assert full["instant", "diskbenchi-existing"] == full["instant", "diskbenchi-fresh"] == 4000
    assert full["instant", "seq8k-shifted"] == 131072 and full["instant", "w512-held"] == 20000
    assert full["instant", "w136k"] == full["instant", "w4k_132k"] == 5000


def test_the_quick_plan_is_short_and_smaller():
    quick = schedule.steps(needs(QUICK_ROWS), 0, quick=True)
    full = schedule.steps(needs(QUICK_ROWS), 0, quick=False)
    assert sum(step.estimate_s for step in quick) < 240
    assert all(a.count < b.count for a, b in zip(quick, full))


def test_every_range_fits_its_drive():
    size = {name: int(drive.server.size.removesuffix("G")) << 30 for name, drive in DRIVES.items()}
    for step in schedule.steps(needs(ROWS), 0, quick=False):
        # The last eighth is for the reads that make the drive cold.
        assert step.case.bytes(step.count) + (1 << 20) < size[step.drive.name] * 7 // 8


def test_the_eta_follows_the_pace_of_the_runs_so_far():
    steps = schedule.steps(needs(("streams",)), 0, quick=True)
    progress = schedule.Progress(steps)
    whole = progress.eta_s
    progress.finished(steps[0], 2 * steps[0].estimate_s)
    assert progress.eta_s == pytest.approx(2 * (whole - steps[0].estimate_s))


def test_every_arm_has_its_table_line():
    assert table("raw", "/dev/vda", 80, {}) is None
    assert table("linear", "/dev/vda", 80, {}) == "0 80 linear /dev/vda 0"
    assert table("ebs", "/dev/vda", 80, {}) == "0 80 ebs /dev/vda 0 1 8"
    assert table("coalesce", "/dev/vda", 80, {"hold_ms": 7}) == \
        "0 80 align /dev/vda 0 4 mode coalesce hold_ms 7"


def test_a_drive_of_several_connections_is_whole_and_each_has_its_share():
    lines = [line.split() for line in joined(10 * 2048 + 1000, ["vda", "vdb", "vdc", "vdd"]).splitlines()]
    assert [(int(start), int(length)) for start, length, *_ in lines] == \
        [(0, 4096), (4096, 4096), (8192, 4096), (12288, 4 * 2048 + 1000)]
    assert [line[2:] for line in lines] == [["linear", f"/dev/vd{name}", line[0]] for name, line in zip("abcd", lines)]


class Diary:
    """A stand-in for the guest and for the drive that records all commands, in order."""

    def __init__(self):
        self.lines = []

    def run(self, *argv, **_):
        self.lines.append(" ".join(argv))
        if "/proc/stat" in argv:
            return "cpu 1 0 1 8 0 0 0 0 0 0\n"
        if "blkdevname" in argv:
            return "dm-3\n"
        return "5" if argv[0] == "cat" else ""

    def json(self, *argv, **options):
        self.run(*argv, **options)
        if "stats" in argv:
            return {"devices": [{"counters": {"rmw_expected": 7}}]}
        return {"data_check": {"status": f"from {argv[-1]}"}, "service_us": {"histogram": []}}

    def read(self, path, offsets, size):
        self.lines.append(f"read {path}")

    def control(self, command):
        self.lines.append(f"drive {command}")
        return {"size": 8 << 30}


def place(lines, words):
    """Return the index of the one line that has these words."""
    found = [i for i, line in enumerate(lines) if words in line]
    assert len(found) == 1, (words, lines)
    return found[0]


@pytest.mark.parametrize("arm", ARMS)
def test_a_device_is_made_behind_the_preparation_and_removed_before_the_check(arm):
    diary = Diary()
    step = schedule.Step(DRIVES["instant"], CASES["rand512-32"], arm, 1, 50)
    made = Runner(diary, Path("/alignctl"), diary, ["vda"]).make(step)
    words = ["--phase prepare", "read /dev/vda", "dmsetup create", "drive reset", "--phase run",
             "dmsetup remove", "--phase check"]
    if arm == "raw":
        words = [word for word in words if "dmsetup" not in word]
    order = [place(diary.lines, word) for word in words]
    assert order == sorted(order)
    assert "--on /dev/vda " in diary.lines[order[0]] and "--seed 2" in diary.lines[order[0]]
    on = diary.lines[place(diary.lines, "--phase run")]
    assert f"--on {'/dev/vda' if arm == 'raw' else '/dev/mapper/bench'} " in on
    assert "--depth 32" in on
    assert "--on /dev/vda " in diary.lines[order[-1]]
    assert (made.ledger is not None) == (arm in ("report", "pad", "coalesce"))
    if made.memory:
        assert "cat /sys/block/dm-3/align/target0_max_blocks" in diary.lines
    assert made.replay["data_check"] == {"status": "from check"}
    assert "histogram" not in made.replay["service_us"]


def test_arguments_choose_rows_and_repetitions():
    assert bench.arguments([]).rows == tuple(ROWS) and bench.arguments([]).repeat == 3
    quick = bench.arguments(["--quick"])
    assert quick.rows == QUICK_ROWS and quick.repeat == 1
    assert quick.overhead_runs < bench.arguments([]).overhead_runs
    chosen = bench.arguments(["--quick", "--only", "memory", "overhead", "--repeat", "2"])
    assert chosen.rows == ("overhead", "memory") and chosen.repeat == 2


@pytest.mark.parametrize("argv, words", [
    (["--only", "nothing"], "invalid choice: 'nothing'"),
    (["--repeat", "0"], "--repeat 0: at least 1 is needed"),
    (["--overhead-runs", "-1"], "--overhead-runs -1: at least 1 is needed")])
def test_a_wrong_argument_is_named_with_its_value(argv, words, capsys):
    with pytest.raises(SystemExit) as ended:
        bench.arguments(argv)
    assert ended.value.code == 2 and words in capsys.readouterr().err


def test_measurements_run_side_by_side_and_the_first_error_is_raised_when_all_have_ended():
    together, done = threading.Barrier(2, timeout=patience(20)), []

    def meet():
        together.wait()
        done.append("met")

    def fail():
        raise GuestError("the guest is gone")
    with pytest.raises(GuestError, match="the guest is gone"):
        bench.side_by_side([meet, meet, fail, lambda: done.append("last")], 2)
    assert sorted(done) == ["last", "met", "met"]


def test_an_interrupted_benchmark_does_not_wait_for_a_guest():
    program = ("import signal, threading\n"
               "from lab.bench.__main__ import side_by_side\n"
               "signal.setitimer(signal.ITIMER_REAL, 0.2)\n"
               "signal.signal(signal.SIGALRM, signal.default_int_handler)\n"
               "side_by_side([threading.Event().wait], 1)\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=patience(30), check=False)
    assert "KeyboardInterrupt" in done.stderr


@pytest.fixture
def outcome(monkeypatch, tmp_path):
    """Return a function that runs the benchmark's main with given runs."""
    def play(runs, ending=None):
        def go(self):
            self.record = record(*runs)
            if ending:
                raise ending
        monkeypatch.setattr(bench.Bench, "go", go)
        return bench.main(["--only", "append", "--out", str(tmp_path / "bench")])
    return play


def logs(pad_reads):
    return [run("instant", "append-512-dsync", arm, count=512, pad_reads=pad_reads)
            for arm in ("pad", "coalesce")]


def test_the_exit_status_is_0_only_if_every_figure_is_met(outcome, capsys):
    assert outcome(logs(64)) == 0
    assert "2 of 2 figures met, 0 findings" in capsys.readouterr().out
    assert outcome(logs(65)) == 1
    assert outcome(logs(64)[:1]) == 1


def test_a_benchmark_that_breaks_off_says_why_and_shows_what_it_has(outcome, tmp_path, capsys):
    assert outcome(logs(64)[:1], GuestError("the guest is gone")) == 2
    said = capsys.readouterr().out
    assert "the guest is gone" in said and "not measured" in said
    assert "the guest is gone" in (tmp_path / "bench" / "bench.html").read_text()
    assert outcome([], GuestError("no QEMU")) == 2
    assert "bench: the benchmark could not go on: no QEMU" in capsys.readouterr().err
    assert not (tmp_path / "bench" / "bench.html").exists()


TRACE = """\
        alignctl-187     [001] .....    25.965225: block_bio_queue: 253,0 WS 3815 + 272 [alignctl]
        alignctl-187     [001] .....    25.965338: block_rq_issue: 254,0 WS 139264 () 3808 + 272 \
be,0,4 [alignctl]
 CPU:1 [LOST 3 EVENTS]
          <idle>-0       [000] ..s1.    25.967651: block_rq_complete: 254,0 RS () 4080 + 8 \
be,0,4 [0]
"""


def test_a_trace_shows_each_request_and_the_time_before_it():
    found = list(trace.events(TRACE))
    assert [round(event.us) for event in found] == [0, 113, 2313]
    assert [(e.name, e.operation, e.sector, e.sectors, e.task) for e in found] == [
        ("block_bio_queue", "WS", 3815, 272, "alignctl"),
        ("block_rq_issue", "WS", 3808, 272, "alignctl"),
        ("block_rq_complete", "RS", 4080, 8, "<idle>")]
    assert "2313 us  block_rq_complete" in trace.text(TRACE)


def test_traced_are_the_writes_alone_and_few_of_them():
    diary = Diary()
    steps = schedule.steps(ROWS["w136k-latency"].needs, 0, True, trace.COUNT)
    assert {step.count for step in steps} == {trace.COUNT}
    Runner(diary, Path("/alignctl"), diary, ["vda"]).trace(steps[0])
    order = [place(diary.lines, words) for words in
             ("--phase prepare", "dmsetup create", "echo 1 >/sys/kernel/tracing/events/block/"
              "block_rq_issue", "--phase run", "echo 0 >/sys/kernel/tracing/events/block/"
              "block_rq_issue", "tail -n", "dmsetup remove")]
    assert order == sorted(order)
