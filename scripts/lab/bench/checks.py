# SPDX-License-Identifier: GPL-2.0
"""Checks of every run, apart from its figures: data, balance, witness."""

from __future__ import annotations

from collections.abc import Iterator

from align_reports.checks import check_balance, check_data

from .record import Record, Run


def check_touches(run: Run) -> Iterator[str]:
    """Check the drive's touches: of the fixing arms, as many as the ledger says; of report, all."""
    if run.arm == "raw" and run.drive["touches"] != run.replay["touches_expected"]:
        yield (f"{run.title}: the drive received {run.drive['touches']} partial touches, the "
               f"workload has {run.replay['touches_expected']}")
    ledger = run.ledger
    if ledger is None:
        return
    if ledger["rmw_expected"] != run.replay["touches_expected"]:
        yield (f"{run.title}: rmw_expected is {ledger['rmw_expected']}, the workload has "
               f"{run.replay['touches_expected']} partial touches")
    if ledger["rmw_drive"] < run.drive["touches"]:
        yield (f"{run.title}: the drive received {run.drive['touches']} partial touches, "
               f"rmw_drive says {ledger['rmw_drive']}")


def check(record: Record) -> list[str]:
    """Return every finding as a sentence that starts with the run."""
    findings: list[str] = []
    for run in record.runs:
        # The benchmark's Run is another class, with the members that this check reads.
        findings += check_data(run)  # type: ignore[arg-type]
        findings += check_touches(run)
        if run.ledger is not None:
            findings += check_balance(run.title, run.ledger)
    return findings
