# SPDX-License-Identifier: GPL-2.0
"""Workloads that rest, sort or pair their requests, or write to two places in turn, as their user meets them."""

import json

import pytest

from alignctl_program import alignctl
from lab.pace import patience

FINE, FINDINGS, USAGE = range(3)
START = 65536


def replayed(workload, *arguments):
    done = alignctl("replay", workload, "--json", *arguments)
    assert done.returncode == FINE and not done.stderr, done.stderr
    return json.loads(done.stdout)


# Writes, partial touches and flushes of ten repetitions, by hand.
@pytest.mark.parametrize("workload, arguments, want", [
    ("db-daemon", ["--span", "8M"], (10, 0, 0)),
    ("db-daemon-shifted", ["--span", "8M"], (10, 20, 0)),
    ("db-randwrite-shifted", ["--span", "1M"], (10, 20, 0)),
    ("journal-252k-seq", [], (20, 0, 10)),
    ("journal-252k-rand", ["--span", "1M"], (20, 0, 10)),
    ("journal-64k-seq", [], (20, 0, 10)),
    ("journal-64k-rand", ["--span", "1M"], (20, 0, 10)),
    ("journal-252k-seq-shifted", [], (20, 40, 10)),
    ("journal-252k-rand-shifted", ["--span", "1M"], (20, 40, 10)),
    ("journal-64k-seq-shifted", [], (20, 40, 10)),
    ("journal-64k-rand-shifted", ["--span", "1M"], (20, 40, 10)),
])
def test_a_database_writes_what_its_row_says(disk, workload, arguments, want):
    result = replayed(workload, "--on", disk, "--count", 10, *arguments)
    assert (result["requests"], result["touches_expected"], result["flushes"]) == want
    assert result["data_check"]["status"] == "ok"


def test_a_copy_of_large_pieces_is_flushed_once_for_each(disk):
    result = replayed("dd-4m-sync", "--on", disk, "--count", 3)
    assert (result["requests"], result["touches_expected"], result["flushes"]) == (3 * 35, 0, 3)
    assert {size["bytes"]: size["service_us"]["count"] for size in result["by_size"]} == {240 * 512: 3 * 34, 16384: 3}


def test_the_daemon_writes_each_length_as_often_as_published(disk):
    result = replayed("db-daemon", "--on", disk, "--count", 40, "--span", "20M")
    assert {size["bytes"] >> 10: size["service_us"]["count"] for size in result["by_size"]} == {8: 8, 16: 4, 32: 4, 512: 24}


def test_the_daemon_rests_as_long_as_asked_for_and_not_after_the_last_write(tmp_path):
    disk = tmp_path / "disk"
    with open(disk, "wb") as file:
        file.truncate(1 << 30)
    common = ["--on", disk, "--span", "600M", "--phase", "prepare", "--state", tmp_path / "state"]
    planned = replayed("db-daemon", *common, "--count", 1000)
    assert "pauses" not in planned
    ran = replayed("db-daemon", *common[:2], "--phase", "run", "--state", tmp_path / "state", "--think", "0.3")
    assert ran["pauses"] == 1 and 0.3 <= ran["pause_s"] < patience(1) and ran["wall_s"] > ran["pause_s"]


def test_pauses_are_left_out_when_told_and_refused_where_there_are_none(disk):
    assert "pauses" not in replayed("db-daemon", "--on", disk, "--count", 10, "--span", "8M", "--think", 0)
    for workload in ("w512", "db-read"):
        failed = alignctl("replay", workload, "--on", disk, "--count", 1, "--think", 1)
        assert failed.returncode == USAGE and "--think" in failed.stderr
    failed = alignctl("replay", "db-daemon", "--on", disk, "--think", "-1")
    assert failed.returncode == USAGE and "--think -1" in failed.stderr


def test_the_second_read_of_each_pair_is_timed_at_its_distance(disk):
    result = replayed("rnddeltaread", "--on", disk, "--count", 50)
    pairs = result["probes"]
    assert (result["requests"], pairs["complete"], len(pairs["each"])) == (100, 50, 50)
    distances = [pair["distance"] for pair in pairs["each"]]
    assert all(distance > 0 and distance % 4096 == 0 for distance in distances)
    assert min(distances) < 8 << 20 < 16 << 20 < max(distances) and len(set(distances)) > 40
    times = [pair["us"] for pair in pairs["each"]]
    assert pairs["mean_us"] == pytest.approx(sum(times) / 50, abs=0.01) and pairs["max_us"] == max(times)
    assert "second us   mean" in alignctl("replay", "rnddeltaread", "--on", disk, "--count", 50).stdout
    other = replayed("rnddeltaread", "--on", disk, "--count", 50, "--seed", 2)["probes"]["each"]
    assert [pair["distance"] for pair in other] != distances


@pytest.mark.parametrize("option", [["--depth", "2"], ["--timing", "fast"]])
def test_pairs_go_one_at_a_time(disk, option):
    failed = alignctl("replay", "rnddeltaread", "--on", disk, *option)
    assert failed.returncode == USAGE and option[0] in failed.stderr and "follow each other" in failed.stderr


def test_sorted_reads_need_their_70_gb_or_a_span(disk):
    failed = alignctl("replay", "sorted-reads-32", "--on", disk)
    assert failed.returncode == USAGE and "--span" in failed.stderr
    result = replayed("sorted-reads-32", "--on", disk, "--span", "16M")
    assert (result["requests"], result["bytes"]) == (1000, 4096000)
