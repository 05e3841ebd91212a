# SPDX-License-Identifier: GPL-2.0
"""Workloads that write with threads, a warm-up and pauses, as their user meets them."""

import json
import signal
import subprocess
import time
from collections import Counter

import pytest

from alignctl_program import (
    ALIGNCTL,
    DISK_BYTES,
    ONE_AT_A_TIME,
    alignctl,
    histogram_counts,
    keys,
    man_page,
    needs_io_uring,
)
from lab.pace import Limit, patience

FINE, FINDINGS, USAGE, IO = range(4)


def replayed(workload, *arguments):
    done = alignctl("replay", workload, "--json", *arguments)
    needs_io_uring(done)
    assert done.returncode == FINE and not done.stderr, done.stderr
    return json.loads(done.stdout)


# As fio has them: so many in flight by so many jobs.
@pytest.mark.parametrize("workload, span, touches", [
    ("db-write", [], 0), ("db-randwrite", ["--span", "20M"], 0), ("db-randwrite-shifted", ["--span", "20M"], 4000),
    ("rand4k", [], 0), ("rndwrite", [], 0), ("w4k_132k", ["--count", 70], 280)])
@pytest.mark.parametrize("depth, threads", [(1, 4), (4, 1), (1, 8), (3, 2)])
def test_depth_and_threads_make_each_write_once_and_lose_none(disk, workload, span, touches, depth, threads):
    result = replayed(workload, "--on", disk, "--count", 2000, *span, "--depth", depth, "--threads", threads)
    writes = 140 if workload == "w4k_132k" else 2000
    assert (result["requests"], result["touches_expected"], result["flushes"]) == (writes, touches, 0)
    assert (result["depth"], result["threads"]) == (depth, threads)
    assert result["method"] == ("io_uring" if depth > 1 else "pread/pwrite")
    assert sum(count for _, count in result["service_us"]["histogram"]) == writes
    assert sum(size["service_us"]["count"] * size["bytes"] for size in result["by_size"]) == result["bytes"]
    line = result["time_line"]
    assert (len(line) == writes if writes <= 200 else 100 <= len(line) <= 200) and sum(part["count"] for part in line) == writes
    assert [part["end_s"] for part in line] == sorted(part["end_s"] for part in line)
    assert line[-1]["end_s"] == result["wall_s"]
    assert result["data_check"]["status"] == "ok"


@pytest.mark.parametrize("workload, flushes", [
    (["w4k_132k", "--count", 70], 140), (["areasync-512", "--count", 3], 12), (["journal-64k-seq", "--count", 3], 6),
    (["rand4k", "--count", 100, "--depth", 4, "--threads", 2], 100)])
def test_an_fdatasync_follows_each_write_if_asked_for(disk, workload, flushes):
    result = replayed(*workload, "--on", disk, "--fdatasync")
    assert result["requests"] == result["flushes"] == flushes
    assert result["data_check"]["status"] == "ok"


@pytest.mark.parametrize("workload", [*ONE_AT_A_TIME, "rnddeltaread"])
def test_threads_are_refused_where_requests_must_follow_each_other(disk, workload):
    failed = alignctl("replay", workload, "--on", disk, "--threads", 2)
    what = "reads" if workload == "rnddeltaread" else "writes"
    assert failed.returncode == USAGE
    assert failed.stderr == f"alignctl: --threads 2: the {what} of {workload} must follow each other; leave it out\n"
    assert not any(disk.read_bytes())


def test_one_thread_without_a_warm_up_says_what_it_always_did(disk):
    plain = replayed("areasync-512", "--on", disk, "--count", 5)
    told = replayed("areasync-512", "--on", disk, "--count", 5, "--threads", 1, "--depth", 1)
    assert list(told) == list(plain)
    assert [(each["threads"], each["depth"], each["warmup_s"], each["warmup_requests"]) for each in (told, plain)] == \
        2 * [(1, 1, 0, 0)]


def test_more_than_the_greatest_depth_is_refused_whatever_the_phase(disk):
    for phase in ([], ["--phase", "check", "--state", "/none"]):
        failed = alignctl("replay", "rand4k", "--on", disk, "--threads", 8, "--depth", 33, *phase)
        assert failed.returncode == USAGE and failed.stderr.startswith(
            "alignctl: --threads 8: with --depth 33 each that is more than 256 in flight")


