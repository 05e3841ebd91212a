# SPDX-License-Identifier: GPL-2.0
"""A seed gives always the same plan, a lawful one, and many seeds give every value of the space."""

import dataclasses
import itertools
import subprocess
import sys
from collections import defaultdict

import pytest

from soak import plan
from soak.plan import SECTOR, derive, traits

SEEDS = range(4000)


@pytest.fixture(scope="module")
def plans():
    return [derive(seed) for seed in SEEDS]


def test_the_same_seed_gives_the_same_plan_in_another_process():
    """A plan must not depend on the order of a set, which differs between processes."""
    show = (f"import sys; sys.path[:0] = {sys.path!r}; from soak.plan import derive; "
            "print([derive(seed) for seed in range(40)])")
    told = {subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, check=True).stdout
            for _ in range(2)}
    assert told == {f"{[derive(seed) for seed in range(40)]}\n"}


def test_different_seeds_give_different_plans(plans):
    assert len({str(dataclasses.replace(each, seed=0)) for each in plans}) > 0.99 * len(plans)


def test_every_value_is_reached(plans):
    seen = defaultdict(set)
    for each in plans:
        for dimension, values in traits(each).items():
            seen[dimension].update(values)
    space = {
        "disk": {"brd", *(f"null_blk {timing}" for timing in plan.COMPLETIONS),
                 *(f"scsi_debug {delay}" for delay in plan.NDELAYS)},
        "L": set(plan.LOGICAL), "P": set(plan.PHYSICAL), "mode": set(plan.MODES), "hold_ms": set(plan.HOLD_MS),
        "max_blocks": {*plan.MAX_BLOCKS, "default"}, "place": set(plan.PLACES), "threads": set(plan.THREADS),
        "changes": {*plan.CHANGES, "none"}, "suspend": set(plan.SUSPENDS),
        "memory_fails": {0, *plan.MEMORY_FAILS}, "max_sectors_kb": {*plan.MAX_SECTORS_KB, "the disk's"},
        "dm-delay": {"none", *(f"read {read} write {write}" for read, write, _ in plan.DELAYS_MS)},
        "write_cache": {"the drive's", "advertised", "none"}, "geometry": {"the disk's", "given"}, "targets": {1, 2},
    }
    for dimension, values in space.items():
        assert seen[dimension] == values, dimension
    for dimension, values in seen.items():
        assert len(values) > 1, f"{dimension} is always {values}"


def test_every_size_meets_every_logical_block_and_every_mode(plans):
    met = {(each.disk.logical, each.table.physical, each.table.mode) for each in plans}
    assert met == {(logical, physical, mode) for logical in plan.LOGICAL for physical in plan.PHYSICAL
                   for mode in plan.MODES if physical >= logical}


def tables(each):
    """Yield every table that a plan loads."""
    return [each.table, *(step[1] for step in each.steps if isinstance(step[1], plan.Table))]


def test_every_table_is_lawful_and_holds_the_region(plans):
    for each in plans:
        unit = each.disk.logical // SECTOR
        end = each.load.offset + each.load.region
        for table in tables(each):
            assert table.offset < table.physical and table.offset % each.disk.logical == 0, each
            assert not (table.start % unit or table.length % unit or table.border % unit), each
            assert table.start + table.length <= each.disk.megabytes * 2048, each
            assert end <= table.length, each
            assert not table.border or 0 < table.border < table.length, each


def test_nothing_is_held_where_linear_takes_the_write_cache_away(plans):
    for each in plans:
        modes = {table.mode for table in tables(each)} | {step[1] for step in each.steps if step[0] == "mode"}
        if "coalesce" in modes and not each.disk.cache:
            assert "linear" not in each.changes and all(table.write_cache for table in tables(each)), each


def test_only_a_disk_that_has_requests_gets_a_limit_of_their_size(plans):
    assert not any(each.disk.max_kb for each in plans if each.disk.kind == "brd")


def test_requests_arrive_as_one_bio(plans):
    """Otherwise sectorstress would count wrong touches."""
    assert all(each.load.max_run * SECTOR + 8 * 2 * 4096 <= 256 * 4096 for each in plans)


def test_the_alignment_is_the_first_boundary_on_the_mapped_device(plans):
    for each in plans:
        table = each.table
        on_the_disk = table.start * SECTOR + table.alignment
        assert 0 <= table.alignment < table.physical and (on_the_disk - table.offset) % table.physical == 0


def test_a_place_is_where_it_says(plans):
    for each in plans:
        begin, end = each.load.offset, each.load.offset + each.load.region
        if each.place == "start":
            assert begin == 0
        elif each.place == "end":
            assert end == each.table.length
        elif each.place == "shards":
            # Block 0 contains the disk's first sector: the block begins there, or less than a block before.
            before = (each.table.physical - each.table.offset) % each.table.physical
            shards = {(at + each.table.start) * SECTOR + before >> 26 for at in (begin, end - 1)}
            assert shards == {0, 1}, each


def modes_of(each):
    """Return the modes of a plan, in order."""
    return [each.table.mode, *(step[1] for step in each.steps if step[0] == "mode")]


# Configurations that found three deliberate faults of the target: a slot that is not released while a read has it pinned, a
# range that is registered in the first of its shards only, and a mode change that forgets no block.
FRUITFUL = {
    "a read of what is held takes longer than the write of it":
        lambda each: "coalesce" in modes_of(each) and each.disk.delay and
        any(read > write for read, write, _ in
            [each.disk.delay, *(step[1] for step in each.steps if step[0] == "delay")]),
    "a write over the border of two shards takes its time":
        lambda each: each.place == "shards" and each.disk.delay and each.disk.delay[1] and
        each.table.mode != "report" and each.load.threads > 1,
    "known blocks live through mode report":
        lambda each: each.changes and each.changes <= set(plan.KEEPING) and
        any(before == "report" != after for before, after in itertools.pairwise(modes_of(each))),
}


@pytest.mark.parametrize("what", FRUITFUL)
def test_where_faults_were_found_a_soak_is_often(plans, what):
    assert sum(bool(FRUITFUL[what](each)) for each in plans) > len(plans) / 10
