# SPDX-License-Identifier: GPL-2.0
"""The verdict on two devices' runs, which devices may overwrite each other, and the options passed on."""

import io
import json
import re
from pathlib import Path

import pytest
from handed import taken
from rich.console import Console

from align_reports import devices
from align_reports.compare import command, table
from align_reports.compare.comparison import Comparison, Sample, document, findings, lines, verdict
from align_reports.intervals import Interval, compare, words
from align_reports.machine import Refused
from align_reports.replays import Quiet, Replays
from align_reports.steps import Step

NEAR = (1.0, 1.03, 0.98)


def sample(repetition, device, pace, **other):
    replay = {"requests": 100, "bytes": 51200, "wall_s": pace, "flush_s": 0.1 * pace, "iops": 100 / pace,
              "stopped": None, "touches_expected": 100, "data_check": {"status": "ok", "sectors": 9, "mismatches": 0},
              "service_us": {"mean": 9000 * pace, "p50": 8000 * pace, "p99": 20000 * pace, "p99_9": 30000 * pace}}
    replay.update(other)
    return Sample(repetition, device, replay, True, (0, 100), {"rmw_expected": 100, "rmw_avoided": 0, "rmw_host": 0,
                                                              "rmw_drive": 100, "pad_reads": 0}, None)


def samples(paces, **other):
    """Make samples of two devices: a takes 1 s, b the seconds of `paces`, one for each repetition."""
    return [each for n, pace in enumerate(paces, 1)
            for each in (sample(n, "a", NEAR[n % 3]), sample(n, "b", pace * NEAR[n % 3], **other))]


def test_a_ratio_is_the_same_whichever_is_the_denominator():
    pairs = [(1, 2), (1.1, 2.5), (0.9, 1.7), (1, 2.2)]
    one, other = compare(pairs), compare([(b, a) for a, b in pairs])
    assert (one.mean, one.low, one.high) == pytest.approx((1 / other.mean, 1 / other.high, 1 / other.low))
    assert compare([(1, 2)] * 3) == Interval(pytest.approx(0.5), pytest.approx(0.5), pytest.approx(0.5), 3)


def test_pairs_show_what_the_spread_of_each_hides():
    """Each repetition is slower than the last one, on both; one device takes a tenth more in all of them."""
    pairs = [(pace * 1.1 * off, pace) for pace, off in ((1, 1), (5, 1.01), (20, 0.99), (60, 1))]
    assert compare(pairs).low > 1.08
    one, other = Interval.of([a for a, _ in pairs]), Interval.of([b for _, b in pairs])
    assert one.low < other.high


def test_the_interval_of_a_ratio_is_not_cut_where_its_logarithm_is_below_0():
    """All ratios are above 1, but the lower bound of their mean is not."""
    ratio = compare([(1.1, 1), (100, 1), (1.2, 1)])
    assert ratio.low == pytest.approx(1 / ratio.high * ratio.mean ** 2) and ratio.low < 0.1


@pytest.mark.parametrize("pairs, said", [
    ([(1, 2)], "nothing can be said from fewer than 3 repetitions"),
    ([(1, 2), (1, 900)], "nothing can be said from fewer than 3 repetitions"),
    ([(0, 1), (1, 1)], "nothing can be said: a figure is 0"),
    ([(1, 2), (2, 1), (1, 1)], "no difference shown"),
    ([(1, 2), (1, 2.1), (1, 1.9)], "2.00 times faster [1.76 to 2.26]"),
    ([(2, 1), (2.1, 1), (1.9, 1)], "2.00 times slower [1.76 to 2.26]"),
    ([(1.002, 1), (1.003, 1), (1.004, 1)], "no difference shown"),
])
def test_what_is_said_of_a_ratio(pairs, said):
    assert words(compare(pairs)) == said


def test_the_faster_device_is_named_with_how_sure_that_is():
    found = samples([2, 2.1, 1.9])
    for on, vs in ("ab", "ba"):
        assert verdict(lines(found, on, vs), found, on, vs) == (
            "a is 2.00 times faster [1.76 to 2.26] than b: by the time until all was durable, with 95 % confidence")
    said = {line.name: line.words for line in lines(found, "a", "b")}
    assert (said["wall"], said["mean"], said["IOPS"]) == (
        "2.00 times faster [1.76 to 2.26]", "2.00 times lower [1.76 to 2.26]", "2.00 times higher [1.76 to 2.26]")


