# SPDX-License-Identifier: GPL-2.0
"""Checks of a run's results: pure functions from results to findings, a sentence each.

The drive counts independently, below the target, so its counters are the witness for
the ledger.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .results import PASSING, SETTLED, Run


def _check_read_back(title: str, what: str, check: dict[str, Any]) -> Iterator[str]:
    if check["status"] != "ok":
        where = check.get("first_mismatch_sector")
        at = "" if where is None else f", the first at sector {where}"
        yield (f"{title}: {what} says {check['status']}: "
               f"{check['mismatches']} of {check['sectors']} sectors differ{at}")
    elif check["mismatches"] or not check["sectors"]:
        yield (f"{title}: {what} says ok with {check['mismatches']} mismatches "
               f"in {check['sectors']} sectors")


def check_data(run: Run) -> Iterator[str]:
    """Check that every sector of the range was read back as written."""
    yield from _check_read_back(run.title, "data check", run.replay["data_check"])


def check_below(run: Run) -> Iterator[str]:
    """Check the same of the drive beneath, if its content was read."""
    if run.below:
        yield from _check_read_back(run.title, "data check of the drive beneath", run.below)


# The assumption behind the expected figures of a buffered run, and the remedy where it does not hold.
CACHE_ASSUMED = ("; this assumes that the page cache writes no block before it is told to, but after 30 seconds or "
                 "when memory is short it writes them: try a smaller --count")


def check_unchanged(run: Run) -> Iterator[str]:
    """Check that a drive that counts received every touch, in modes that leave writes unmodified."""
    if run.drive and run.mode in PASSING:
        yield from check_drive(run)


def check_drive(run: Run) -> Iterator[str]:
    """Check that the drive received the touches that the mode must let through: all, or none."""
    if run.drive is None:
        yield f"{run.title}: the drive's counts were not read"
        return
    expected = run.touches_expected if run.mode in PASSING else 0
    if run.drive["touches"] != expected:
        yield (f"{run.title}: the drive received {run.drive['touches']} partial touches, "
               f"expected {expected}{CACHE_ASSUMED if run.buffered else ''}")


def check_balance(title: str, ledger: dict[str, int]) -> Iterator[str]:
    """Check that the ledger balances, with no touch pending or lost. title: of the run."""
    settled = sum(ledger[name] for name in SETTLED)
    if ledger["rmw_expected"] != settled:
        parts = " + ".join(f"{name} {ledger[name]}" for name in SETTLED)
        yield (f"{title}: the ledger does not balance: rmw_expected "
               f"{ledger['rmw_expected']} is not {parts} = {settled}")
    if ledger["rmw_pending"] or ledger["rmw_lost"]:
        yield (f"{title}: with no write in flight rmw_pending is {ledger['rmw_pending']} "
               f"and rmw_lost {ledger['rmw_lost']}, both should be 0")


def check_ledger(run: Run) -> Iterator[str]:
    """Check that the ledger balances, counts every write, and agrees with the drive."""
    ledger = run.ledger
    if ledger is None:
        if run.mode != "raw":
            yield f"{run.title}: no ledger was read"
        return
    yield from check_balance(run.title, ledger)
    if ledger["rmw_expected"] != run.touches_expected:
        yield (f"{run.title}: rmw_expected is {ledger['rmw_expected']}, "
               f"the workload has {run.touches_expected} partial touches"
               f"{CACHE_ASSUMED if run.buffered else ''}")
    if run.drive and ledger["rmw_drive"] != run.drive["touches"]:
        yield (f"{run.title}: rmw_drive is {ledger['rmw_drive']}, "
               f"the drive received {run.drive['touches']} partial touches")
    if ledger["writes"] != run.written:
        issued = f"replay issued {run.requests}"
        if run.buffered:
            issued += f", of which the page cache was to make {run.written}{CACHE_ASSUMED}"
        yield f"{run.title}: the ledger saw {ledger['writes']} writes, {issued}"
    if run.drive and ledger["writes_over_limits"]:
        yield (f"{run.title}: {ledger['writes_over_limits']} writes were larger than the "
               f"drive's queue takes, so the drive's count cannot be compared")