def test_each_phase_takes_the_options_of_the_run(disk, tmp_path):
    common = ["rand4k", "--on", disk, "--state", tmp_path / "state", "--threads", 3, "--warmup", "0.0001"]
    assert "warmup_requests" not in replayed(*common, "--phase", "prepare", "--count", 3000)
    ran = replayed(*common, "--phase", "run")
    assert ran["requests"] + ran["warmup_requests"] == 3000 and ran["threads"] == 3
    assert json.loads((tmp_path / "state").read_text())["issued"] == 3000
    assert replayed(*common, "--phase", "check")["data_check"]["status"] == "ok"


def half_warmed_up(*arguments, least=1):
    """A replay with `least` requests or more in its warm-up and some behind it, however fast the disk is, and although a
    request may be stopped for longer than the warm-up."""
    for warmup in 3 * [0.03 / 2 ** step for step in range(12)]:
        done = alignctl("replay", *arguments, "--warmup", warmup, "--json")
        assert done.returncode == FINE, done.stderr
        result = json.loads(done.stdout)
        assert result["warmup_s"] == pytest.approx(warmup, abs=1e-6)
        assert result["requests"] or "nothing was measured" in done.stderr
        if result["requests"] and result["warmup_requests"] >= least:
            return result
    raise AssertionError(f"with every warm-up, fewer than {least} requests are in it, or none behind it")


@pytest.mark.parametrize("workload, options, writes", [("rand512", ["--count", 3000, "--threads", "2"], 3000),
                                                       ("areasync-512", ["--count", 25], 100)])
def test_a_warm_up_is_written_and_compared_but_in_no_figure(disk, workload, options, writes):
    result = half_warmed_up(workload, "--on", disk, *options)
    assert 0 < result["warmup_requests"] < writes
    assert result["requests"] + result["warmup_requests"] == writes
    assert result["bytes"] == 512 * result["requests"]
    assert sum(size["service_us"]["count"] for size in result["by_size"]) == result["requests"]
    assert sum(part["count"] for part in result["time_line"]) == result["requests"]
    # A fast disk may write what is measured in some 30 us, and wall_s is told to the microsecond.
    assert result["requests"] / result["iops"] == pytest.approx(result["wall_s"], abs=1e-6)
    assert result["data_check"]["status"] == "ok"
    page = man_page("alignctl-replay.8")
    assert all(key in page for key in keys(result))


