# SPDX-License-Identifier: GPL-2.0
"""A workload, run on a regular file: its requests, what they must cost, and the report."""

import json
import re
import subprocess

import pytest

from alignctl_program import ALIGNCTL, AREAS, DISK_BYTES, ONE_AT_A_TIME, alignctl, needs_io_uring, shown, terminal

FINE, FINDINGS, USAGE = range(3)

# Writes, partial touches, unavoidable reads and blocks of ten repetitions, by hand, on 4096-byte blocks.
TEN = {
    "w512": (10, 10, 10, 10),
    "w4096": (10, 0, 0, 10),
    "w4096_512": (10, 20, 20, 20),
    "w136k": (10, 20, 2, 341),
    "w4k_132k": (20, 40, 2, 341),
    "diskbenchi-0": (40, 0, 0, 5120),
    "diskbenchi-existing": (40, 80, 2, 5121),
    "diskbenchi": (40, 80, 2, 5121),
    "diskbenchi-fresh": (51, 71, 0, 5121),
    "shifted-partition": (10, 20, 20, 20),
    "seq8k-shifted": (10, 20, 2, 21),
    "dd-512-sync": (80, 0, 0, 10),
    "rndwrite": (10, 0, 0, 10),
    "db-write": (10, 0, 0, 20),
    "areasync-512": (40, 40, 4, 4),
    "areasync-512-128k": (40, 40, 4, 4),
    "areasync-4k": (40, 0, 0, 4),
    "areasync-4k-shifted": (40, 80, 8, 8),
    "append-512-dsync": (10, 10, 1, 2),
    "rand512": (10, 10, 10, 10),
    "rand4k": (10, 0, 0, 10),
}
RANDOM = ("shifted-partition", "rndwrite", "rand512", "rand4k")


@pytest.mark.parametrize("workload", TEN)
def test_replay_reports_what_the_workload_must_cost_and_what_it_took(disk, workload):
    requests, touches, rmin, distinct = TEN[workload]
    done = alignctl("replay", workload, "--on", disk, "--count", 10, "--json")
    assert done.returncode == FINE and not done.stderr
    result = json.loads(done.stdout)
    assert list(result) == [
        "format", "source", "source_format", "device", "count", "start", "span", "areas", "seed", "timing", "speed",
        "buffered", "fdatasync", "depth", "threads", "warmup_s", "physical_block_size", "alignment_offset",
        "writes_expected", "reads_expected", "touches_expected", "rmin", "distinct_blocks", "depth_reached", "method",
        "warmup_requests", "requests", "flushes", "bytes", "issued", "failed", "discards_unsupported",
        "waited_for_overlap", "stopped", "wall_s", "flush_s", "iops", "mb_per_s", "samples_1s", "service_us", "flush_us",
        "response_us", "lag_us", "drift", "time_line", "by_kind", "by_size", "by_class", "by_phase", "data_check",
        "device_facts"]
    assert (result["source"], result["device"], result["count"]) == (workload, str(disk), 10)
    assert (result["requests"], result["touches_expected"], result["rmin"], result["distinct_blocks"]) == \
        (requests, touches, rmin, distinct)
    assert result["stopped"] is None
    assert (result["depth"], result["method"]) == (1, "pread/pwrite")
    assert result["areas"] == (4 if workload in AREAS else None)
    assert (result["seed"], bool(result["span"])) == ((1, True) if workload in RANDOM else (None, False))
    assert (result["physical_block_size"], result["alignment_offset"]) == (4096, 0)
    assert result["data_check"] == {"status": "ok", "sectors": result["data_check"]["sectors"], "mismatches": 0,
                                    "first_mismatch_sector": None, "passes": 1}
    assert result["data_check"]["sectors"] >= 8 * distinct

    latency = result["service_us"]
    assert list(latency) == ["count", "mean", "sd", "min", "p50", "p90", "p98", "p99", "p99_9", "p99_99", "max",
                             "histogram"]
    assert latency["count"] == requests
    order = [latency[name] for name in ("min", "p50", "p90", "p98", "p99", "p99_9", "max")]
    assert order == sorted(order) and 0 < order[0] <= latency["mean"] <= order[-1]
    assert sum(count for _, count in latency["histogram"]) == requests
    assert latency["histogram"][-1][0] >= latency["max"]
    assert result["flushes"] == (requests if workload in AREAS else 0)
    if result["flushes"]:
        assert sum(count for _, count in result["flush_us"]["histogram"]) == requests
    else:
        assert result["flush_us"] is None
    assert sum(size["service_us"]["count"] for size in result["by_size"]) == requests
    line = result["time_line"]
    assert sum(part["count"] for part in line) == requests
    assert [part["end_s"] for part in line] == sorted(part["end_s"] for part in line)
    assert max(part["max_us"] for part in line) == result["service_us"]["max"]
    assert line[-1]["end_s"] <= result["wall_s"]
    assert sum(part["count"] * part["mean_us"] for part in line) / requests == \
        pytest.approx(result["service_us"]["mean"])
    assert len({size["bytes"] for size in result["by_size"]}) == len(result["by_size"])
    assert sum(size["service_us"]["count"] * size["bytes"] for size in result["by_size"]) == result["bytes"]
    assert result["wall_s"] * 1e6 >= 0.99 * latency["mean"] * requests - 1000
    assert result["device_facts"]["kind"] == "file"
    assert result["device_facts"]["size_bytes"] == DISK_BYTES


