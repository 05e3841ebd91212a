# SPDX-License-Identifier: GPL-2.0
"""The engine of kmod/ in simulated worlds: no seed breaks a promise, the same seed tells the same story, and deliberate
faults are found.

    DM_ALIGN_SIM_SEED=N     lives from this seed on, in place of those that each run of the tests lives
"""

import os
import re
import shutil

import pytest

from lab import kept
from lab.linux import layers
from lab.plugins import extent
from sim import programs
from sim.faults import BY_PRIORITY, FAULTS, FOCUS, SCENES
from sim.programs import (
    CLEAN,
    HERE,
    USAGE,
    VIOLATION,
    build,
    build_with_changes,
    change,
    copy_of_the_code,
    make,
    runs_with_changes,
    sim,
)

FIRST = int(os.environ.get("DM_ALIGN_SIM_SEED", "1000000"))
PARTS = 2
LIVES = extent.count("DM_ALIGN_SIM_LIVES") // PARTS


@pytest.mark.parametrize("part", range(PARTS))
def test_no_life_breaks_a_promise(built, part):
    status, output = sim(built, "--seed", FIRST + part * LIVES, "--lives", LIVES)
    assert status == CLEAN, output[-4000:]
    words = re.search(r"^sim: (\d+) operations, (\d+) cuts, 0 violations", output, re.M)
    assert int(words[1]) > 100 * LIVES and int(words[2]) > LIVES


def test_the_same_seed_tells_the_same_story(built):
    lives = ["--seed", FIRST, "--lives", 40, "--hash"]
    first, again = (sim(built, *lives)[1].splitlines()[:-1] for _ in range(2))
    assert first == again and len(set(first)) == 40
    stories = [sim(built, "--seed", FIRST, "--story")[1].splitlines()[:-1] for _ in range(2)]
    assert stories[0] == stories[1] and len(stories[0]) > 100


def test_no_life_with_priorities_breaks_a_promise(built):
    status, output = sim(built, "--seed", FIRST, "--lives", LIVES, "--strategy", "pct")
    assert status == CLEAN, output[-4000:]


def test_a_mixed_life_has_the_strategy_of_its_seed(built):
    chance, priorities, mixed = (sim(built, "--seed", FIRST, "--lives", 40, "--hash", "--strategy", strategy)[1].splitlines()[:-1]
                                 for strategy in ("random", "pct", "mixed"))
    # A flood always goes by chance.
    assert len(set(chance) & set(priorities)) < 10
    assert all(life in seed for life, seed in zip(mixed, zip(chance, priorities, strict=True), strict=True))
    assert set(mixed) & set(chance) and set(mixed) & set(priorities)


@pytest.mark.check_all("lives without ASan and UBSan")
def test_a_life_goes_its_way_without_a_bad_access(tmp_path, linux):
    status, output = sim(build(tmp_path, linux, "SANITIZE=1"), "--seed", FIRST, "--lives", 200, program="sim-sanitize")
    assert status == CLEAN, output[-8000:]


@pytest.mark.parametrize("name", sorted([*FAULTS, *SCENES]))
def test_a_fault_can_be_made_in_the_engine_as_it_is(tmp_path, name):
    kmod = copy_of_the_code(tmp_path / "kmod")
    for file, old, new in FAULTS.get(name) or [SCENES[name]]:
        change(kmod / file, old, new)


@pytest.mark.parametrize("fault", [
    extent.only_all("of three faults one is searched for, and all can be made", fault) if at % 3 else fault
    for at, fault in enumerate(sorted(FAULTS))])
def test_a_fault_of_the_engine_is_found(built, linux, tmp_path, fault):
    run = ("sim", "--seed", 1, "--lives", 2000, "--focus", FOCUS.get(fault, "none"),
           "--strategy", "pct" if fault in BY_PRIORITY else "random")
    (status, output), = runs_with_changes(built, linux, tmp_path, FAULTS[fault], [run],
                                          lambda results: results[0][0] not in (CLEAN, USAGE))
    assert status not in (CLEAN, USAGE), output[-500:]


