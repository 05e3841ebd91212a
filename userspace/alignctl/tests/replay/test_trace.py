# SPDX-License-Identifier: GPL-2.0
"""alignctl replay with a trace, on a regular file, as its user meets it."""

import gzip
import json
import os
import re
import resource
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from alignctl_program import (
    ALIGNCTL,
    DISK_BYTES,
    alignctl,
    at_a_terminal,
    histogram_counts,
    interrupted,
    man_page,
    spoil,
    tables,
)
from lab.pace import Limit, patience, scaled, tries

FINE, FINDINGS, USAGE, IO, BUSY = range(5)
TIMES = ["count", "mean", "sd", "min", "p50", "p90", "p98", "p99", "p99_9", "p99_99", "max"]


@pytest.fixture
def trace(tmp_path):
    """Makes a trace of rows (ms, op, sector, sectors)."""
    def make(rows, timed=True):
        path = tmp_path / "t.csv"
        lines = ["time_us,op,offset_sectors,sectors" if timed else "op,offset_sectors,sectors"]
        for ms, *rest in rows:
            lines.append(",".join(map(str, ([ms * 1000] if timed else []) + rest)))
        path.write_text("\n".join(lines) + "\n")
        return path
    return make


KINDS = [(0, "write", 0, 8), (1, "write", 9, 8), (2, "read", 0, 8), (2, "flush", 0, 0), (3, "discard", 64, 8),
         (4, "write-zeroes", 128, 8), (5, "write", 1, 1)]