def test_where_nothing_differs_or_too_little_was_made_that_is_said():
    same = samples([1, 1.05, 0.95])
    assert verdict(lines(same, "a", "b"), same, "a", "b").startswith("no difference shown between a and b")
    once = samples([2])
    assert verdict(lines(once, "a", "b"), once, "a", "b") == (
        "nothing can be said from fewer than 3 repetitions; --repeat 5 or more would show what chance does")
    none = samples([1, 1, 1, 1, 1], wall_s=0, flush_s=0)
    assert verdict(lines(none, "a", "b"), none, "a", "b") == "nothing can be said: a figure is 0"
    half = samples([2])[:1]
    assert verdict(lines(half, "a", "b"), half, "a", "b") == "nothing can be said: no repetition was made on both"


def test_a_repetition_that_was_made_on_one_only_does_not_count():
    found = samples([2, 2.1, 1.9, 30])[:-1]
    assert {line.ratio.values for line in lines(found, "a", "b")} == {3}


def test_an_open_loop_is_judged_by_its_response_times():
    found = [Sample(each.repetition, each.device, {**each.replay, "timing": "open", "response_us":
                                                   each.replay["service_us"], "wall_s": 1, "flush_s": 0,
                                                   "by_kind": [{"kind": "write"}]},
                    False, None, None, None) for each in samples([2, 2.1, 1.9])]
    assert verdict(lines(found, "a", "b"), found, "a", "b").endswith(
        "than b: by the mean response time, with 95 % confidence")
    rows = [table.label(line, found) for line in lines(found, "a", "b")]
    assert rows == ["wall", "mean response", "p50 response \u2264", "p99 response \u2264", "p99.9 response \u2264",
                    "IOPS"]
    assert document(found, "a", "b")["time"] == "response"


@pytest.mark.parametrize("timing", ["closed", "fast"])
def test_without_a_clock_the_latency_of_a_trace_is_its_service_time(timing):
    """Without intended starts no request can be late."""
    found = [Sample(each.repetition, each.device,
                    {**each.replay, "timing": timing, "response_us":
                     {"mean": 5125, "p50": 5125, "p99": 5125, "p99_9": 5125}, "by_kind": [{"kind": "write"}]},
                    False, None, None, None) for each in samples([2, 2.1, 1.9])]
    [mean] = [line for line in lines(found, "a", "b") if line.name == "mean"]
    assert (mean.on.mean, mean.ratio.mean) == (pytest.approx(9000, rel=0.05), pytest.approx(0.5, rel=0.05))
    assert [table.label(line, found) for line in lines(found, "a", "b")] == [
        "wall", "mean", "p50 \u2264", "p99 \u2264", "p99.9 \u2264", "IOPS"], "percentiles are the ends of bins"
    assert document(found, "a", "b")["time"] == "service"


def test_reads_are_said_to_be_read_and_take_no_flush():
    def of(kinds, flush_s):
        return [Sample(each.repetition, each.device,
                       {**each.replay, "flush_s": flush_s,
                        "by_kind": [{"kind": kind} for kind in kinds]}, False, None, None, None)
                for each in samples([2, 2.1, 1.9])]
    found = of(["read"], 1000)
    assert verdict(lines(found, "a", "b"), found, "a", "b").endswith(
        "than b: by the time until all was read, with 95 % confidence")
    assert lines(found, "a", "b")[0].on.mean == pytest.approx(1, rel=0.05)
    found = of(["read", "write"], 1000)
    assert "the time until all was durable on a is 1.00 to 1.00 times" in verdict(lines(found, "a", "b"), found, "a", "b")


def test_a_warm_up_that_takes_more_on_one_device_changes_neither_the_requests_nor_the_verdict():
    left = samples([1, 1.03, 0.98], requests=60, bytes=30720, warmup_requests=40, wall_s=0.1)
    assert findings(left, "a", "b") == []
    assert verdict(lines(left, "a", "b"), left, "a", "b").startswith(
        "no difference shown between a and b: the mean latency on a")
    other = samples([1], requests=60, warmup_requests=41)
    assert findings(other, "a", "b") == ["repetition 1: not the same requests: requests 100 on a, 101 on b"]


def test_bytes_that_differ_and_requests_that_were_not_the_same_are_findings():
    assert findings(samples([1, 1]), "a", "b") == []
    wrong = samples([1], data_check={"status": "mismatch", "sectors": 9, "mismatches": 2, "first_mismatch_sector": 4})
    assert "b w repetition 1: data check says mismatch" in findings(
        [Sample(s.repetition, s.device, {**s.replay, "workload": "w"}, *[None] * 4) for s in wrong], "a", "b")[0]
    assert "not the same requests: bytes 51200 on a, 1 on b" in findings(samples([1], bytes=1), "a", "b")[0]
    assert "stopped by error" in findings(samples([1], stopped="error"), "a", "b")[0]


