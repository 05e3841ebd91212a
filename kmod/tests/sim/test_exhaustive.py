# SPDX-License-Identifier: GPL-2.0
"""All orders of few operations: no order breaks a promise, the reduction leaves out no outcome, and faults are found."""

import re

import pytest

from lab.plugins import extent
from sim.faults import FAULTS
from sim.programs import CLEAN, USAGE, VIOLATION, runs_with_changes, sim

PROGRAM = "sim-accesses"
# Sets that are small enough to be searched without any reduction: mode, operations, circumstance.
COMPARED = [("pad", "partial", "error"), ("coalesce", "partial", "nothing"), ("coalesce", "partial partial", "nothing"),
            ("coalesce", "partial partial", "no-memory"), ("coalesce", "whole flush", "nothing"),
            ("coalesce", "partial partial cut", "nothing"), ("report", "mode partial", "nothing"),
            ("pad", "read whole", "nothing"), ("coalesce", "partial suspend", "nothing"),
            *(extent.only_all("these have thousands of orders", *row) for row in (
                ("pad", "partial partial", "error"), ("pad", "partial whole cut", "nothing"),
                ("pad", "partial discard", "nothing"), ("coalesce", "zeroes read", "nothing"),
                ("pad", "partial read", "nothing")))]
REDUCTIONS = {"states": (), "copies of no world": ("--replay",), "sleep sets": ("--sleep",), "none": ("--full",)}
# Each fault, and a set that finds it, with a circumstance.
FOUND = [("touch-joins-write", "pad", "partial fua", "nothing"), ("range-overtakes-read", "pad", "partial whole", "nothing"),
         ("read-not-pinned", "coalesce", "partial read", "nothing"), ("fua-held", "coalesce", "fua cut", "nothing"),
         ("failed-write-forgotten", "coalesce", "partial partial", "error"),
         ("failed-range-ends-held", "coalesce", "whole partial", "error")]
# Sets that have other outcomes then.
WITH = [("error", "pad", "partial"), ("no-memory", "pad", "partial partial"), ("one-block", "pad", "two-block")]


def search(out, *options, expect=CLEAN):
    status, output = sim(out, "--exhaustive", *options, program=PROGRAM)
    assert status == expect, output[-4000:]
    return output


def covered(output):
    """Return the figures of the line of the coverage, by their names."""
    line = re.search(r"^exhaustive: (.*)$", output, re.M)[1]
    names = "sets not to the end|sets|orders|states|choices|outcomes|cut off"
    return {name: int(number) for number, name in re.findall(rf"(\d+) ({names})", line)}


def outcomes(output):
    return re.findall(r": \d+ orders, (\d+ outcomes, [0-9a-f]{16})$", output, re.M)


def test_no_order_of_two_operations_breaks_a_promise(searching):
    figures = covered(search(searching, "--few", "--exhaustive=2"))
    assert figures["sets"] == 28 and figures["sets not to the end"] == figures["cut off"] == 0
    assert figures["orders"] > 1000 and figures["outcomes"] > 28


@pytest.mark.parametrize("circumstance", ["error", "no-memory"])
def test_nor_does_one_in_which_any_one_request_or_allocation_fails(searching, circumstance):
    figures = covered(search(searching, "--few", "--exhaustive=2", "--with", circumstance))
    assert figures["sets"] == 28 and figures["sets not to the end"] == figures["cut off"] == 0


@pytest.mark.parametrize("circumstance,mode,operations", WITH)
def test_what_is_out_of_the_ordinary_has_outcomes_of_its_own(searching, circumstance, mode, operations):
    usual, other = (outcomes(search(searching, "--mode", mode, "--set", operations, "--with", name))
                    for name in ("nothing", circumstance))
    assert usual != other and len(usual) == len(other) == 1


@pytest.mark.parametrize("mode,operations,circumstance", COMPARED)
def test_the_reduction_leaves_out_no_outcome(searching, mode, operations, circumstance):
    """And by states each order is counted, though few of them are lived."""
    found = {name: search(searching, "--mode", mode, "--set", operations, "--with", circumstance, *options)
             for name, options in REDUCTIONS.items()}
    figures = {name: covered(output) for name, output in found.items()}
    assert not any(each["sets not to the end"] or each["cut off"] for each in figures.values())
    assert len({tuple(outcomes(output)) for output in found.values()}) == 1
    assert figures["states"]["orders"] == figures["copies of no world"]["orders"] == figures["none"]["orders"]
    assert figures["sleep sets"]["orders"] <= figures["none"]["orders"]


@pytest.mark.parametrize("mode,operations,options", [("coalesce", "partial partial", ["--sleep"]), ("pad", "whole read", [])])
def test_a_reduction_that_leaves_out_too_much_is_noticed(searching, mode, operations, options):
    """Taken for reads, writes of two steps never depend on each other; without the content read, states are too few."""
    reduced, loose = (outcomes(search(searching, "--mode", mode, "--set", operations, *options, *more))
                      for more in [(), ("--loose",)])
    assert reduced != loose


def test_no_order_of_a_known_race_breaks_a_promise(searching):
    """Of the larger ones a slice in make check; in make check-all each is searched to its end."""
    most = [] if extent.everything() else ["--most", 1000]
    status, output = sim(searching, "--scenario", "all", *most, program=PROGRAM)
    assert status == CLEAN, output[-4000:]
    figures = covered(output)
    assert figures["sets"] == 11 and figures["cut off"] == 0
    assert not figures["sets not to the end"] or not extent.everything()


def test_a_search_can_be_broken_off(searching):
    figures = covered(search(searching, "--mode", "pad", "--set", "partial partial", "--most", 20))
    assert figures["sets not to the end"] == 1


def test_all_sets_are_listed_as_they_can_be_asked_for(searching):
    names = search(searching, "--few", "--exhaustive=2", "--list").splitlines()
    assert len(names) == len(set(names)) == 28 and "partial cut in mode coalesce" in names


def test_parts_have_all_sets_once(searching):
    whole = covered(search(searching, "--few", "--exhaustive=1"))
    parts = [covered(search(searching, "--few", "--exhaustive=1", "--part", f"{part}/3")) for part in range(3)]
    assert {name: sum(part[name] for part in parts) for name in whole} == whole


@pytest.mark.parametrize("fault,mode,operations,circumstance", [
    FOUND[0], FOUND[4], *(extent.only_all("other faults are found alike", *row) for row in FOUND[1:4] + FOUND[5:])])
def test_a_fault_is_found_and_told(searching, linux, tmp_path, fault, mode, operations, circumstance):
    run = (PROGRAM, "--exhaustive", "--mode", mode, "--set", operations, "--with", circumstance)
    (status, output), = runs_with_changes(searching, linux, tmp_path, FAULTS[fault], [run],
                                          lambda results: results[0][0] == VIOLATION, "ACCESSES=1")
    assert status == VIOLATION, output[-4000:]
    assert re.search(rf"^{operations} in mode {mode}, order \d+: ", output, re.M)
    assert re.search(r"^ +us  thread 0 ", output, re.M) and len(output.splitlines()) > 5
    assert search(searching, "--mode", mode, "--set", operations, "--with", circumstance)


@pytest.mark.parametrize("options", [["--set", "nothing"], ["--part", "3/3"], ["--part", "x"], ["--exhaustive=0"],
                                     ["--exhaustive=9"], ["--scenario", "none"], ["--with", "x"]])
def test_bad_arguments_end_with_status_2(searching, options):
    search(searching, *options, expect=USAGE)
