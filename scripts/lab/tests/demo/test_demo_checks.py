# SPDX-License-Identifier: GPL-2.0
"""A spoiled figure is found and fails the demo; the same result unspoiled passes."""

import copy

import pytest

from align_reports.results import PROFILES, Results
from lab.demo import checks
from lab.demo.workloads import WORKLOADS

# As in conftest.py.
REPETITIONS = 3
NAMES = tuple(workload.name for workload in WORKLOADS)


def findings(results):
    return checks.check(results, PROFILES, NAMES, REPETITIONS)


def test_a_consistent_result_has_no_finding(made_up):
    assert findings(made_up) == []


SPOILS = {
    "the drive received one touch more than the ledger says":
        ("report", lambda run: run.drive.update(touches=run.drive["touches"] + 1),
         "rmw_drive is"),
    "the drive received a touch through pad":
        ("pad", lambda run: run.drive.update(touches=1), "expected 0"),
    "the raw drive received fewer touches than the workload has":
        ("raw", lambda run: run.drive.update(touches=run.drive["touches"] - 1),
         "partial touches, expected"),
    "the ledger does not balance":
        ("pad", lambda run: run.ledger.update(rmw_avoided=run.ledger["rmw_avoided"] + 1),
         "does not balance"),
    "the ledger missed touches and still balances":
        ("report", lambda run: run.ledger.update(rmw_expected=1, rmw_drive=1),
         "rmw_expected is 1"),
    "touches are still pending":
        ("pad", lambda run: run.ledger.update(rmw_pending=1, rmw_avoided=-1),
         "rmw_pending is 1"),
    "a touch was lost":
        ("pad", lambda run: run.ledger.update(rmw_lost=1), "rmw_lost 1"),
    "the ledger missed a write":
        ("report", lambda run: run.ledger.update(writes=run.ledger["writes"] - 1),
         "the ledger saw"),
    "a write was too large for the comparison":
        ("report", lambda run: run.ledger.update(writes_over_limits=1), "larger than"),
    "one byte differs":
        ("pad", lambda run: run.replay["data_check"].update(
            status="mismatch", mismatches=1, first_mismatch_sector=77), "first at sector 77"),
    "the data check did not run":
        ("raw", lambda run: run.replay["data_check"].update(status="skipped"), "says skipped"),
    "the data check calls a mismatch ok":
        ("raw", lambda run: run.replay["data_check"].update(mismatches=2), "2 mismatches"),
    "the data check looked at nothing":
        ("raw", lambda run: run.replay["data_check"].update(sectors=0), "in 0 sectors"),
    "writes were merged below":
        ("raw", lambda run: run.drive.update(writes=run.drive["writes"] - 1),
         "merges or splits"),
    "replay ran a shorter workload":
        ("raw", lambda run: run.replay.update(requests=3), "replay issued 3 writes"),
    "replay expects other touches than the arithmetic":
        ("report", lambda run: run.replay.update(touches_expected=5), "replay expects 5"),
}


@pytest.mark.parametrize("what", SPOILS)
def test_a_finding_is_made_when(what, made_up):
    mode, spoil, words = SPOILS[what]
    spoiled = copy.deepcopy(made_up)
    run = spoiled.find("st1000dm003", "w512", mode)
    spoil(run)
    found = findings(spoiled)
    assert any(words in finding and run.title in finding for finding in found), found


def test_a_missing_run_is_a_finding(made_up):
    short = Results(made_up.machine, made_up.runs[:-1])
    assert findings(short) == ["hdd-nocache w4k_132k pad: ran 2 times of 3"]
    short.runs = [run for run in made_up.runs if run.title != "hdd-nocache w4k_132k pad"]
    assert findings(short) == ["hdd-nocache w4k_132k pad: did not run"]


@pytest.mark.parametrize("member, words", [("ledger", "no ledger was read"), ("drive", "the drive's counts were not read")])
def test_a_missing_account_is_a_finding(member, words, made_up):
    run = made_up.find("hdd-nocache", "w136k", "pad")
    index = made_up.runs.index(run)
    made_up.runs[index] = type(run)(**{**vars(run), member: None})
    assert findings(made_up) == [f"{run.title}: {words}"]