def test_the_table_has_both_devices_the_ratio_and_the_counts():
    found = samples([2, 2.1, 1.9])
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(table.render(lines(found, "a", "b"), found, "a", "b", "title"))
    rows = [re.split(r"\s*[│┃]\s*", row)[1:-1] for row in console.export_text().splitlines() if "│" in row]
    cells = {row[0]: row[1:] for row in rows}
    assert list(cells) == ["wall", "mean", "p50 \u2264", "p99 \u2264", "p99.9 \u2264", "IOPS", "touches expected",
                           "kernel: reads", "kernel: writes", "dm-align: rmw_expected", "dm-align: rmw_avoided",
                           "dm-align: rmw_host", "dm-align: rmw_drive", "dm-align: pad_reads"]
    assert cells["wall"] == ["1.10 s [1.03 s to 1.17 s]", "2.21 s [1.96 s to 2.46 s]", "0.50 [0.44 to 0.57]",
                             "2.00 times faster [1.76 to 2.26]"]
    assert re.fullmatch(r"20.1 ms \[\S+ ms to \S+ ms\]", cells["p99 \u2264"][0])
    assert cells["mean"][3] == "2.00 times lower [1.76 to 2.26]" and cells["kernel: writes"][:2] == ["100", "100"]


def test_the_document_has_all_that_the_table_has():
    made = document(samples([2, 2.1]), "a", "b")
    assert [line["name"] for line in made["figures"]] == ["wall", "mean", "p50", "p99", "p99.9", "IOPS"]
    assert len(made["runs"]) == 4 and made["findings"] == []


class Diary(Quiet):
    """A stand-in for alignctl that records its commands; its counters rise with every look."""

    def __init__(self):
        super().__init__()
        self.lines, self.looks = [], 0

    def status(self, *argv, timeout=None, whole=False):
        self.lines.append(" ".join(argv[1:]))
        if argv[1] == "list":
            return 0, json.dumps({"devices": [{"name": "x", "dm": "dm-7"}, {"name": "t", "dm": "dm-0"}]})
        if argv[1] == "stats":
            self.looks += 1
            names = ("rmw_expected", "rmw_avoided", "rmw_host", "rmw_drive", "pad_reads")
            return 0, json.dumps({"devices": [{"raw": {name: 10 * self.looks ** 2 for name in names}}]})
        phase = argv[argv.index("--phase") + 1] if "--phase" in argv else ""
        return 0, json.dumps({"phase": phase, "data_check": {"status": phase}})


@pytest.mark.parametrize("name", ["dm-0", "sda"])
def test_a_run_is_counted_apart_from_its_preparation_and_check(monkeypatch, tmp_path, name):
    monkeypatch.setattr(devices, "block_device", lambda path: name)
    monkeypatch.setattr(devices, "requests", lambda path: (len(diary.lines), 2 * len(diary.lines)))
    diary = Diary()
    control = iter(({}, {"touches": 5, "rmws": 4, "reads": 3, "writes": 2, "size": 1}))
    asked = []
    made = Comparison(Replays("alignctl", tmp_path, here=diary), "w512", ("--count", "3"), True,
                      lambda command: asked.append(command) or next(control)).make(Step(2, "w512", "/dev/x"))
    words = ["--phase prepare", "list", "stats t", "--phase run", "list", "stats t", "--phase check"]
    if name == "sda":
        words = [word for word in words if word.startswith("--")]
    assert len(diary.lines) == len(words) and all(word in line for word, line in zip(words, diary.lines, strict=True))
    assert all("--count 3" in line for line in diary.lines if "--phase" in line)
    assert made.replay == {"phase": "run", "data_check": {"status": "check"}} and asked == ["reset", "stats"]
    assert made.ledger == (dict.fromkeys(made.ledger, 30) if name == "dm-0" else None)
    assert made.drive == {"touches": 5, "rmws": 4, "reads": 3, "writes": 2}
    assert made.requests == ((3, 6) if name == "dm-0" else (1, 2))


def test_what_a_command_says_again_is_shown_once(capfd):
    quiet = Quiet()
    for number in (1, 2):
        assert quiet.run("sh", "-c", f"echo same >&2; echo {number} >&2; echo {number}") == f"{number}\n"
    assert capfd.readouterr().err == "same\n1\n2\n"
    with pytest.raises(Refused, match="status 4"):
        quiet.run("sh", "-c", "exit 4")
    with pytest.raises(KeyboardInterrupt):
        quiet.run("sh", "-c", "kill -TERM $$")