@pytest.mark.parametrize("workload", sorted(set(TEN) - set(ONE_AT_A_TIME)))
def test_replay_keeps_many_writes_in_flight_and_loses_none(disk, workload):
    done = alignctl("replay", workload, "--on", disk, "--count", 10, "--depth", 8, "--json")
    needs_io_uring(done)
    assert done.returncode == FINE and not done.stderr
    result = json.loads(done.stdout)
    assert (result["depth"], result["method"], result["requests"]) == (8, "io_uring", TEN[workload][0])
    assert result["data_check"]["status"] == "ok"


def test_replay_starts_where_it_is_told(disk):
    raw = json.loads(alignctl("replay", "w136k", "--on", disk, "--count", 10, "--start", 0, "--json").stdout)
    assert (raw["start"], raw["touches_expected"], raw["distinct_blocks"]) == (0, 0, 340)
    failed = alignctl("replay", "diskbenchi-fresh", "--on", disk, "--count", 1, "--start", 512)
    assert failed.returncode == USAGE and "--start 512" in failed.stderr and "3584" in failed.stderr
    failed = alignctl("replay", "w136k", "--on", disk, "--count", 1, "--start", 100)
    assert failed.returncode == USAGE and "--start 100" in failed.stderr and "multiple of" in failed.stderr


def test_random_writes_go_where_the_seed_says(disk):
    def written(*arguments):
        with open(disk, "wb") as file:
            file.truncate(DISK_BYTES)
        done = alignctl("replay", "rand4k", "--on", disk, "--count", 50, "--json", *arguments)
        assert done.returncode == FINE, done.stderr
        data = disk.read_bytes()
        # sequence numbers of the sectors: 0 where only prepare has been
        return [at for at in range(0, DISK_BYTES, 4096) if any(data[at + 16:at + 24])]

    first = written()
    assert len(first) == 50 and max(first) > DISK_BYTES // 2
    assert written("--seed", 1) == first
    assert written("--seed", 2) != first
    assert max(written("--span", "1M")) < 65536 + (1 << 20)
    dense = written("--span", 50 * 4096)
    assert dense == list(range(65536, 65536 + 50 * 4096, 4096))
    failed = alignctl("replay", "rand4k", "--on", disk, "--count", 51, "--span", 50 * 4096)
    assert failed.returncode == USAGE and "--count 51" in failed.stderr and "--span" in failed.stderr


def test_areas_are_as_many_as_asked_for(disk):
    result = json.loads(alignctl("replay", "areasync-512", "--on", disk, "--count", 3, "--areas", 7, "--json").stdout)
    assert (result["areas"], result["requests"], result["flushes"], result["rmin"]) == (7, 21, 21, 7)
    assert result["data_check"]["status"] == "ok"


def test_replay_for_people_says_the_same(disk):
    done = alignctl("replay", "w4k_132k", "--on", disk, "--count", 10)
    assert done.returncode == FINE and not done.stderr
    for words in ("w4k_132k (workload) on", "20 writes", "40 partial touches", "P99.9",
                  "\n    4 KiB     10 ", "\n  132 KiB     10 ", "data check  ok"):
        assert words in done.stdout


def test_figures_follow_the_physical_block_that_is_given(disk):
    done = alignctl("replay", "w4096", "--on", disk, "--count", 10, "--json", "--physical", "16K", "--offset", 512)
    result = json.loads(done.stdout)
    assert (result["physical_block_size"], result["alignment_offset"]) == (16384, 512)
    # every other write crosses a boundary at 512 + k * 16384; block 0 lies partly before the file, so is not read
    assert (result["touches_expected"], result["distinct_blocks"], result["rmin"]) == (15, 6, 5)
    assert result["data_check"]["status"] == "ok"


def test_a_device_too_small_is_told_need_and_have(disk):
    failed = alignctl("replay", "w136k", "--on", disk)
    assert failed.returncode == USAGE
    assert str(3584 + 5000 * 139264) in failed.stderr and str(DISK_BYTES) in failed.stderr
    assert "--count" in failed.stderr


def on_a_terminal(command):
    """Runs a command with standard error on a terminal; returns what it drew there."""
    with terminal() as (ours, theirs), subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs) as running:
        drawn = shown(running, ours, theirs)
    assert running.returncode == FINE
    return drawn


def test_progress_is_drawn_on_a_terminal_only(disk):
    command = [ALIGNCTL, "replay", "w512", "--on", disk, "--count", "1000"]
    assert re.search(r"\rw512: +\d+ %, \d+:\d\d left", on_a_terminal(command))
    assert not alignctl(*command[1:]).stderr
