# SPDX-License-Identifier: GPL-2.0
"""The engine of kmod/ on CPUs with weak memory: no seed breaks a promise, the memory is as weak as the kernel's memory model
says and no weaker, and barriers that are taken away are missed.
"""

import os
import re
from pathlib import Path

import pytest

from lab.plugins import extent
from sim.barriers import BARRIERS, IN_LITMUS, NOT_FOUND
from sim.programs import CLEAN, USAGE, build_once, build_with_changes, runs_with_changes, sim

FIRST = int(os.environ.get("DM_ALIGN_SIM_SEED", "1000000"))
LIVES = 300
PARTS = 5
# Runs of each litmus test; one that must show and has not is run 20 times as often.
RUNS = 3000
# The rarest effect of a missing barrier is seen in one of two thousand runs.
MANY_RUNS = 60000
# With so many, a second test that shows a missing barrier would be seen.
FEW_RUNS = 300
# One worker of a test run makes the table of the litmus tests.
AT_ONE_WORKER = pytest.mark.xdist_group("litmus")
LINE = re.compile(r"(?P<name>.*?) +(?P<verdict>Never|Sometimes) +(?P<left_out>left out)? +(?P<seen>\d+) of (?P<runs>\d+)")


@pytest.fixture(scope="module")
def weak(tmp_path_factory, linux):
    """Return the folder of a build with weak memory."""
    return build_once(tmp_path_factory.mktemp("weak"), linux, "WEAK=1")


def litmus(out, runs, *name):
    """Return, by name of the litmus test, the words of its line; of all tests, or of the one that is named."""
    return lines(*sim(out, FIRST, runs, *name, program="sim-litmus"))


def lines(status, output):
    """Return the same of a run's status and output."""
    assert status == CLEAN, output
    return {words["name"]: words for words in map(LINE.fullmatch, output.splitlines())}


@pytest.fixture(scope="module")
def table(weak):
    return litmus(weak, RUNS)


@pytest.mark.parametrize("focus", ["none", "gate", "quiet", "reads"])
def test_no_life_with_weak_memory_breaks_a_promise(weak, focus):
    lives = LIVES if focus == "none" else LIVES // 3
    status, output = sim(weak, "--seed", FIRST, "--lives", lives, "--focus", focus, program="sim-weak")
    assert status == CLEAN, output[-4000:]


@pytest.mark.check_all("hundreds of lives with weak memory")
@pytest.mark.parametrize("part", range(PARTS))
def test_no_life_of_thousands_breaks_a_promise(weak, part):
    status, output = sim(weak, "--seed", FIRST + 4000 * part, "--lives", 4000, program="sim-weak")
    assert status == CLEAN, output[-4000:]


def test_the_same_seed_tells_the_same_story_with_weak_memory(weak):
    lives = ["--seed", FIRST, "--lives", 40, "--hash"]
    first, again = (sim(weak, *lives, program="sim-weak")[1].splitlines()[:-1] for _ in range(2))
    assert first == again and len(set(first)) == 40


@AT_ONE_WORKER
def test_the_verdicts_of_the_litmus_tests_are_the_kernels(table, linux):
    folder = Path(linux) / "tools" / "memory-model" / "litmus-tests"
    verdicts = {path.stem: re.search(r"Result: (\w+)", path.read_text())[1] for path in folder.glob("*.litmus")}
    ours = {name: words["verdict"] for name, words in table.items() if name in verdicts}
    assert len(ours) > 25
    assert ours == {name: verdicts[name] for name in ours}


@AT_ONE_WORKER
def test_memory_is_no_weaker_than_the_kernels_model_allows(table):
    assert not {name: words["seen"] for name, words in table.items() if words["verdict"] == "Never" and int(words["seen"])}


@AT_ONE_WORKER
def test_memory_is_as_weak_as_it_says(table):
    missed = [name for name, words in table.items() if words["verdict"] == "Sometimes" and not words["left_out"] and
              not int(words["seen"])]
    assert not missed
    left_out = {name for name, words in table.items() if words["left_out"]}
    assert left_out and not any(int(table[name]["seen"]) for name in left_out)


@pytest.mark.parametrize("barrier", sorted(IN_LITMUS))
def test_a_missing_barrier_shows_in_a_litmus_test(weak, linux, tmp_path, barrier):
    runs = [("sim-litmus", FIRST, MANY_RUNS, name) for name in IN_LITMUS[barrier]]
    *shown, table = (lines(*result) for result in runs_with_changes(
        weak, linux, tmp_path, BARRIERS[barrier], [*runs, ("sim-litmus", FIRST, FEW_RUNS)],
        lambda results: all(status == CLEAN for status, _ in results), "WEAK=1"))
    for name, found in zip(IN_LITMUS[barrier], shown, strict=True):
        assert found[name]["verdict"] == "Never" and int(found[name]["seen"])
    assert {name for name, words in table.items() if words["verdict"] == "Never" and int(words["seen"])} <= {*IN_LITMUS[barrier]}


def test_a_litmus_test_is_run_alone_and_another_name_is_told(weak):
    name = IN_LITMUS["gate-rmb"][0]
    assert [*litmus(weak, 10, name)] == [name]
    assert sim(weak, FIRST, 10, "no such test", program="sim-litmus") == (USAGE, "")


@pytest.mark.parametrize("barrier", [extent.only_all("found barriers are built", name) for name in sorted(NOT_FOUND)])
def test_a_barrier_that_is_not_missed_is_one_of_the_engine(weak, linux, tmp_path, barrier):
    build_with_changes(weak, linux, tmp_path, BARRIERS[barrier], "WEAK=1")


def test_each_barrier_is_found_or_not():
    assert sorted([*IN_LITMUS, *NOT_FOUND]) == sorted(BARRIERS)


def test_each_barrier_of_the_engine_is_in_the_table():
    taken = " ".join(old for changes in BARRIERS.values() for _, old, _ in changes)
    code = "".join(path.read_text() for path in copy_sources())
    calls = re.findall(r"\bsmp_\w+\(|\batomic_dec_and_test\(&(?!ending)", re.sub(r"/\*.*?\*/", "", code, flags=re.S))
    assert calls
    for call in set(calls):
        assert calls.count(call) == taken.count(call), call


def copy_sources():
    """Return the sources that are simulated."""
    return sorted(Path(__file__).resolve().parents[2].glob("*.[ch]"))
