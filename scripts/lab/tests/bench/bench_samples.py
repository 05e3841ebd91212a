# SPDX-License-Identifier: GPL-2.0
"""Made-up runs of the benchmark, of which a test changes one quantity."""

from lab.bench.record import Record, Run

QUEUE = {"max_sectors_kb": 1280, "max_segments": 254}


def run(on, case, arm, repeat=0, *, count=100, requests=None, mean_us=2000.0, wall_s=None,
        flush_s=0.0, busy_s=None, touches=0, expected=0, reads=0, writes=0, cpu=0.3, pad_reads=0,
        rmin=2, memory=None):
    """Make a consistent run: its ledger balances and its data is right."""
    requests = requests or count
    ledger = None
    if arm in ("report", "pad", "coalesce"):
        ledger = {"rmw_expected": expected, "rmw_avoided": expected - touches, "rmw_host": 0,
                  "rmw_drive": touches, "rmw_lost": 0, "rmw_pending": 0, "pad_reads": pad_reads}
    wall_s = requests * mean_us / 1e6 if wall_s is None else wall_s
    return Run(on, case, arm, repeat, count,
               replay={"requests": requests, "wall_s": wall_s, "flush_s": flush_s, "rmin": rmin,
                       "touches_expected": expected,
                       "service_us": {"mean": mean_us, "p99": 3 * mean_us},
                       "data_check": {"status": "ok", "sectors": 8, "mismatches": 0}},
               drive={"touches": touches, "reads": reads, "writes": writes, "flushes": 1,
                      "busy_ns": (wall_s if busy_s is None else busy_s) * 1e9},
               ledger=ledger, memory=memory,
               machine={"guest_cpu": cpu, "host_load": 1.0, "host_steal": 0.0})


def record(*runs, overhead=None):
    return Record({"noise": "none, made up"}, {"instant": dict(QUEUE)}, list(runs), overhead or {})
