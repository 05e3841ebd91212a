# SPDX-License-Identifier: GPL-2.0
"""What the repository's host runs is what make has: targets, variables, folders and series that exist, and no step besides."""

import os
import re
import shlex
import shutil
import subprocess

import pytest
import yaml

from lab import machines, pick
from lab.linux import archive, kernels
from lab.paths import REPO

FILES = sorted((REPO / ".github/workflows").glob("*.yml"))
MAKEFILE = (REPO / "Makefile").read_text()
TARGETS = set(MAKEFILE.rpartition("\n.PHONY: ")[2].split())
# What a step may run besides make: what the host's checkout and make itself need.
BEFORE_MAKE = re.compile(r"apt-get -qq update && apt-get -qq install -y --no-install-recommends ([\w -]+)"
                         r'|git config --global --add safe\.directory "\$GITHUB_WORKSPACE"')


def settings(workflow):
    """[(job, values that stand for ${{ matrix.NAME }})], one for each job that runs."""
    return [(job, values) for job in workflow["jobs"].values()
            for values in job.get("strategy", {}).get("matrix", {}).get("include", [{}])]


def filled(text, values):
    return re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda found: str(values.get(found[1], "")), text)


def commands(workflow):
    return [filled(step["run"], values) for job, values in settings(workflow) for step in job["steps"] if "run" in step]


def wrong(command):
    """Return what is wrong with the command of a step, or None."""
    before = BEFORE_MAKE.fullmatch(command)
    if before:
        known = {line for path in (REPO / "scripts/packages").iterdir() for line in path.read_text().split()}
        return next((f"no package {name}" for name in (before[1] or "").split() if name not in known), None)
    program, *words = shlex.split(command)
    if program != "make":
        return "not make"
    for word in words:
        name, sign, value = word.partition("=")
        if not sign and name not in TARGETS:
            return f"no target {name}"
        if sign and f"$({name})" not in MAKEFILE:
            return f"the Makefile has no {name}"
        if name == "KERNELS" and not set(value.split()) <= set(kernels.SERIES):
            return f"no series {value}"
        if name == "PYTEST_ARGS" and not all((REPO / folder).is_dir() for folder in value.split()):
            return f"no folder {value}"
        if name == "T" and not pick.pick(value):
            return f"no test {value}"
    return None


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_step_is_a_target_of_make(path):
    workflow = yaml.safe_load(path.read_text())
    # YAML takes the word "on" for a truth value.
    assert {"push", "pull_request"} <= set(workflow[True]) and workflow["permissions"] == {"contents": "read"}
    run = commands(workflow)
    assert [command for command in run if command.startswith("make ")]
    assert not [(command, wrong(command)) for command in run if wrong(command)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_of_a_single_machine_is_assumed(path):
    workflow = yaml.safe_load(path.read_text())
    for job, values in settings(workflow):
        assert job["container"]["image"].removeprefix("debian:") in archive.GENERATIONS
        assert int(filled(str(job["timeout-minutes"]), values)) <= 360
        told = {**workflow.get("env", {}), **job.get("env", {})}
        assert all(any(name in path.read_text() for path in (REPO / "scripts/lab").rglob("*.py")) for name in told)
        assert set(filled(told.get(machines.VARIABLE, ""), values).split()) <= {"uml", "qemu"}
    assert not re.findall(r"(?:^|[\s'\"=])/(?!dev/kvm)[\w/]+", re.sub(r"#.*", "", path.read_text()))


def test_lint_the_programs_and_guests_are_run():
    run = [command for path in FILES for command in commands(yaml.safe_load(path.read_text()))]
    assert any(re.match(r"make .*\blint\b", command) for command in run)
    assert any("kmod/tests/guest" in command and re.search(r"KERNELS=\S+ ", command) for command in run)
    assert any(re.search(r"userspace\b", command) for command in run)


@pytest.mark.parametrize("command, fault", [
    ("make lnt", "no target lnt"), ("make lint && true", "no target &&"), ("./configure", "not make"),
    ("make check KERNELS=5.4", "no series 5.4"), ("make check PYTEST_ARGS=kmod/test", "no folder kmod/test"),
    ("make check SPEED=2", "the Makefile has no SPEED"), ("make test T=test_no_such_thing", "no test test_no_such_thing"),
    ("apt-get -qq update && apt-get -qq install -y --no-install-recommends makee", "no package makee"),
    ("make lint dist KERNELS=6.12", None)])
def test_a_wrong_step_is_found(command, fault):
    assert wrong(command) == fault


@pytest.mark.parametrize("text, status, last", [
    ("echo 3 passed in 1.00s", 0, "3 passed in 1.00s"),
    ("echo 1 failed, 2 passed in 1.00s; echo make: Error 1; exit 2", 2, "1 failed, 2 passed in 1.00s"),
    # The shell that runs make and would write the status.
    ("echo begun; kill -KILL $PPID", 2, "begun")])
def test_a_run_ends_with_its_own_status(tmp_path, text, status, last):
    """And not with that of an earlier run."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(REPO / ".ci/run", tmp_path / ".ci")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/ci.status").write_text("0\n")
    (tmp_path / "make").write_text(f"#!/bin/sh\n{text}\n")
    (tmp_path / "make").chmod(0o755)
    done = subprocess.run([tmp_path / ".ci/run"], env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
                          capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (status, last), done.stdout + done.stderr
