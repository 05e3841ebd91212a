# SPDX-License-Identifier: GPL-2.0
"""alignctl's forecast of a trace equals the ledger of the engine, which gets the trace on virtual time; and faults of the
forecast's rules, and of the engine's, show."""

import re
import shutil

import pytest

from lab.plugins import extent
from sim.faults import FAULTS
from sim.programs import CLEAN, HERE, USAGE, VIOLATION, build_with_changes, change, make, sim

ALIGNCTL = HERE.parents[2] / "userspace" / "alignctl"
FIRST = 1
TRACES = 2 * extent.count("DM_ALIGN_SIM_LIVES")
# In so many traces a fault shows.
FEW = 4000

# Texts of fixing.c, and their replacements.
WRONG = {
    "streams-do-not-wait": ("if (head && (tail || !waits))", "if (head && (tail || !waits || true))"),
    "row-stays-held": ("if (joins_remainder)", "if (false && joins_remainder)"),
    "zeroes-take-the-row": ("joins && !zeroes", "joins || (false && zeroes)"),
    "cached-blocks-take-no-row": ("book_touches(f, block->held, !whole);",
                                 "book_touches(f, block->held, !whole);\n\twhole = all_kept(f, block);"),
    "old-neighbours-stay": ("age_ns, HOLD_NS)", "age_ns, 2 * HOLD_NS)"),
    "young-neighbours-go": ("age_ns, HOLD_NS)", "age_ns, HOLD_NS / 4)"),
    "whole-neighbours-stay": ("held_goes_along(all_kept(f, block), ", "held_goes_along(false && all_kept(f, block), "),
    "old-blocks-go-alone": ("if (find_neighbour(f, block, -1) || find_neighbour(f, block, 1))",
                            "if (false && (find_neighbour(f, block, -1) || find_neighbour(f, block, 1)))"),
    "regions-are-joined": ("return a >> shift == b >> shift;", "return a >> shift <= (b >> shift) + 1;"),
    "discards-take-none-along": ("write_back_together(f, block);\n\tdrop", "write_back(f, block);\n\tdrop"),
    "cached-for-too-long": ("(ALIGN_CACHED_MS * NS_PER_MS)", "(2 * ALIGN_CACHED_MS * NS_PER_MS)"),
    "held-for-too-long": ("(ALIGN_DEFAULT_HOLD_MS * NS_PER_MS)", "(2 * ALIGN_DEFAULT_HOLD_MS * NS_PER_MS)"),
    "first-touch-is-forgotten": ("set_bits(block->kept, block->first, block->end);", ""),
    "earlier-touches-stay": ("memset(block->kept, 0, f->kept_words * sizeof(*block->kept));", "(void)f;"),
    "fua-is-held": ("whole = fua ? ", "whole = fua && false ? "),
    "edges-are-padded": ("if (align_is_edge(", "if (false && align_is_edge("),
    "preflush-is-none": ("if (request->preflush ||", "if ((request->preflush && false) ||"),
    "overwritten-is-forgotten": ("f->resolved += block->held;", ""),
    "crowd-is-not-told": ("f->crowded = true;", ""),
    "eviction-is-not-told": ("memory->evicted = true;", ""),
}
# Of the engine: faults that change no content.
OF_THE_ENGINE = {**{name: FAULTS[name] for name in ("ledger-not-superseded", "range-keeps-cached", "fua-held")},
                 # An old fault: a block that becomes cached while others are evicted puts off the blocks that are left.
                 "cached-longer": [("block.c", "\t\tmod_delayed_work(engine", "\t\tqueue_delayed_work(engine")]}


def forecast(out, *options):
    return sim(out, *options, program="sim-forecast")


@pytest.fixture(scope="module")
def compared(built, linux):
    """Return the folder of a build of the simulation, with the program of the forecast."""
    done = make(built, linux, "forecast")
    assert done.returncode == 0, done.stderr[-8000:]
    return built


def test_the_forecast_is_what_the_engine_counts(compared):
    status, output = forecast(compared, "--seed", FIRST, "--traces", TRACES)
    assert status == CLEAN, output[-4000:]
    words = re.search(r"^sim-forecast: (\d+) traces, (\d+) requests, (\d+) figures exact, (\d+) in bounds, 0 differences; "
                      r"(\d+) runs exact untimed, (\d+) timed$", output, re.M)
    traces, requests, exact, bounds, untimed, timed = map(int, words.groups())
    assert traces == TRACES and requests > 40 * traces and exact > 10 * traces and bounds > traces
    # Each fifth trace is of one of these ways, and runs in two modes; not all of them are crowded.
    assert untimed > traces / 5 and timed > traces / 5


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_rule_of_the_forecast_shows(compared, linux, tmp_path, fault):
    out, alignctl = tmp_path / "out", tmp_path / "alignctl"
    shutil.copytree(compared, out, symlinks=True)
    for room in ("forecast", "base", "trace"):
        shutil.copytree(ALIGNCTL / room, alignctl / room)
    change(alignctl / "forecast" / "fixing.c", *WRONG[fault])
    done = make(out, linux, "forecast", f"ALIGNCTL={alignctl}")
    assert done.returncode == 0, done.stderr[-8000:]
    status, output = forecast(out, "--seed", FIRST, "--traces", FEW)
    assert status == VIOLATION and "and the forecast says" in output, output[-500:]


@pytest.mark.parametrize("fault", OF_THE_ENGINE)
def test_an_engine_that_counts_otherwise_shows(compared, linux, tmp_path, fault):
    out = build_with_changes(compared, linux, tmp_path, OF_THE_ENGINE[fault], "forecast")
    # A touch must come in the while for which a block is cached too long.
    status, output = forecast(out, "--seed", FIRST, "--traces", 4 * FEW if fault == "cached-longer" else FEW)
    assert status == VIOLATION, output[-500:]


def test_the_same_seed_has_the_same_trace_and_story(compared):
    shown = [forecast(compared, "--seed", FIRST, "--traces", 10, "--show") for _ in range(2)]
    assert shown[0] == shown[1] and shown[0][0] == CLEAN and shown[0][1].count("physical ") == 10


@pytest.mark.parametrize("options", [["--seed", "x"], ["--nonsense"], ["--traces", ""]])
def test_bad_arguments_end_with_status_2(compared, options):
    assert forecast(compared, *options)[0] == USAGE
