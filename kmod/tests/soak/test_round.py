# SPDX-License-Identifier: GPL-2.0
"""The ledgers and kernel logs that a round accepts."""

import types

import pytest

from soak import round as soak_round
from soak.plan import derive

PLANS = [derive(seed) for seed in range(200)]
COUNTED = next(plan for plan in PLANS if plan.counted and not plan.table.border)
SPLIT = next(plan for plan in PLANS if plan.counted and plan.table.border)
UNCOUNTED = next(plan for plan in PLANS if not plan.counted)
LOAD = types.SimpleNamespace(touches=70, zero_touches=5, writes=40, zeroes=3)


def ledger(**changed):
    return {**dict.fromkeys(soak_round.NEVER, 0), "rmw_expected": 75, "writes": 40, "write_zeroes": 3, **changed}


def check(plan, **changed):
    soak_round._check_counts(plan, LOAD, ledger(**changed))


def test_the_same_counts_are_accepted():
    check(COUNTED)


def test_zeroes_that_arrive_as_writes_count_as_writes():
    check(COUNTED, write_zeroes=0, writes=43)
    with pytest.raises(AssertionError, match="writes is"):
        check(COUNTED, write_zeroes=0)


@pytest.mark.parametrize("name", ["rmw_expected", "writes"])
@pytest.mark.parametrize("by", [-1, 1])
def test_a_count_that_is_off_by_one_is_refused(name, by):
    with pytest.raises(AssertionError, match=f"{name} is"):
        check(COUNTED, **{name: ledger()[name] + by})


def test_a_write_over_the_border_of_two_targets_may_arrive_as_two():
    check(SPLIT, writes=44)


def test_where_the_counters_end_only_what_may_never_be_is_refused():
    check(UNCOUNTED, rmw_expected=1, writes=1)


@pytest.mark.parametrize("plan", [COUNTED, SPLIT, UNCOUNTED])
@pytest.mark.parametrize("name", soak_round.NEVER)
def test_what_may_never_be_is_refused(plan, name):
    with pytest.raises(AssertionError, match=name):
        check(plan, **{name: 1})


@pytest.mark.parametrize("line,bad", [
    ("device-mapper: align: dm-0: degraded: cannot write held blocks to 8:0; flushes fail", True),
    ("Buffer I/O error on dev dm-0, logical block 3, lost async page write", True),
    ("I/O error, dev sda, sector 12 op 0x1:(WRITE) flags 0x0 phys_seg 1 prio class 2", True),
    ("device-mapper: table: 253:0: adding target device ram0 caused an alignment inconsistency", False),
])
def test_complaints_are_found(line, bad):
    assert bool(soak_round.COMPLAINT.search(line)) == bad