@pytest.mark.parametrize("timing", ["fast", "open"])
def test_the_time_that_the_first_rows_take_to_read_is_not_the_runs(disk, timing):
    """Thousands of rows are read ahead, to sort them: the clock starts then, and the first requests are not late."""
    with subprocess.Popen([ALIGNCTL, "replay", "-", "--on", disk, "--timing", timing, "--no-check", "--json"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as replay:
        # more than the head, by which the format is recognized
        replay.stdin.write("time_us,op,offset_sectors,sectors\n" + "0,write,0,8\n" * 1000)
        replay.stdin.flush()
        time.sleep(0.5)
        replay.stdin.write("0,write,64,8\n")
        last = time.monotonic()
        replay.stdin.close()
        result = json.load(replay.stdout)
    assert result["issued"] == 1001 and result["wall_s"] <= time.monotonic() - last


@pytest.mark.parametrize("timing, depth", [("closed", 1), ("fast", 32), ("open", 256)])
def test_a_trace_is_measured_and_its_content_checked(disk, trace, timing, depth):
    done = alignctl("replay", trace(KINDS), "--on", disk, "--timing", timing, "--json")
    assert done.returncode == FINE and not done.stderr, done.stderr
    result = json.loads(done.stdout)
    assert list(result) == [
        "format", "source", "source_format", "device", "timing", "speed", "buffered", "fdatasync", "depth", "threads", "warmup_s",
        "physical_block_size", "alignment_offset", "depth_reached", "method", "warmup_requests", "requests", "flushes",
        "bytes", "issued", "failed", "discards_unsupported", "waited_for_overlap", "stopped", "wall_s", "flush_s", "iops",
        "mb_per_s", "samples_1s", "service_us", "flush_us", "response_us", "lag_us", "drift", "time_line", "by_kind",
        "by_size", "by_class", "by_phase", "data_check", "device_facts"]
    assert (result["timing"], result["depth"], result["requests"], result["issued"]) == (timing, depth, 7, 7)
    assert result["bytes"] == 3 * 4096 + 512
    # without a clock nothing is late: there is the service time only
    if timing != "open":
        assert result["response_us"] is result["lag_us"] is None
    for times in ("service_us", "response_us", "lag_us") if timing == "open" else ("service_us",):
        assert list(result[times]) == [*TIMES, "histogram"]
        assert sum(count for _, count in result[times]["histogram"]) == 7
        order = [result[times][name] for name in TIMES[3:]]
        assert order == sorted(order) and result[times]["count"] == 7
    assert {row["kind"]: row["service_us"]["count"] for row in result["by_kind"]} == \
        {"read": 1, "write": 3, "flush": 1, "discard": 1, "write-zeroes": 1}
    assert {row["class"]: row["service_us"]["count"] for row in result["by_class"]} == \
        {"whole": 1, "both": 1, "sub-block": 1}
    assert {row["phase"]: row["service_us"]["count"] for row in result["by_phase"]} == {0: 1, 512: 2}
    assert result["data_check"] == {"status": "ok", "sectors": 24, "mismatches": 0, "first_mismatch_sector": None,
                                    "passes": 1}
    assert (result["speed"], result["drift"] is None) == ((1, False) if timing == "open" else (None, True))
    if timing == "open":
        assert result["wall_s"] >= 0.005


def test_the_trace_decides_how_it_is_timed(disk, trace):
    for timed, timing in ((True, "open"), (False, "closed")):
        done = alignctl("replay", trace(KINDS, timed), "--on", disk, "--json")
        assert json.loads(done.stdout)["timing"] == timing
    refused = alignctl("replay", trace(KINDS, False), "--on", disk, "--timing", "open")
    assert refused.returncode == USAGE and "has no times" in refused.stderr


def test_the_clock_starts_with_the_first_request(disk, trace):
    """A clock that counts from any time: here from 1970."""
    began = 1_700_000_000_000
    rows = [(began + ms, "write", 8 * ms, 8) for ms in range(0, 300, 100)]
    result = json.loads(alignctl("replay", trace(rows), "--on", disk, "--json").stdout)
    assert result["timing"] == "open" and 0.2 <= result["wall_s"] < patience(20)


def test_speed_makes_the_clock_faster(disk, trace):
    rows = [(round(scaled(50)) * i, "write", 8 * i, 8) for i in range(11)]
    for _ in tries("no replay was faster than its trace"):
        walls = [json.loads(alignctl("replay", trace(rows), "--on", disk, "--speed", speed, "--json").stdout)["wall_s"]
                 for speed in ("1", "5")]
        assert walls[0] >= 0.5 and walls[1] >= 0.1
        if walls[1] < rows[-1][0] / 1000:
            break


@pytest.mark.parametrize("options, words", [
    (["--timing", "slow"], ["--timing slow", "closed, fast or open"]),
    (["--speed", "0"], ["--speed 0", "above 0"]),
    (["--speed", "nan"], ["--speed nan", "above 0"]),
    (["--speed", "2", "--timing", "fast"], ["--speed", "does not apply to --timing fast"]),
    (["--count", "3"], ["--count", "does not apply to a trace"]),
    (["--wrap", "--scale"], ["--wrap, --scale", "leave one out"]),
    (["--scale", "--wrap"], ["--wrap, --scale", "leave one out"]),
    (["--phase", "run", "--state", "x"], ["--phase", "does not apply to a trace"]),
    (["--verify-below", "/dev/none"], ["/dev/none", "No such file"]),
])
def test_options_that_do_not_fit_are_named(disk, trace, options, words):
    failed = alignctl("replay", trace(KINDS), "--on", disk, *options)
    assert failed.returncode == USAGE, failed.stderr
    for word in words:
        assert word in failed.stderr


@pytest.mark.parametrize("option", ["--wrap", "--scale", "--scan", "--no-check"])
def test_options_of_traces_are_not_for_workloads(disk, option):
    failed = alignctl("replay", "w512", "--on", disk, option)
    assert failed.returncode == USAGE and f"{option}: does not apply to a workload that writes" in failed.stderr


FAR = [(0, "write", 0, 8), (0, "write", (DISK_BYTES >> 9) + 3, 8), (0, "write", 8, 8)]


@pytest.mark.parametrize("workload", ["db-read", "db-randread"])
def test_a_workload_that_reads_leaves_all_as_it_is(disk, workload):
    """What is there would be refused to one that writes."""
    content = os.urandom(1 << 20)
    with open(disk, "r+b") as file:
        file.write(content)
    assert alignctl("replay", "w512", "--on", disk, "--count", "3").returncode == BUSY
    options = ["--span", "1M"] if workload == "db-randread" else []
    done = alignctl("replay", workload, "--on", disk, "--count", "100", *options, "--depth", "4", "--timing", "fast",
                    "--json")
    assert done.returncode == FINE and not done.stderr, done.stderr
    result = json.loads(done.stdout)
    assert (result["requests"], result["bytes"], result["source_format"]) == (100, 819200, "workload")
    assert [row["kind"] for row in result["by_kind"]] == ["read"]
    assert result["data_check"]["status"] == "skipped"
    assert disk.read_bytes()[:1 << 20] == content


@pytest.mark.parametrize("options", [["--phase", "run"], ["--state", "x"], ["--no-check"], ["--timing", "open"]])
def test_options_that_mean_nothing_for_reads_are_refused(disk, options):
    failed = alignctl("replay", "db-read", "--on", disk, "--count", "3", *options)
    assert failed.returncode == USAGE and options[0] in failed.stderr


def test_what_is_beyond_the_device_is_refused_before_it_is_made(disk, trace):
    failed = alignctl("replay", trace(FAR), "--on", disk, "--timing", "closed")
    assert failed.returncode == USAGE
    assert "t.csv: line 3" in failed.stderr and "beyond the device" in failed.stderr and "--wrap" in failed.stderr
    assert "stopped     by error after 1 requests" in failed.stdout
    assert disk.read_bytes()[:8] == b"alignctl"


@pytest.mark.parametrize("option", ["--scan", "--dry-run"])
def test_with_a_scan_it_is_refused_before_anything_is_made(disk, trace, option):
    failed = alignctl("replay", trace(FAR), "--on", disk, option)
    assert failed.returncode == USAGE and not failed.stdout
    assert "line 3" in failed.stderr and "beyond the device" in failed.stderr
    assert not any(disk.read_bytes())


def test_a_request_of_more_than_memory_is_made_for_is_refused_with_the_way_out(disk, trace):
    longest = 32 << 20
    path = trace([(0, "write", 0, 8), (0, "write", 0, (longest >> 9) + 1)])
    failed = alignctl("replay", path, "--on", disk, "--scan")
    assert failed.returncode == USAGE
    assert f"line 3: write of {longest + 512} bytes: longer than {longest}" in failed.stderr
    assert "split the request" in failed.stderr and "'alignctl plan'" in failed.stderr
    assert not any(disk.read_bytes())
    assert alignctl("plan", path).returncode == FINE
    page = man_page("alignctl-replay.8")
    assert str(longest) in page.split(".SS replay TRACE")[1].split("\n.SS ")[0]


@pytest.mark.parametrize("option", ["--wrap", "--scale"])
def test_it_is_moved_inside_by_whole_blocks(disk, trace, option):
    done = alignctl("replay", trace(FAR), "--on", disk, option, "--json")
    assert done.returncode == FINE, done.stderr
    result = json.loads(done.stdout)
    assert result["data_check"]["status"] == "ok"
    assert {row["phase"]: row["service_us"]["count"] for row in result["by_phase"]} == {0: 2, 1536: 1}


def test_a_malformed_line_is_named(disk, trace):
    path = trace(KINDS)
    path.write_text(path.read_text() + "7000,dance,0,8\n")
    failed = alignctl("replay", path, "--on", disk, "--scan")
    assert failed.returncode == USAGE and "line 9" in failed.stderr and "dance" in failed.stderr
    assert not any(disk.read_bytes())


def test_a_dry_run_says_what_would_be_done_and_what_is_against_it(disk, trace):
    with open(disk, "r+b") as file:
        file.write(b"precious")
    before = disk.read_bytes()
    said = alignctl("replay", trace(KINDS), "--on", disk, "--dry-run")
    assert said.returncode == BUSY and "holds data in the sector at byte 0" in said.stderr
    assert "write       3" in said.stdout and "nothing was done" in said.stdout
    for source in (trace(KINDS), "w512"):
        alignctl("replay", source, "--on", disk, "--dry-run", "--force", disk)
        assert disk.read_bytes() == before


def test_a_dry_run_takes_as_long_as_the_run_whatever_the_traces_clock(disk, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("time_us,op,offset,bytes\n1577808000000000,flush,0,0\n1577808000000500,write,0,512\n1577808004000000,read,0,512\n")
    said = alignctl("replay", path, "--on", disk, "--dry-run", "--speed", "2").stdout
    assert re.search(r"^  takes +2 s$", said, re.M), said


def test_standard_input_is_read_again_from_where_a_shell_left_it(disk, trace):
    path = trace(KINDS)
    path.write_text("made by hand\n" + path.read_text())
    with open(path, encoding="utf-8") as file:
        os.lseek(file.fileno(), len("made by hand\n"), os.SEEK_SET)
        done = alignctl("replay", "-", "--on", disk, "--json", stdin=file)
    assert done.returncode == FINE, done.stderr
    result = json.loads(done.stdout)
    assert result["requests"] == 7 and result["data_check"]["status"] == "ok"


@pytest.mark.parametrize("packed", [False, True])
def test_a_signal_ends_the_wait_for_a_pipe(disk, packed):
    rows = "time_us,op,offset_sectors,sectors\n" + "0,write,0,8\n" * 2000
    with subprocess.Popen([ALIGNCTL, "replay", "-", "--on", disk, "--no-check"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as replay:
        # packed, it lacks its end
        replay.stdin.write(gzip.compress(rows.encode())[:-8] if packed else rows.encode())
        replay.stdin.flush()
        limit = Limit(30)
        while replay.poll() is None:
            if limit.over():
                replay.kill()
            caught = int(re.search(r"^SigCgt:\s*(\w+)$", Path(f"/proc/{replay.pid}/status").read_text(), re.M)[1], 16)
            if caught >> (signal.SIGTERM - 1) & 1:
                replay.send_signal(signal.SIGTERM)
            time.sleep(0.05)
        said = replay.stdout.read(), replay.stderr.read()
    # not -SIGKILL, which ends a wait for ever
    assert replay.returncode == -signal.SIGTERM and b"stopped     by signal" in said[0] and not said[1], said


def test_a_dry_run_says_how_the_trace_is_moved_to_the_device(disk, trace):
    last = DISK_BYTES // 512
    path = trace([(0, "write", last - 4, 8), (1, "write", last + 9, 8), (2, "write", 17, 8)])
    said = alignctl("replay", path, "--on", disk, "--dry-run", "--wrap").stdout
    assert f"wrap        byte {DISK_BYTES} of the trace goes to byte 0 of {disk}" in said
    assert "cross the end goes to the start as a whole" in said and "moved       2 requests\n" in said
    said = alignctl("replay", path, "--on", disk, "--dry-run", "--scale").stdout
    assert f"scale       bytes 0 to {DISK_BYTES + 17 * 512} of the trace go to bytes 0 to {DISK_BYTES}" in said
    for how, wrap, moved in (("wrap", DISK_BYTES, 2), ("scale", None, 3)):
        plan = json.loads(alignctl("replay", path, "--on", disk, "--dry-run", f"--{how}", "--json").stdout)
        assert (plan["placement"], plan["wrap_bytes"], plan["moved"]) == (how, wrap, moved)
    plan = json.loads(alignctl("replay", trace(KINDS), "--on", disk, "--dry-run", "--json").stdout)
    assert (plan["placement"], plan["wrap_bytes"], plan["moved"]) == ("exact", None, 0)
    assert "moved" not in alignctl("replay", trace(KINDS), "--on", disk, "--dry-run").stdout


def test_the_check_sees_what_is_not_on_the_device_below(disk, trace, tmp_path):
    below = tmp_path / "below"
    below.write_bytes(bytes(DISK_BYTES))
    failed = alignctl("replay", trace(KINDS), "--on", disk, "--verify-below", below, "--json")
    assert failed.returncode == FINDINGS
    check = json.loads(failed.stdout)["data_check"]
    assert (check["status"], check["sectors"], check["mismatches"], check["first_mismatch_sector"]) == \
        ("mismatch", 24, 16, 0)
    assert f"{below}: sector 0: expected request 1, found bytes that no replay wrote" in failed.stderr


@pytest.mark.parametrize("below, words", [("none", "No such file"), ("small", "smaller than"), ("disk", "itself")])
def test_a_device_that_cannot_be_below_is_refused_before_anything_is_written(disk, trace, tmp_path, below, words):
    (tmp_path / "small").write_bytes(bytes(512))
    path = disk if below == "disk" else tmp_path / below
    failed = alignctl("replay", trace(KINDS), "--on", disk, "--verify-below", path)
    assert failed.returncode == USAGE and words in failed.stderr
    assert not any(disk.read_bytes())


@pytest.mark.parametrize("option", ["--state", "--histogram"])
@pytest.mark.parametrize("what", ["trace", "disk", "text", "device", "link"])
def test_results_are_not_written_over_anything_else(disk, trace, tmp_path, option, what):
    """Neither over what is asked for nor, with the state, over what its draft is called."""
    source = trace(KINDS)
    (tmp_path / "text").write_text("mine\n")
    (tmp_path / "link").symlink_to("/dev/null")
    path = {"trace": source, "disk": disk, "device": "/dev/null"}.get(what, tmp_path / what)
    before = (source.read_text(), (tmp_path / "text").read_text())
    failed = alignctl("replay", source, "--on", disk, option, path)
    assert failed.returncode == USAGE
    assert f"{option} {path}: exists" in failed.stderr and "name a new one" in failed.stderr
    assert (source.read_text(), (tmp_path / "text").read_text()) == before and (tmp_path / "link").is_symlink()
    assert not any(disk.read_bytes())


def test_the_draft_of_a_state_takes_nobodys_place(disk, trace, tmp_path):
    (tmp_path / "state.new").write_text("mine\n")
    failed = alignctl("replay", trace(KINDS), "--on", disk, "--state", tmp_path / "state")
    assert failed.returncode == USAGE and "state.new: exists" in failed.stderr
    assert (tmp_path / "state.new").read_text() == "mine\n" and not any(disk.read_bytes())


def test_another_name_of_a_draft_that_was_left_keeps_its_content(disk, trace, tmp_path):
    other = tmp_path / "other"
    other.write_text('{ "trace": "an older state"')
    os.link(other, tmp_path / "state.new")
    assert alignctl("replay", trace(KINDS), "--on", disk, "--state", tmp_path / "state").returncode == FINE
    assert other.read_text() == '{ "trace": "an older state"'
    assert not (tmp_path / "state.new").exists() and (tmp_path / "state").stat().st_nlink == 1


def test_a_state_that_has_no_room_leaves_no_draft(disk, trace, tmp_path):
    """Python ignores the signal of this limit, and so does the program."""
    failed = alignctl("replay", trace(KINDS), "--on", disk, "--state", tmp_path / "state", restore_signals=False,
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (7, 7)))
    assert failed.returncode == IO and "state: cannot be written: File too large" in failed.stderr
    assert not list(tmp_path.glob("state*")) and not any(disk.read_bytes())


def test_results_of_the_same_kind_are_replaced(disk, trace, tmp_path):
    files = ["--state", tmp_path / "state", "--histogram", tmp_path / "times"]
    (tmp_path / "times").touch()
    assert alignctl("replay", trace(KINDS[:1]), "--on", disk, *files).returncode == FINE
    first = (tmp_path / "state").read_text(), (tmp_path / "times").read_text()
    assert alignctl("replay", trace(KINDS), "--on", disk, *files).returncode == FINE
    assert (tmp_path / "state").read_text() != first[0] and (tmp_path / "times").read_text() != first[1]
    # but not by a state of the other kind: that may be of another device
    failed = alignctl("replay", "w512", "--on", disk, "--count", 2, "--phase", "prepare", *files[:2])
    assert failed.returncode == USAGE and "exists with other content" in failed.stderr


def test_state_and_times_need_a_file_each(disk, trace, tmp_path):
    (tmp_path / "sub").mkdir()
    failed = alignctl("replay", trace(KINDS), "--on", disk, "--state", tmp_path / "a", "--histogram",
                      tmp_path / "sub" / ".." / "a")
    assert failed.returncode == USAGE and "name two files" in failed.stderr
    assert not (tmp_path / "a").exists() and not any(disk.read_bytes())


def test_a_pipe_that_would_be_read_twice_is_refused_before_anything_is_written(disk, trace, tmp_path):
    text = trace(KINDS).read_text()
    for options in ([], ["--no-check", "--scan"], ["--no-check", "--scale"], ["--dry-run"]):
        failed = alignctl("replay", "-", "--on", disk, *options, input=text)
        assert failed.returncode == USAGE and "--no-check" in failed.stderr
        assert not any(disk.read_bytes())
    assert alignctl("replay", "-", "--on", disk, "--no-check", input=text).returncode == FINE
    assert any(disk.read_bytes())
    (tmp_path / "-").write_text(text)
    with open(tmp_path / "-") as file:
        failed = alignctl("replay", "-", "--on", disk, "--state", tmp_path / "state", stdin=file, cwd=tmp_path)
    assert failed.returncode == USAGE and "standard input" in failed.stderr


def test_requests_to_a_second_file_do_not_go_where_those_to_the_first_went(disk, tmp_path):
    log = tmp_path / "two.log"
    log.write_text("fio version 2 iolog\n/a add\n/b add\n/a open\n/b open\n/a write 0 512\n/b write 0 512\n"
                   "/a close\n/b close\n")
    failed = alignctl("replay", log, "--on", disk, "--scan")
    assert failed.returncode == USAGE and "choose one with --disk\n" in failed.stderr
    assert [row["DISK"] for row in tables(failed.stderr, "DISK")] == ["/a", "/b"]
    assert not any(disk.read_bytes())


def test_discards_and_zeroes_of_a_block_device_go_beside_the_rest(disk, trace):
    made = subprocess.run(["losetup", "-f", "--show", disk], text=True, capture_output=True, timeout=patience(20), check=False)
    if made.returncode:
        pytest.skip(f"no loop device: {made.stderr.strip()}")
    loop = made.stdout.strip()
    try:
        rows = [(0, "write", 8 * i, 8) for i in range(64)]
        rows += [(0, "discard", 0, 64), (0, "discard", 128, 64), (0, "write-zeroes", 256, 64), (0, "write", 8, 8)]
        for timing in ("closed", "fast"):
            done = alignctl("replay", trace(rows), "--on", loop, "--timing", timing, "--json")
            assert done.returncode == FINE, done.stderr
            result = json.loads(done.stdout)
            kinds = {row["kind"]: row["service_us"]["count"] for row in result["by_kind"]}
            assert kinds["write-zeroes"] == 1 and kinds.get("discard", 0) + result["discards_unsupported"] == 2
            assert result["data_check"]["status"] == "ok" and result["data_check"]["sectors"] == 512 - 128 + 8
            if kinds.get("discard"):
                assert not any(disk.read_bytes()[:4096])
        # and no process holds the device any longer
        os.close(os.open(loop, os.O_RDWR | os.O_EXCL))
    finally:
        subprocess.run(["losetup", "-d", loop], timeout=patience(20), check=True)


def test_times_from_an_intended_start_are_told_only_where_a_clock_sets_one(disk, trace, tmp_path):
    for timing in ("closed", "fast", "open"):
        file = tmp_path / timing
        done = alignctl("replay", trace(KINDS), "--on", disk, "--timing", timing, "--histogram", file)
        assert done.returncode == FINE and re.search("^  TIME +COUNT +MEAN .*\n  service ", done.stdout, re.M)
        names = {name for name, _, _ in histogram_counts(file)}
        for name in ("response", "lag"):
            assert (f"\n  {name} " in done.stdout) == (name in names) == (timing == "open")


def test_histogram_files_have_every_time_and_can_be_merged(disk, trace, tmp_path):
    files = [tmp_path / "a", tmp_path / "b"]
    results = [json.loads(alignctl("replay", trace(KINDS), "--on", disk, "--histogram", file, "--json").stdout)
               for file in files]
    merged = histogram_counts(files[0]) + histogram_counts(files[1])
    names = Counter()
    for (name, _, _), count in merged.items():
        names[name] += count
    assert names == {"service-read": 2, "service-write": 6, "service-flush": 2, "service-discard": 2,
                     "service-write-zeroes": 2, "response": 14, "lag": 14}
    greatest = max(high for (name, _, high) in merged if name == "response")
    assert max(result["response_us"]["max"] for result in results) * 1000 <= greatest
    awk = re.search(r"(?<=^awk ').*?(?=' FILE)", man_page("alignctl-replay.8"), re.M | re.S)
    summed = subprocess.run(["awk", awk.group(), *files], text=True, capture_output=True, check=True).stdout
    assert {tuple(line.split()[:3]): int(line.split()[3]) for line in summed.splitlines()} == \
        {(name, str(low), str(high)): count for (name, low, high), count in merged.items()}


def test_ctrl_c_prints_what_was_measured(disk, trace):
    rows = [(i * 100, "write", 8 * (i % 100), 8) for i in range(600)]
    result = interrupted("replay", trace(rows), "--on", disk)
    assert result["stopped"] == "signal" and 0 < result["requests"] == result["issued"] < 600
    assert result["data_check"]["status"] == "skipped"


def test_what_the_path_leads_to_while_a_person_is_asked_is_not_written(disk, trace, tmp_path):
    """A link of udev moves when drives come and go: what was looked at, and confirmed, is not what it leads to then."""
    other, link = tmp_path / "other", tmp_path / "link"
    other.write_bytes(bytes(DISK_BYTES))
    spoil(disk)
    link.symlink_to(disk)

    def move():
        link.unlink()
        link.symlink_to(other)

    said, status = at_a_terminal("replay", trace(KINDS), "--on", link, answer=str(link), meanwhile=move)
    assert status == BUSY and f"{link}: leads to another device or file since it was checked" in said
    assert not any(other.read_bytes()) and disk.read_bytes().startswith(b"precious")


@pytest.mark.parametrize("answer, status", [("{disk}", FINE), ("yes", BUSY)])
def test_at_a_terminal_the_name_of_the_device_confirms(disk, trace, answer, status):
    with open(disk, "r+b") as file:
        file.write(b"precious")
    said, ended = at_a_terminal("replay", trace(KINDS), "--on", disk, answer=answer.format(disk=disk))
    assert "holds data" in said and ended == status
    assert ("going on, as confirmed at the terminal" in said) == (status == FINE) and "as --force says" not in said
    assert (disk.read_bytes()[:8] == b"precious") == (status == BUSY)


@pytest.mark.parametrize("name", ["a" * 100 + "-end.csv", "\x1b[31mred-end.csv", "\u03c9" * 60 + "-end.csv"])
def test_the_progress_line_stays_a_line_of_the_terminal(disk, trace, name):
    """A line that is drawn over itself must not be wrapped; and a path must not talk to the terminal."""
    path = trace([(i * 20, "write", 0, 8) for i in range(40)])
    said = at_a_terminal("replay", path.rename(path.with_name(name)), "--on", disk, "--scan", "--no-check",
                         answer="", prompt="left ", columns=60)[0]
    drawn = [line for line in re.split(r"[\r\n]+", said) if line.endswith("left \x1b[K")]
    assert drawn and all(len(line) <= 60 + len("\x1b[K") - 1 for line in drawn), drawn
    assert all("-end.csv: " in line and "\x1b[31m" not in line for line in drawn)


def test_a_message_takes_the_place_of_the_line_of_progress(disk, trace, tmp_path):
    """A recording whose last chunk is damaged, which the run meets after a second."""
    path = tmp_path / "t.rec"
    text = trace([(i / 25, "write", 8 * (i % 4000), 8) for i in range(30000)])
    text.write_text(re.sub(r"^(\d+)\.\d+,", r"\1,", text.read_text(), flags=re.M))
    assert alignctl("convert", text, "--output", path).returncode == FINE
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    said = at_a_terminal("replay", path, "--on", disk, "--no-check", answer="", prompt="left ")[0]
    before, _, _ = said.partition("alignctl: ")
    assert "wrong checksum" in said and before.endswith("left \x1b[K\r\x1b[K")


def test_what_the_path_leads_to_after_the_run_is_not_taken_for_the_device(disk, trace, tmp_path):
    other, link = tmp_path / "other", tmp_path / "link"
    other.write_bytes(bytes(DISK_BYTES))
    rows = [(0, "write", 0, 8), (2000, "write", 8, 8)]
    for _ in tries("the run has ended before the link was moved"):
        disk.write_bytes(bytes(DISK_BYTES))
        link.unlink(missing_ok=True)
        link.symlink_to(disk)
        with subprocess.Popen([ALIGNCTL, "replay", trace(rows), "--on", link], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as running:
            limit = Limit(30)
            while disk.read_bytes()[:8] != b"alignctl":
                assert running.poll() is None and not limit.over()
                time.sleep(0.02)
            link.unlink()
            link.symlink_to(other)
            said = running.communicate(timeout=patience(30))
        if running.returncode != FINE:
            break
    assert running.returncode == BUSY and "data check  skipped" in said[0], said
    assert said[1] == f"alignctl: {link}: leads to another device or file than at first; nothing was compared\n"


# After a crash

def crashed(disk, state, **options):
    """What --check says: exit status, verdicts, and the whole object."""
    said = alignctl("replay", "--check", state, "--json", **options)
    assert said.returncode in (FINE, FINDINGS), said.stderr
    result = json.loads(said.stdout)
    assert result["device"] == str(disk) and result["done"]
    return said.returncode, {name: result[name]["blocks"] for name in ("lost", "torn", "old", "new")}, result


def test_the_state_is_on_its_disk_before_the_first_request(disk, trace, tmp_path, syncs):
    """With its name: fsync() of a file need not write the folder that it was renamed in."""
    state, log = tmp_path / "sub" / "state", tmp_path / "log"
    state.parent.mkdir()
    done = alignctl("replay", trace(KINDS), "--on", disk, "--state", state, "--timing", "closed",
                    env={**os.environ, "LD_PRELOAD": str(syncs), "SYNCHOOK": str(log)})
    assert done.returncode == FINE, done.stderr
    assert log.read_text().splitlines()[:4] == [f"fsync {state}.new", f"rename {state}", f"fsync {state.parent}", "write "]


def test_after_a_whole_run_every_block_is_new(disk, trace, tmp_path):
    state = tmp_path / "state"
    assert alignctl("replay", trace(KINDS), "--on", disk, "--state", state).returncode == FINE
    status, blocks, result = crashed(disk, state)
    assert (status, blocks) == (FINE, {"lost": 0, "torn": 0, "old": 0, "new": 4})
    assert result["durable"] == result["issued"] == 7


def test_with_an_fdatasync_after_each_write_all_of_them_are_durable(disk, trace, tmp_path):
    """The process is killed while it waits for the last request; no flush of the trace's own came before."""
    state = tmp_path / "state"
    rows = [(0, "write", 0, 8), (1, "read", 0, 8), (2, "write", 8, 8), (60000, "write", 16, 8)]
    with subprocess.Popen([ALIGNCTL, "replay", trace(rows), "--on", disk, "--state", state, "--fdatasync"]) as running:
        limit = Limit(30)
        while not limit.over() and not (state.exists() and json.loads(state.read_text())["durable"] == 3):
            time.sleep(0.02)
        running.kill()
    disk.write_bytes(bytes(disk.stat().st_size))
    status, blocks, result = crashed(disk, state)
    assert (status, blocks["lost"], result["durable"]) == (FINDINGS, 2, 3)


@pytest.mark.parametrize("option, told, flushes", [((), False, 1), (("--fdatasync",), True, 4)])
def test_the_result_says_whether_an_fdatasync_followed_each_write(disk, trace, option, told, flushes):
    rows = [(0, "write", 0, 8), (0, "write", 8, 8), (0, "flush", 0, 0), (0, "write", 16, 8)]
    done = alignctl("replay", trace(rows), "--on", disk, "--json", *option)
    assert done.returncode == FINE, done.stderr
    result = json.loads(done.stdout)
    assert (result["fdatasync"], result["issued"]) == (told, 4)
    # of the source's own requests one is a flush; the others follow its writes
    assert {row["kind"]: row["service_us"]["count"] for row in result["by_kind"]} == {"write": 3, "flush": 1}
    assert result["flushes"] == flushes and result["service_us"]["count"] == result["requests"] == 4
    assert (result["flush_us"]["count"] if told else result["flush_us"]) == (3 if told else None)


def test_after_a_crash_each_block_is_lost_torn_old_or_new(disk, trace, tmp_path):
    """The program is killed; what the drive might have done then is done to the file."""
    state = tmp_path / "state"
    rows = [(0, "write", 0, 8), (0, "write", 8, 16), (1, "write-zeroes", 64, 8), (2, "flush", 0, 0),
            (2500, "write", 0, 8), (2500, "write", 8, 8), (2500, "write", 32, 8), (2500, "write", 64, 8),
            (60000, "write", 128, 8)]
    for _ in tries("block 0 was written again before its old content was read"):
        disk.write_bytes(bytes(DISK_BYTES))
        state.unlink(missing_ok=True)
        with subprocess.Popen([ALIGNCTL, "replay", trace(rows), "--on", disk, "--state", state]) as running:
            limit = Limit(30)
            while not limit.over() and not (state.exists() and json.loads(state.read_text())["durable"]):
                time.sleep(0.02)
            old = disk.read_bytes()
            while not limit.over() and disk.read_bytes()[64 * 512:64 * 512 + 8] != b"alignctl":
                time.sleep(0.1)
            running.kill()
        new = disk.read_bytes()
        if old[:4096] != new[:4096]:
            break
    assert json.loads(state.read_text())["durable"] == 4

    def block(number, *contents):
        """Puts there the first sectors of one content and the rest of another one."""
        with open(disk, "r+b") as file:
            file.seek(number * 4096)
            part = 4096 // len(contents)
            file.write(b"".join(content[number * 4096 + i * part:][:part] for i, content in enumerate(contents)))

    zeroes = bytes(DISK_BYTES)
    # the last one was never made: what was there is old
    assert crashed(disk, state)[:2] == (FINE, {"lost": 0, "torn": 0, "old": 1, "new": 5})
    block(0, old)
    assert crashed(disk, state)[:2] == (FINE, {"lost": 0, "torn": 0, "old": 2, "new": 4})
    block(0, old, new)
    assert crashed(disk, state)[:2] == (FINDINGS, {"lost": 0, "torn": 1, "old": 1, "new": 4})
    block(0, zeroes, new)
    status, blocks, result = crashed(disk, state)
    assert (status, blocks) == (FINDINGS, {"lost": 1, "torn": 0, "old": 1, "new": 4})
    assert result["lost"]["first_sector"] == 0 and result["issued"] is None
    block(0, new)
    # nothing of block 4 was durable, and the zeroes of block 8 were
    block(4, zeroes)
    block(8, old)
    assert old[8 * 4096:9 * 4096] == bytes(4096)
    assert crashed(disk, state)[:2] == (FINE, {"lost": 0, "torn": 0, "old": 3, "new": 3})
    # a write to block 0 that went to block 16, of which nothing was durable
    block(16, bytes(16 * 4096) + new[:4096])
    assert crashed(disk, state)[:2] == (FINDINGS, {"lost": 1, "torn": 0, "old": 2, "new": 3})
    block(16, zeroes)
    block(8, b"x" * DISK_BYTES)
    assert crashed(disk, state)[:2] == (FINDINGS, {"lost": 1, "torn": 0, "old": 2, "new": 3})
    text = alignctl("replay", "--check", state).stdout
    assert "4 requests were durable, the run did not end" in text
    assert "lost        1 block of 4096 bytes, the first at sector 64" in text


@pytest.mark.parametrize("text, words", [
    (None, ["state", "No such file", "--phase prepare writes it", "replay TRACE --state"]),
    ("{", ["not a state file"]),
    ('{ "trace": "x" }', ["not a state file"]),
])
def test_a_state_that_is_none_is_named(tmp_path, text, words):
    state = tmp_path / "state"
    if text is not None:
        state.write_text(text)
    failed = alignctl("replay", "--check", state)
    assert failed.returncode == USAGE
    for word in words:
        assert word in failed.stderr


def test_a_state_whose_trace_changed_is_refused(disk, trace, tmp_path):
    state = tmp_path / "state"
    path = trace(KINDS)
    assert alignctl("replay", path, "--on", disk, "--state", state).returncode == FINE
    text = path.read_text()
    for changed in (text + "7000,flush,0,0\n", text.replace("write,9,8", "write,8,8")):
        path.write_text(changed)
        failed = alignctl("replay", "--check", state)
        assert failed.returncode == USAGE and "is missing or has changed" in failed.stderr


def test_an_option_that_a_check_of_a_state_has_no_use_for_is_refused(disk, trace, tmp_path):
    state = tmp_path / "state"
    assert alignctl("replay", trace(KINDS), "--on", disk, "--state", state).returncode == FINE
    assert alignctl("replay", "--check", state, "--on", disk, "--json").returncode == FINE
    for options in (["--histogram", "x"], ["--count", 3], ["--wrap"]):
        failed = alignctl("replay", "--check", state, *options)
        assert failed.returncode == USAGE and f"{options[0]}: does not apply to --check" in failed.stderr


@pytest.mark.parametrize("arguments, said", [
    (["--on", "x"], "replay: needs SOURCE or --check STATE\n"),
    (["w512", "--on", "x", "--check", "state"], "w512: does not apply to --check, which takes no operand; leave it out\n")])
def test_either_a_source_or_a_state_is_needed(arguments, said):
    failed = alignctl("replay", *arguments)
    assert failed.returncode == USAGE and said in failed.stderr


def test_a_trace_that_is_seen_to_read_only_is_done_on_what_holds_data(disk, tmp_path):
    spoil(disk)
    path = tmp_path / "reads.csv"
    path.write_text("op,offset,bytes\nread,0,4096\nread,8192,512\n")
    assert alignctl("replay", path, "--on", disk).returncode == BUSY
    done = alignctl("replay", path, "--on", disk, "--scan", "--json")
    assert done.returncode == FINE and json.loads(done.stdout)["requests"] == 2
    path.write_text("op,offset,bytes\nread,0,4096\nwrite,8192,512\n")
    assert alignctl("replay", path, "--on", disk, "--scan").returncode == BUSY
    assert disk.read_bytes()[:8] == b"precious"


@pytest.mark.parametrize("timing", ["closed", "fast"])
def test_each_keeps_the_time_of_each_request(disk, trace, timing):
    rows = [(0, ("write", "read")[n % 2], n * 8, 8) for n in range(1500)] + [(0, "flush", 0, 0)]
    done = alignctl("replay", trace(rows), "--on", disk, "--timing", timing, "--each", "--json")
    assert done.returncode == FINE, done.stderr
    result = json.loads(done.stdout)
    each = result["each_us"]
    assert len(each) == result["requests"] == 1501 and result["service_us"]["max"] == max(each)
    assert sum(each) / len(each) == pytest.approx(result["service_us"]["mean"])
    writes, = (row for row in result["by_kind"] if row["kind"] == "write")
    assert writes["service_us"]["max"] == max(each[0:1500:2])


def test_each_has_no_time_of_the_warm_up(disk, trace):
    done = alignctl("replay", trace([(0, "write", 0, 8), (0, "write", 8, 8), (300, "write", 16, 8)]), "--on", disk,
                    "--warmup", "0.2", "--each", "--json")
    each = json.loads(done.stdout)["each_us"]
    assert each[:2] == [None, None] and each[2] > 0


def test_each_is_refused_where_nothing_shows_it(disk, trace):
    failed = alignctl("replay", trace(KINDS), "--on", disk, "--each")
    assert failed.returncode == USAGE and "--each: needs --json" in failed.stderr
    assert "each_us" not in alignctl("replay", trace(KINDS), "--on", disk, "--json").stdout
