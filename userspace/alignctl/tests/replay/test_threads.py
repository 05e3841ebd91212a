# SPDX-License-Identifier: GPL-2.0
"""alignctl replay --threads and --warmup, as their user meets them."""

import json
import random

import pytest

from alignctl_program import alignctl, interrupted

FINE, FINDINGS, USAGE, IO, BUSY = range(5)


@pytest.fixture
def trace(tmp_path):
    """Makes a trace of requests (ms, op, sector, sectors)."""
    def make(requests):
        path = tmp_path / "t.csv"
        path.write_text("time_us,op,offset_sectors,sectors\n" + "".join(
            f"{round(ms * 1000)},{op},{sector},{sectors}\n" for ms, op, sector, sectors in requests))
        return path
    return make


def overlapping(count):
    """Requests of all kinds that lie over one another a lot, from a fixed seed."""
    chance = random.Random(3)
    for _ in range(count):
        op = chance.choice(["write"] * 9 + ["read", "discard", "write-zeroes", "flush"])
        yield (0, "flush", 0, 0) if op == "flush" else (0, op, chance.randrange(400), chance.randrange(1, 40))


@pytest.mark.parametrize("threads, depth, timing", [(4, 1, "closed"), (2, 8, "closed"), (8, 1, "fast"), (4, 32, "fast"),
                                                    (4, None, "open")])
def test_overlapping_requests_of_several_threads_leave_what_the_trace_says(disk, trace, threads, depth, timing):
    done = alignctl("replay", trace(overlapping(3000)), "--on", disk, "--threads", threads, "--timing", timing,
                    *(["--depth", depth] if depth else []), "--json")
    assert done.returncode == FINE and not done.stderr, done.stderr
    result = json.loads(done.stdout)
    assert (result["threads"], result["depth"]) == (threads, depth or 256 // threads)
    assert result["requests"] == result["issued"] == 3000 and result["waited_for_overlap"] > 0
    assert 1 < result["depth_reached"] <= result["threads"] * result["depth"]
    assert result["data_check"]["status"] == "ok" and result["data_check"]["sectors"] > 300


def test_threads_are_for_requests_together_up_to_the_greatest_depth(disk, trace):
    path = trace(overlapping(10))
    done = alignctl("replay", path, "--on", disk, "--threads", 8, "--depth", 33)
    assert done.returncode == USAGE and done.stderr == (
        "alignctl: --threads 8: with --depth 33 each that is more than 256 in flight; take fewer, or a smaller "
        "--depth\n")
    done = alignctl("replay", path, "--on", disk, "--threads", 16, "--timing", "fast")
    assert done.returncode == FINE and "16 threads with at most 16 in flight each" in done.stdout


@pytest.mark.parametrize("option, value, reason", [
    ("threads", "0", "must be a whole number from 1 to 256"), ("threads", "257", "must be a whole number from 1 to 256"),
    ("warmup", "0", "must be a number of seconds above 0, at most 86400, e.g. 2.5"),
    ("warmup", "5%", "must be a number of seconds above 0, at most 86400, e.g. 2.5"),
    ("warmup", "1e9", "must be a number of seconds above 0, at most 86400, e.g. 2.5")])
def test_a_value_that_cannot_be_is_refused(disk, trace, option, value, reason):
    done = alignctl("replay", trace([]), "--on", disk, f"--{option}", value)
    assert done.returncode == USAGE and done.stderr.startswith(f"alignctl: --{option} {value}: {reason}")


def test_ctrl_c_stops_all_threads_and_prints_what_was_measured(disk, trace):
    path = trace([(i * 50, "write", 8 * (i % 100), 8) for i in range(600)])
    result = interrupted("replay", path, "--on", disk, "--threads", 4)
    assert result["stopped"] == "signal" and 0 < result["requests"] == result["issued"] < 600


def test_a_warm_up_is_replayed_and_compared_but_in_no_figure(disk, trace):
    path = trace([(i * 10, "write", i, 1) for i in range(60)])
    done = alignctl("replay", path, "--on", disk, "--warmup", "0.295", "--json")
    assert done.returncode == FINE and not done.stderr
    result = json.loads(done.stdout)
    assert result["warmup_s"] == 0.295 and result["warmup_requests"] == 30
    assert result["requests"] == result["service_us"]["count"] == 30 and result["issued"] == 60
    assert result["bytes"] == 30 * 512 and result["data_check"]["sectors"] == 60
    # the last is due 0.295 s after the warm-up
    assert 0.29 < result["wall_s"] and result["iops"] == pytest.approx(30 / result["wall_s"], rel=1e-3)
    done = alignctl("replay", path, "--on", disk, "--warmup", "0.295", "--force", disk)
    assert "  warm-up     295 ms: 30 requests that are in no figure below\n" in done.stdout


def test_a_warm_up_that_outlasts_the_trace_is_said(disk, trace):
    path = trace([(0, "write", 0, 8)])
    done = alignctl("replay", path, "--on", disk, "--warmup", "9", "--json")
    assert done.returncode == FINE
    assert done.stderr == f"alignctl: warning: --warmup 9: {path} ended within the warm-up; nothing was measured\n"
    assert json.loads(done.stdout)["requests"] == 0 and json.loads(done.stdout)["warmup_requests"] == 1