@pytest.mark.parametrize("focus", [*sorted(set(FOCUS.values())), "changes", "scenes"])
def test_no_life_about_one_thing_breaks_a_promise(built, focus):
    # A life of scenes plays all of them, which takes as long as fifteen other lives, and leaves little to chance.
    share = 40 if focus == "scenes" else 8
    status, output = sim(built, "--seed", FIRST, "--lives", LIVES // share, "--focus", focus)
    assert status == CLEAN, output[-4000:]


@pytest.mark.check_all("scene crowded has one such touch; here each that finds a range is one")
@pytest.mark.parametrize("strategy", ["random", "pct", "mixed"])
def test_touches_of_blocks_with_very_many_ranges_break_no_promise(built, linux, tmp_path, strategy):
    out = build_with_changes(built, linux, tmp_path,
                             [("block_state.h", "#define ORDER_RANGES\t(BLOCKS_BATCH / 4)", "#define ORDER_RANGES\t1")])
    status, output = sim(out, "--seed", FIRST, "--lives", 2000, "--focus", "logical", "--strategy", strategy)
    assert status == CLEAN, output[-4000:]


def masks(built, lives):
    """Return how many of the 256 parts of a block have come out of cuts of so many lives."""
    status, output = sim(built, "--seed", FIRST, "--lives", lives, "--tears")
    assert status == CLEAN, output[-4000:]
    return int(re.search(r"^tears: (\d+) of 256 masks$", output, re.M)[1])


def test_tears_walk_through_a_block(built):
    assert 0 < masks(built, LIVES // 20) < masks(built, LIVES // 5)


@pytest.mark.check_all("masks walk through a block")
def test_a_block_is_torn_in_each_way(built):
    assert masks(built, 6000) == 256


RARE = {
    # All held blocks must have been written between two steps of a removal.
    "removal": ["--lives", 600, "--strategy", "pct"],
    # A thread must change its CPU between two instructions while another one is between two of a sum.
    "counted writes": ["--lives", 600],
}


@pytest.mark.parametrize("scene", [scene if scene in ("times", "late reboot") else extent.only_all("two scenes fail", scene)
                                   for scene in SCENES])
def test_a_scene_fails_where_its_thing_is_broken(built, linux, tmp_path, scene):
    run = ("sim", "--seed", 1, "--focus", "scenes", *RARE.get(scene, ["--lives", 40]))
    (status, _), = runs_with_changes(built, linux, tmp_path, [SCENES[scene]], [run],
                                     lambda results: results[0][0] == VIOLATION)
    assert status == VIOLATION


def test_a_fault_that_was_found_is_not_searched_again_and_one_that_was_not_is(monkeypatch, tmp_path):
    made, statuses = [], [CLEAN, VIOLATION, VIOLATION, VIOLATION]
    monkeypatch.setattr(kept, "CACHE", tmp_path)
    monkeypatch.setattr(programs, "build_with_changes", lambda *_: made.append("built"))
    monkeypatch.setattr(programs, "sim", lambda *_, **__: (statuses.pop(0), "told"))

    def found(changes, everything=False):
        monkeypatch.setattr(extent, "everything", lambda: everything)
        return runs_with_changes(None, "linux", tmp_path, changes, [("sim", "--seed", 1)],
                                 lambda results: results[0][0] == VIOLATION)[0][0]
    assert (found("one"), len(made)) == (CLEAN, 1)
    assert (found("one"), len(made)) == (VIOLATION, 2)
    assert (found("one"), len(made)) == (VIOLATION, 2)
    assert (found("another"), len(made)) == (VIOLATION, 3)
    assert (found("one", everything=True), len(made)) == (VIOLATION, 4)


def test_each_scene_has_its_fault():
    assert re.findall(r'{ "([a-z ]+)",\s*\w+ }', (HERE / "scenes.c").read_text()) == [*SCENES]


def test_a_call_that_the_shim_lacks_ends_the_build_and_says_where_it_belongs(built, linux, tmp_path):
    kmod = copy_of_the_code(tmp_path / "kmod")
    change(kmod / "gate.c", "\tpercpu_ref_kill(&gate->users);\n", "\tpercpu_ref_kill(&gate->users);\n\tkernel_knows_more();\n")
    out = tmp_path / "out"
    shutil.copytree(built, out, symlinks=True)
    done = make(out, linux, f"KMOD={kmod}")
    assert done.returncode != 0
    assert "kernel_knows_more" in done.stderr and "declare it in kmod/tests/sim/include" in done.stderr


def test_all_of_the_target_is_simulated_but_what_is_named(linux):
    built = re.search(r"^ENGINE = (.*)$", (HERE / "Makefile").read_text(), re.M)[1].split()
    assert set(layers.objects()) - set(built) == {"trace"}


def test_what_is_said_of_faults_is_of_faults_that_there_are():
    assert FAULTS.keys() >= BY_PRIORITY | FOCUS.keys()


@pytest.mark.parametrize("options", [["--seed", "x"], ["--nonsense"], ["--lives", ""], ["--focus", "x"], ["--strategy", "x"]])
def test_bad_arguments_end_with_status_2(built, options):
    assert sim(built, *options)[0] == USAGE


@pytest.mark.parametrize("option, header, kind", [("focus", "plan.h", "FOCUS"), ("strategy", "life.h", "LIFE")])
def test_the_usage_names_each_value_of_an_option(built, option, header, kind):
    """The headers have the values."""
    values = re.findall(rf"^\t{kind}_(\w+),$", (HERE / header).read_text(), re.M)[:-1]
    status, output = sim(built, "--help")
    named = re.search(rf"\[--{option} ([a-z|]+)\]", output)
    assert status == USAGE and named and named[1].split("|") == [value.lower() for value in values], output
