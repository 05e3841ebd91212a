# SPDX-License-Identifier: GPL-2.0
"""The engine visits at most 64 blocks under one lock with interrupts off, and as many requests."""

import re

import pytest

from lab.plugins import extent
from sim.programs import CLEAN, build_once, runs_with_changes, sim

FOCUS = ["--focus", "bounds"]
# Lives of make check, and of make check-all.
FEW, MANY = 500, 5000
# By the function that takes the lock and the kind of objects visited there, a change with which they are too many.
UNBOUNDED = {
    ("blocks_evict_range", "blocks"): [("engine.h", "#define BLOCKS_BATCH\t\t64\n", "#define BLOCKS_BATCH\t\t80\n")],
    ("align_engine_map", "blocks"): [("order.c", "if (seen == RANGE_BLOCKS)", "if (seen == 8 * RANGE_BLOCKS)")],
    ("blocks_end_range", "blocks"): [("turn.c", "\t\tif (!*left)\n\t\t\treturn true;\n\t\t--*left;\n", "")],
    ("overlay_map_read", "blocks"): [("overlay.c", "\t\tlook->left--;\n", "")],
    ("start_now", "blocks"): [("start.c", "if (++seen == BLOCKS_BATCH) {", "if (++seen == 8 * BLOCKS_BATCH) {")],
    ("run_finish_read", "blocks"): [("run.c", "if (++seen == BLOCKS_BATCH) {", "if (++seen == 8 * BLOCKS_BATCH) {")],
    ("hold_take_side", "blocks"): [("gather.c", "for (left = BLOCKS_BATCH; left", "for (left = 8 * BLOCKS_BATCH; left")],
    ("range_next_job", "blocks"): [("turn.c", "\tif (bio_op(io->bio) != REQ_OP_SECURE_ERASE)\n\t\treturn cut;\n\t"
                                    "return min(cut - into + granule, end);\n", "\treturn end;\n")],
    ("block_patch_shared", "requests"): [("run.c", "nr = BLOCKS_BATCH;", "nr = 8 * BLOCKS_BATCH;")],
}


@pytest.fixture(scope="module")
def counted(tmp_path_factory, linux):
    return build_once(tmp_path_factory.mktemp("bounds"), linux, "BOUNDS=1")


def run_of(lives):
    """Return a run that counts, as runs_with_changes() takes it."""
    return "sim-bounds", "--seed", 1, "--lives", lives, *FOCUS


def visits(result):
    """Return the largest count of each place above 64, by the taker of its lock, the visitor, and the kind of objects."""
    status, output = result
    assert status == CLEAN, output[-4000:]
    found = re.findall(r"^bounds: in (\w+), (\w+) visits (\d+) (\w+)$", output, re.M)
    return {(place, walker, what): int(most) for place, walker, most, what in found}


@pytest.mark.parametrize("lives", [FEW, extent.only_all("the few lives ask the same", MANY)])
def test_no_more_than_64_are_visited_under_one_lock(counted, lives):
    program, *options = run_of(lives)
    assert not visits(sim(counted, *options, program=program))


@pytest.mark.parametrize("place", [next(iter(UNBOUNDED)), *(extent.only_all("one shows that places are found", place)
                                                            for place in list(UNBOUNDED)[1:])], ids="-".join)
def test_a_place_that_visits_more_is_found(counted, linux, tmp_path, place):
    def found(results):
        return place in {(where, what) for where, _, what in visits(results[0])}

    assert found(runs_with_changes(counted, linux, tmp_path, UNBOUNDED[place], [run_of(FEW)], found, "BOUNDS=1"))


@pytest.mark.check_all("those in which places are counted are judged, too")
def test_no_life_with_hundreds_of_blocks_breaks_a_promise(built):
    status, output = sim(built, "--seed", MANY + 1, "--lives", FEW, *FOCUS)
    assert status == CLEAN, output[-4000:]
