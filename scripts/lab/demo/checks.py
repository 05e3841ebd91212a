# SPDX-License-Identifier: GPL-2.0
"""Checks of a demo's results: pure functions from results to findings, a sentence each.

The demo sets up the case in which the drive and the ledger must agree exactly: no
merging above (nomerges=2, scheduler none) nor below (request-merging=off), and writes
within the limits of the drive's queue.
"""

from __future__ import annotations

from collections.abc import Iterator

from align_reports.checks import check_below, check_data, check_drive, check_ledger
from align_reports.results import Results, Run

from .schedule import MODES_ON
from .workloads import BY_NAME


def check_traffic(run: Run, writes_expected: int) -> Iterator[str]:
    """Check that the run made the writes and touches worked out by hand."""
    if run.requests != writes_expected:
        yield (f"{run.title}: replay issued {run.requests} writes, "
               f"the workload has {writes_expected}")
    if run.replay["touches_expected"] != run.touches_expected:
        yield (f"{run.title}: replay expects {run.replay['touches_expected']} partial touches, "
               f"the workload's arithmetic gives {run.touches_expected}")
    if run.drive and run.mode in ("raw", "report") and run.drive["writes"] != run.requests:
        yield (f"{run.title}: the drive received {run.drive['writes']} writes for "
               f"{run.requests} issued: something between them merges or splits")


def check_complete(results: Results, profiles: tuple[str, ...], workloads: tuple[str, ...],
                   repetitions: int) -> Iterator[str]:
    """Check that every run was made: a missing run must not look like one that passed."""
    for profile in profiles:
        for workload in workloads:
            for mode in MODES_ON[profile]:
                made = len(results.repetitions(profile, workload, mode))
                if not made:
                    yield f"{profile} {workload} {mode}: did not run"
                elif made < repetitions:
                    yield f"{profile} {workload} {mode}: ran {made} times of {repetitions}"


def check(results: Results, profiles: tuple[str, ...], workloads: tuple[str, ...],
          repetitions: int) -> list[str]:
    """Return every finding as a sentence that starts with the run; empty if the demo passes."""
    findings = list(check_complete(results, profiles, workloads, repetitions))
    for run in results.runs:
        findings += check_data(run)
        findings += check_traffic(run, BY_NAME[run.workload].requests(run.count))
        findings += check_drive(run)
        findings += check_below(run)
        findings += check_ledger(run)
    return findings
