# SPDX-License-Identifier: GPL-2.0
"""A small made-up verification: consistent, so that a test can spoil one figure."""

from align_reports.results import MODES, Results, Run

WRITES, REPETITIONS = 40, 3
# Touches, those read for in pad and in coalesce, and the time of each mode relative to raw's.
SHAPES = {
    "w512": (40, 40, 40, {"raw": 1, "report": 1, "pad": 2, "coalesce": 0.3}),
    "w4096": (0, 0, 0, {"raw": 1, "report": 1, "pad": 1, "coalesce": 1}),
    "w4k_132k": (80, 40, 2, {"raw": 1, "report": 1, "pad": 2.1, "coalesce": 0.2}),
    "records-4000": (120, 120, 110, {"raw": 1, "report": 1, "pad": 1.5, "coalesce": 0.9}),
}
# Writes that the page cache makes, of the workloads that go through it.
PAGES = {"records-4000": 60}


def _check():
    return {"status": "ok", "sectors": 1000, "mismatches": 0, "first_mismatch_sector": None}


def _run(workload, mode, repetition):
    touches, padded, held, pace = SHAPES[workload]
    host = {"pad": padded, "coalesce": held}.get(mode, 0)
    at_drive = touches if mode == "report" else 0
    # No two repetitions take the same time.
    mean = 500 * pace[mode] * (1 + 0.01 * ((repetition * 7 + len(mode)) % 3 - 1))
    ledger = None if mode == "raw" else {
        "rmw_expected": touches, "rmw_avoided": touches - host - at_drive, "rmw_host": host,
        "rmw_drive": at_drive, "rmw_lost": 0, "rmw_pending": 0, "pad_reads": host,
        "writes": PAGES.get(workload, WRITES), "writes_over_limits": 0}
    latency = {"mean": mean, "p50": mean * 0.95, "p99": mean * 4, "max": mean * 8,
               "histogram": [[mean * 0.8, 10], [mean, 20], [mean * 1.25, 9], [None, 1]]}
    replay = {"requests": WRITES, "buffered": workload in PAGES,
              "writes_expected": PAGES.get(workload, WRITES), "touches_expected": touches, "wall_s": WRITES * mean / 1e6,
              "flush_s": 0.001, "service_us": latency, "physical_block_size": 4096,
              "time_line": [{"end_s": WRITES / 4 * part * mean / 1e6, "count": WRITES // 4,
                             "mean_us": mean * (0.9 + part / 20), "max_us": mean * 8}
                            for part in range(1, 5)],
              "data_check": _check()}
    return Run("/dev/test", workload, mode, WRITES, touches, replay, None, ledger, repetition,
               None if mode == "raw" else [[0, 30], [3584, 10]], None if mode == "raw" else _check())


def made_up_verification():
    """Make results of every workload, mode and repetition, without a finding."""
    return Results({"device": "/dev/test", "note": "made up by a test, not measured"},
                   [_run(workload, mode, repetition) for repetition in range(1, REPETITIONS + 1)
                    for workload in SHAPES for mode in MODES])
