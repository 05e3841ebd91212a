# SPDX-License-Identifier: GPL-2.0
"""A small made-up demo result: consistent, so that a test can spoil one figure."""

import pytest

from align_reports.results import PROFILES, Results, Run
from lab.demo.schedule import MODES_ON
from lab.demo.workloads import WORKLOADS

MADE_UP_COUNT = 40
REPETITIONS = 3


def made_up_latency(mean_us):
    spread = [(0.7, 4), (0.84, 10), (1.0, 14), (1.19, 8), (1.41, 3), (8.0, 1)]
    return {"mean": mean_us, "sd": mean_us / 4, "min": mean_us * 0.6, "p50": mean_us,
            "p90": mean_us * 1.2, "p99": mean_us * 7, "p99_9": mean_us * 8,
            "max": mean_us * 8,
            "histogram": [[mean_us * factor, count] for factor, count in spread]}


def made_up_time_line(requests, mean_us):
    return [{"end_s": requests / 4 * part * mean_us / 1e6, "count": requests // 4,
             "mean_us": mean_us * (0.9 + part / 20), "max_us": mean_us * 8} for part in range(1, 5)]


def made_up_run(profile, workload, mode, mean_us, repetition=1):
    # No two repetitions take the same time.
    mean_us *= 1 + 0.01 * ((repetition * 7 + len(mode)) % 3 - 1)
    requests = workload.requests(MADE_UP_COUNT)
    expected = workload.touches_expected(MADE_UP_COUNT)
    fixing = mode in ("pad", "coalesce")
    at_drive = 0 if fixing else expected
    ledger = None
    if mode != "raw":
        read = (expected + 1) // 2 if fixing else 0
        ledger = {"rmw_expected": expected, "rmw_avoided": expected - at_drive - read,
                  "rmw_host": read, "rmw_drive": at_drive, "rmw_lost": 0, "rmw_pending": 0,
                  "pad_reads": read, "writes": requests, "writes_over_limits": 0}
    return Run(profile, workload.name, mode, MADE_UP_COUNT, expected,
               replay={"requests": requests, "touches_expected": expected,
                       "wall_s": requests * mean_us / 1e6, "flush_s": 0.001,
                       "service_us": made_up_latency(mean_us), "physical_block_size": 4096,
                       "time_line": made_up_time_line(requests, mean_us),
                       "data_check": {"status": "ok", "sectors": 1000, "mismatches": 0,
                                      "first_mismatch_sector": None}},
               drive={"touches": at_drive, "rmws": at_drive, "writes": requests, "reads": 0},
               ledger=ledger, repetition=repetition,
               phases=None if mode == "raw" else [[offset, requests // 2] for offset in (0, 512)])


@pytest.fixture
def made_up():
    """Make results of every profile, workload, mode and repetition, without a finding."""
    pace = {"st1000dm003": 500, "hdd-nocache": 12000}
    runs = [made_up_run(profile, workload, mode, pace[profile] / (2 if mode == "pad" else 1), repetition)
            for profile in PROFILES for workload in WORKLOADS for repetition in range(1, REPETITIONS + 1)
            for mode in MODES_ON[profile]]
    return Results({"device": "emulated drives", "note": "made up by a test, not measured"}, runs)
