# SPDX-License-Identifier: GPL-2.0
"""The engine of kmod/ on CPUs with weak memory: no seed breaks a promise, the memory is as weak as the kernel's memory model
says and no weaker, and barriers that are taken away are missed.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lab.linux import kernels
from lab.pace import patience
from lab.plugins import extent
from sim.barriers import BARRIERS, IN_LITMUS, IN_LIVES, NOT_FOUND
from sim.test_sim import CLEAN, LIMIT, change, copy_of_the_code, make

FIRST = int(os.environ.get("DM_ALIGN_SIM_SEED", "1000000"))
LIVES = 300
PARTS = 5
# Runs of each litmus test; one that must show and has not is run 20 times as often.
RUNS = 3000
VIOLATION = 1
LINE = re.compile(r"(?P<name>.*?) +(?P<verdict>Never|Sometimes) +(?P<left_out>left out)? +(?P<seen>\d+) of (?P<runs>\d+)")


@pytest.fixture(scope="module")
def source():
    return kernels.fetch_source(kernels.USUAL)


@pytest.fixture(scope="module")
def weak(tmp_path_factory, source):
    """Return the folder of a build with weak memory."""
    out = tmp_path_factory.mktemp("weak")
    done = make(out, source, "WEAK=1")
    assert done.returncode == 0, done.stderr[-8000:]
    return out


def run(out, program, *options):
    """Return the status and the output of a program of a build."""
    done = subprocess.run([out / "bin" / program, *map(str, options)], capture_output=True, text=True, timeout=patience(LIMIT),
                          check=False)
    return done.returncode, done.stdout


def litmus(out):
    """Return, by name of the litmus test, the words of its line."""
    status, output = run(out, "sim-litmus", FIRST, RUNS)
    assert status == CLEAN, output
    return {words["name"]: words for words in map(LINE.fullmatch, output.splitlines())}


@pytest.fixture(scope="module")
def table(weak):
    return litmus(weak)


@pytest.mark.parametrize("focus", ["none", "gate", "quiet", "reads"])
def test_no_life_with_weak_memory_breaks_a_promise(weak, focus):
    lives = LIVES if focus == "none" else LIVES // 3
    status, output = run(weak, "sim-weak", "--seed", FIRST, "--lives", lives, "--focus", focus)
    assert status == CLEAN, output[-4000:]


@pytest.mark.check_all("hundreds of lives with weak memory")
@pytest.mark.parametrize("part", range(PARTS))
def test_no_life_of_thousands_breaks_a_promise(weak, part):
    status, output = run(weak, "sim-weak", "--seed", FIRST + 4000 * part, "--lives", 4000)
    assert status == CLEAN, output[-4000:]


def test_the_same_seed_tells_the_same_story_with_weak_memory(weak):
    first, again = (run(weak, "sim-weak", "--seed", FIRST, "--lives", 40, "--hash")[1].splitlines()[:-1] for _ in range(2))
    assert first == again and len(set(first)) == 40


def test_the_verdicts_of_the_litmus_tests_are_the_kernels(table, source):
    folder = Path(source) / "tools" / "memory-model" / "litmus-tests"
    verdicts = {path.stem: re.search(r"Result: (\w+)", path.read_text())[1] for path in folder.glob("*.litmus")}
    ours = {name: words["verdict"] for name, words in table.items() if name in verdicts}
    assert len(ours) > 25
    assert ours == {name: verdicts[name] for name in ours}


def test_memory_is_no_weaker_than_the_kernels_model_allows(table):
    assert not {name: words["seen"] for name, words in table.items() if words["verdict"] == "Never" and int(words["seen"])}


def test_memory_is_as_weak_as_it_says(table):
    missed = [name for name, words in table.items() if words["verdict"] == "Sometimes" and not words["left_out"] and
              not int(words["seen"])]
    assert not missed
    left_out = {name for name, words in table.items() if words["left_out"]}
    assert left_out and not any(int(table[name]["seen"]) for name in left_out)


def without(barrier, weak, source, folder):
    """Return the folder of a build without a barrier."""
    kmod = copy_of_the_code(folder / "kmod")
    for file, old, new in BARRIERS[barrier]:
        change(kmod / file, old, new)
    out = folder / "out"
    shutil.copytree(weak, out, symlinks=True)
    done = make(out, source, "WEAK=1", f"KMOD={kmod}")
    assert done.returncode == 0, done.stderr[-8000:]
    return out


@pytest.mark.parametrize("barrier", sorted(IN_LITMUS))
def test_a_missing_barrier_shows_in_a_litmus_test(weak, source, tmp_path, barrier):
    table = litmus(without(barrier, weak, source, tmp_path))
    assert {name for name, words in table.items() if words["verdict"] == "Never" and int(words["seen"])} == {IN_LITMUS[barrier]}


@pytest.mark.parametrize("barrier", sorted(IN_LIVES))
def test_a_missing_barrier_shows_in_lives(weak, source, tmp_path, barrier):
    lives, focus = IN_LIVES[barrier]
    status, output = run(without(barrier, weak, source, tmp_path), "sim-weak", "--seed", 1, "--lives", lives, "--focus", focus)
    assert status == VIOLATION, output[-500:]


@pytest.mark.parametrize("barrier", [extent.only_all("found barriers are built", name) for name in sorted(NOT_FOUND)])
def test_a_barrier_that_is_not_missed_is_one_of_the_engine(weak, source, tmp_path, barrier):
    without(barrier, weak, source, tmp_path)


def test_each_barrier_is_found_or_not():
    assert sorted([*IN_LITMUS, *IN_LIVES, *NOT_FOUND]) == sorted(BARRIERS)


def test_each_barrier_of_the_engine_is_in_the_table():
    taken = " ".join(old for changes in BARRIERS.values() for _, old, _ in changes)
    code = "".join(path.read_text() for path in copy_sources())
    calls = re.findall(r"\bsmp_\w+\(|\batomic_dec_and_test\(&(?!ending)", re.sub(r"/\*.*?\*/", "", code, flags=re.S))
    assert calls
    for call in set(calls):
        assert calls.count(call) == taken.count(call), call


def copy_sources():
    """Return the sources that are simulated."""
    return sorted(path for path in (Path(__file__).resolve().parents[2]).glob("*.[ch]") if path.name != "sysfs.c")
