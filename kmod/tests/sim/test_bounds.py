# SPDX-License-Identifier: GPL-2.0
"""What the engine visits under one lock with interrupts off: more than 64 blocks or requests only where that is known."""

import re

import pytest

from lab.plugins import extent
from sim.bounds import KNOWN, RARE
from sim.programs import CLEAN, build_once, build_with_changes, sim

FOCUS = ["--focus", "bounds"]
# Lives of make check, and of make check-all.
FEW, MANY = 500, 5000


@pytest.fixture(scope="module")
def counted(tmp_path_factory, linux):
    return build_once(tmp_path_factory.mktemp("bounds"), linux, "BOUNDS=1")


def visits(out, lives):
    """Return the largest count of each place, by its lock, who visits, and what."""
    status, output = sim(out, "--seed", 1, "--lives", lives, *FOCUS, program="sim-bounds")
    assert status == CLEAN, output[-4000:]
    found = re.findall(r"^bounds: in (\w+), (\w+) visits (\d+) (\w+)$", output, re.M)
    return {(place, walker, what): int(most) for place, walker, most, what in found}


def listed():
    return {(place, walker, what) for (place, what), walkers in KNOWN.items() for walker in walkers}


@pytest.mark.parametrize("lives", [FEW, extent.only_all("few lives show no other place", MANY)])
def test_more_than_64_are_visited_only_where_that_is_known(counted, lives):
    found = visits(counted, lives)
    assert {(place, what) for place, _, what in found} <= KNOWN.keys(), found
    missed = listed() - found.keys() - (RARE if lives == FEW else set())
    assert not missed, f"mended, so they must leave the list: {missed}"


def test_a_batch_of_more_than_64_blocks_is_found(counted, linux, tmp_path):
    batch = "#define BLOCKS_BATCH\t\t{}\n"
    out = build_with_changes(counted, linux, tmp_path, [("align.h", batch.format(64), batch.format(80))], "BOUNDS=1")
    found = {(place, what) for place, _, what in visits(out, FEW // 5)}
    assert {("blocks_forget_range", "blocks"), ("shard_shrink", "blocks")} <= found - KNOWN.keys()


def test_each_place_is_listed_with_more_than_64():
    assert listed() >= RARE
    assert all(most > 64 for walkers in KNOWN.values() for most in walkers.values())


@pytest.mark.check_all("those in which places are counted are judged, too")
def test_no_life_with_hundreds_of_blocks_breaks_a_promise(built):
    status, output = sim(built, "--seed", MANY + 1, "--lives", FEW, *FOCUS)
    assert status == CLEAN, output[-4000:]
