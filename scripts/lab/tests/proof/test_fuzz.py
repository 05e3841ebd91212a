# SPDX-License-Identifier: GPL-2.0
"""A slice of `make fuzz`: each target begins with its corpus and makes a fixed number of runs from a fixed seed.

DM_ALIGN_FUZZ_RUNS: runs of each target (see lab/plugins/extent.py); DM_ALIGN_FUZZ_SEED: the seed (1).
"""

import functools
import os
import re
import subprocess

import pytest

from lab.pace import patience
from lab.paths import OUT, REPO, locked
from lab.plugins import extent
from lab.proof import fuzz

RUNS = extent.count("DM_ALIGN_FUZZ_RUNS")
SEED = int(os.environ.get("DM_ALIGN_FUZZ_SEED", "1"))

PROGRAMS = sorted(path.parents[1].name for path in (REPO / "userspace").glob("*/fuzz/fuzz_*.c"))
TARGETS = [(program, target) for program in dict.fromkeys(PROGRAMS) for target in fuzz.targets(program)]


@functools.cache
def build(program):
    """Build the targets of a program, once in a session: a make that has nothing to do takes as long as a target's runs."""
    with locked(f"fuzz-{program}", OUT):
        done = subprocess.run(["make", "-C", REPO / "userspace" / program, f"OUT={OUT}", "fuzz-targets"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.parametrize("program, target", TARGETS)
@pytest.mark.timeout(900)
def test_no_input_breaks_a_promise(program, target, tmp_path):
    build(program)
    outcome = fuzz.run(program, target, runs=RUNS, seed=SEED, found=tmp_path)
    print(f"seed {SEED}", *fuzz.table([outcome]), sep="\n")
    assert outcome.ok, f"seed {SEED}, {outcome.runs} runs, {outcome.broken}:\n{outcome.log[-4000:]}"


def test_runs_are_counted_whatever_is_printed_behind_the_count(tmp_path, monkeypatch):
    """libFuzzer may end with a long list of useful words."""
    target = tmp_path / "fuzz" / "program" / "target"
    target.parent.mkdir(parents=True)
    target.write_text("#!/bin/sh\necho '#70\tDONE   cov: 12 ft: 20 corp: 5/9Kb lim: 4 exec/s: 7 rss: 40Mb' >&2\n"
                      "seq 200 >&2\n")
    target.chmod(0o755)
    monkeypatch.setattr(fuzz, "OUT", tmp_path)
    outcome = fuzz.run("program", "target", runs=70, seed=1, found=tmp_path / "found")
    assert outcome.ok and (outcome.runs, outcome.edges, outcome.corpus) == (70, 12, 5)


@pytest.mark.timeout(300)
def test_make_fuzz_builds_only_the_targets_that_it_runs_in_any_folder(tmp_path):
    """The environment has no OUT, as in a shell."""
    environment = {name: value for name, value in os.environ.items() if name != "OUT"}
    done = subprocess.run(["make", "-C", REPO / "userspace" / "drive512e", f"OUT={tmp_path}", "fuzz", "TARGETS=command",
                           "RUNS=50"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=patience(60))
    assert done.returncode == 0 and re.search(r"^command +\d+ .* ok$", done.stdout, re.M), done.stdout[-4000:]
    assert {path.name for path in (tmp_path / "fuzz" / "drive512e").iterdir()} == {"command", "found"}


@pytest.mark.timeout(60)
def test_make_fuzz_refuses_a_target_that_does_not_exist(tmp_path):
    done = subprocess.run(["make", "-C", REPO / "userspace" / "drive512e", f"OUT={tmp_path}", "fuzz", "TARGETS=command2"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=patience(30))
    assert done.returncode == 2 and "no fuzz target command2 of drive512e; there are command, " in done.stdout, done.stdout


@pytest.mark.parametrize("program, target", TARGETS)
def test_a_corpus_is_small(program, target):
    """The corpus is part of the tree: a handful of small files."""
    files = list((fuzz.source(program) / "corpus" / target).iterdir())
    assert 1 <= len(files) <= 20, f"{len(files)} files"
    assert max(path.stat().st_size for path in files) <= fuzz.MAX_BYTES