@pytest.fixture
def machine(tmp_path):
    """Build a sysfs with a disk with two partitions, volumes on them, and another disk."""
    block = tmp_path / "class" / "block"
    block.mkdir(parents=True)

    def add(name, parent=None, slaves=()):
        folder = tmp_path / "devices" / (f"{parent}/{name}" if parent else name)
        (folder / "slaves").mkdir(parents=True)
        if parent:
            (folder / "partition").write_text("1\n")
        for slave in slaves:
            (folder / "slaves" / slave).touch()
        (block / name).symlink_to(folder)
    add("sda")
    add("sda1", "sda")
    add("sda2", "sda")
    add("sdb")
    add("dm-0", slaves=["sda1"])
    add("dm-1", slaves=["sda2", "sdb"])
    add("dm-2", slaves=["sdb"])
    add("dm-3", slaves=["dm-1", "sda1"])
    return tmp_path


@pytest.mark.parametrize("one, other, shared", [
    ("sda", "sdb", []), ("sda", "sda1", ["sda"]), ("sda1", "sda2", []), ("sda1", "dm-0", ["sda"]),
    ("sda", "dm-0", ["sda"]), ("sda2", "dm-0", []), ("dm-0", "dm-1", []), ("dm-1", "dm-2", ["sdb"]),
    ("dm-2", "sdb", ["sdb"]),
])
def test_who_may_overwrite_whom(machine, one, other, shared):
    assert devices.common(one, other, machine) == devices.common(other, one, machine) == shared


@pytest.mark.parametrize("name, all_of_it", [
    ("sda", "sda"), ("sda1", "sda1 sda"), ("dm-1", "dm-1 sda2 sda sdb"), ("dm-3", "dm-3 dm-1 sda1 sda2 sda sdb"),
])
def test_the_layers_of_a_device_are_all_that_is_beneath_it(machine, name, all_of_it):
    assert devices.layers(name, machine) == set(all_of_it.split())


def test_two_files_of_one_disk_do_not_overwrite_each_other(tmp_path):
    (tmp_path / "a").touch()
    (tmp_path / "b").touch()
    assert devices.overlapping(str(tmp_path / "a"), str(tmp_path / "b")) == []


def test_options_of_each_run_are_passed_on(tmp_path):
    for name in "ab":
        (tmp_path / name).write_bytes(bytes(1 << 20))
    one, two = str(tmp_path / "a"), str(tmp_path / "b")
    given = taken(command, "verify", "w512", "--on", one, f"--vs={two}", "--coun", "5", "--fdatasync", "--physical", "4K",
                  "--rep", "3", "--force", one, "--force", two)
    assert given.passed_on == ["--count", "5", "--physical", "4096", "--fdatasync"]
    assert (given.repeat, given.force, given.in_phases) == (3, [one, two], True)


def test_the_mount_of_a_path_is_the_innermost_and_last_one(tmp_path):
    mountinfo = ("22 1 0:30 / / rw shared:1 - btrfs /dev/sda2 rw\n23 22 0:31 /sub /srv/my\\040data rw - btrfs /dev/sdb rw\n"
                 "24 22 0:5 / /srv/on rw - tmpfs tmpfs rw\n25 22 0:6 / /srv/on rw - xfs /dev/sdc rw\n")
    found = {path: devices.mounted_at(path, mountinfo) for path in ("/srv/my data/x", "/srv/my dat", "/srv/on", "/")}
    assert found == {"/srv/my data/x": "/dev/sdb", "/srv/my dat": "/dev/sda2", "/srv/on": "/dev/sdc", "/": "/dev/sda2"}
    assert devices.mounted_at(str(tmp_path), "") is None


def test_a_file_whose_number_is_of_no_device_is_on_the_one_that_is_mounted(tmp_path, monkeypatch):
    """As on Btrfs; here of memory, on a mount that is made up."""
    blocks = [path for path in Path("/dev").iterdir() if path.is_block_device() and devices.block_name(str(path))]
    if not blocks or devices.block_name("/dev/shm"):
        pytest.skip("needs a block device, and memory in /dev/shm")
    (tmp_path / "mountinfo").write_text(f"22 1 0:30 / / rw - btrfs {blocks[0]} rw\n")
    monkeypatch.setattr(devices, "MOUNTINFO", tmp_path / "mountinfo")
    assert devices.block_name("/dev/shm") == blocks[0].name