def test_a_probe_that_began_in_the_warm_up_has_no_rate(disk):
    result = half_warmed_up("seqwrite", "--on", disk, "--count", 4)
    each = -(-result["probes"]["probe_bytes"] // (1 << 20))
    assert result["requests"] < 4 * each
    assert result["probes"]["complete"] == len(result["probes"]["each"]) == result["requests"] // each


def test_pairs_of_the_warm_up_are_not_timed_and_the_others_keep_their_distance(disk):
    every = replayed("rnddeltaread", "--on", disk, "--count", 400)["probes"]["each"]
    # a pair is of the warm-up if its second request is
    result = half_warmed_up("rnddeltaread", "--on", disk, "--count", 400, least=2)
    pairs = result["probes"]
    # the last request is the second of a pair
    assert pairs["complete"] == len(pairs["each"]) == (result["requests"] + 1) // 2 < 400
    assert [pair["distance"] for pair in pairs["each"]] == [pair["distance"] for pair in every[-pairs["complete"]:]]


def test_a_warm_up_and_threads_are_told_to_people_too(disk):
    done = alignctl("replay", "rand512", "--on", disk, "--count", 9, "--warmup", 9, "--threads", 2)
    assert done.returncode == FINE
    assert done.stderr == "alignctl: warning: --warmup 9: rand512 ended within the warm-up; nothing was measured\n"
    assert ": timing closed, 2 threads with at most 1 in flight each\n" in done.stdout
    assert "  warm-up     9 s: 9 requests that are in no figure below\n" in done.stdout
    assert "  requests    0 in 0 s" in done.stdout and "data check  ok" in done.stdout


def test_a_write_error_ends_all_threads_and_leaves_the_rest_checkable(disk, tmp_path):
    state = tmp_path / "state"
    common = ["w4096", "--on", disk, "--state", state]
    assert alignctl("replay", *common, "--phase", "prepare", "--count", 100).returncode == FINE
    # a limit of 512 blocks of 1024 bytes: write number 64, at byte 524288, fails
    failed = subprocess.run(["bash", "-c", "trap '' XFSZ; ulimit -f 512; exec \"$@\"", "bash", ALIGNCTL, "replay",
                             *map(str, common), "--phase", "run", "--threads", "4"], text=True, capture_output=True,
                            timeout=patience(60), check=False)
    assert failed.returncode == IO and "stopped     by error after 64 of 100 requests" in failed.stdout
    text = json.loads(state.read_text())
    assert sorted(text["failed"]) == list(range(64, text["issued"])) and 1 <= len(text["failed"]) <= 4
    assert replayed(*common, "--phase", "check")["data_check"]["status"] == "ok"


def test_ctrl_c_ends_a_pause_of_all_threads_at_once(tmp_path):
    disk, state = tmp_path / "disk", tmp_path / "state"
    with open(disk, "wb") as file:
        file.truncate(300 << 20)
    common = ["db-daemon", "--on", disk, "--state", state]
    replayed(*common, "--phase", "prepare", "--span", "280M", "--count", 510)
    planned = json.loads(alignctl("plan", "db-daemon", "--on", disk, "--span", "280M", "--count", 500, "--json").stdout)
    before_the_pause = planned["requests"]["write"]["bytes"]
    with subprocess.Popen([ALIGNCTL, "replay", *map(str, common), "--phase", "run", "--think", "60", "--threads", "2",
                           "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        limit = Limit(60)
        while written(running) < before_the_pause:
            assert not limit.over(), f"{written(running)} of {before_the_pause} bytes are written after {limit}"
            time.sleep(0.01)
        # until the threads sleep
        time.sleep(0.5)
        running.send_signal(signal.SIGINT)
        shown, errors = running.communicate(timeout=patience(30))
    assert running.returncode == -signal.SIGINT and not errors
    result = json.loads(shown)
    assert (result["stopped"], result["requests"]) == ("signal", 500) and "pauses" not in result
    assert json.loads(state.read_text())["issued"] == 500
    assert replayed(*common, "--phase", "check")["data_check"]["status"] == "ok"


def written(process):
    """Return the bytes that a process has written to its disk."""
    with open(f"/proc/{process.pid}/io", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("write_bytes")).split()[1])


def test_a_disk_that_is_too_small_is_refused_before_threads_start(disk):
    failed = alignctl("replay", "db-randwrite", "--on", disk, "--threads", 4)
    assert failed.returncode == USAGE and str(DISK_BYTES) in failed.stderr


def test_two_devices_are_compared_with_threads_and_a_warm_up(disk):
    other = disk.with_name("other")
    with open(other, "wb") as file:
        file.truncate(DISK_BYTES)
    done = alignctl("verify", "rand512", "--on", disk, "--vs", other, "--count", 3000, "--threads", 2, "--warmup", "0.0001",
                    "--repeat", 2, "--json")
    assert done.returncode == FINE, done.stderr
    result = json.loads(done.stdout)
    assert result["findings"] == [] and len(result["runs"]) == 4
    for run in result["runs"]:
        replay = run["replay"]
        assert replay["threads"] == 2 and replay["requests"] + replay["warmup_requests"] == 3000
        assert replay["data_check"]["status"] == "ok"


def test_the_times_of_a_workload_go_to_a_histogram_file(disk, tmp_path):
    file = tmp_path / "times"
    result = replayed("db-write", "--fdatasync", "--on", disk, "--count", 200, "--histogram", file)
    names = Counter()
    for (name, _, _), count in histogram_counts(file).items():
        names[name] += count
    # each write, and its fdatasync
    assert names == {"service-write": 200, "service-flush": 200}
    assert result["service_us"]["max"] * 1000 <= max(high for (name, _, high) in histogram_counts(file)
                                                     if name == "service-write")


@pytest.mark.parametrize("phase", ["prepare", "check"])
def test_a_phase_without_times_writes_no_histogram_file(disk, tmp_path, phase):
    failed = alignctl("replay", "rand512", "--on", disk, "--phase", phase, "--state", tmp_path / "state", "--histogram",
                      tmp_path / "times")
    assert failed.returncode == USAGE and f"--phase {phase}" in failed.stderr
    assert not list(tmp_path.glob("times"))


@pytest.mark.parametrize("source", ["rand512", "trace"])
def test_a_histogram_file_that_cannot_be_is_refused_before_anything_is_written(disk, tmp_path, source):
    trace = tmp_path / "trace"
    trace.write_text("op,offset,bytes\nwrite,0,512\n")
    before = disk.read_bytes()
    failed = alignctl("replay", trace if source == "trace" else source, "--on", disk, "--histogram",
                      tmp_path / "no" / "such")
    assert failed.returncode == USAGE and "No such file" in failed.stderr and "--histogram" in failed.stderr
    assert disk.read_bytes() == before
