# SPDX-License-Identifier: GPL-2.0
"""The programs' own unit tests, built with ASan and UBSan, and with TSan: each TAP line is a subtest here, and so is a skip.
And what ccache may make of a build."""

import os
import re
import shutil
import subprocess

import pytest

from lab.pace import patience
from lab.paths import OUT, REPO
from lab.plugins.extent import only_all

MAKEFILES = sorted((REPO / "userspace").glob("*/Makefile"))
# "check" of every program, and "check-threads" of one that has threads.
CHECKS = [(path.parent.name, target) if target == "check" else
          only_all("the same tests with ASan and UBSan; TSan makes them slow", path.parent.name, target)
          for path in MAKEFILES for target in re.findall(r"^(check(?:-\w+)?):", path.read_text(), re.M)]


def verdicts(text):
    """Return [("ok" or "not ok", promise, why it was skipped or "")] of the lines of TAP in a text."""
    return re.findall(r"^(not ok|ok) \d+ ?-? ?(.*?)(?: # SKIP (.*))?$", text, re.M)


@pytest.mark.parametrize("program, target", CHECKS)
@pytest.mark.timeout(900)
def test_make_check_passes(program, target, subtests):
    done = subprocess.run(["make", "-C", REPO / "userspace" / program, f"OUT={OUT}", target],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # "make check" of one folder runs several programs, each with its own numbering.
    told = verdicts(done.stdout)
    for verdict, name, why in told:
        with subtests.test(name):
            assert verdict == "ok", done.stdout[-4000:]
            if why:
                pytest.skip(why)
    assert done.returncode == 0 and told, done.stdout[-4000:]
    # A word that no test has must not pass for a success.
    if target == "check":
        assert subprocess.run([OUT / "bin" / f"{program}-unit", "no such test"], capture_output=True).returncode == 2


def test_what_is_skipped_has_not_passed():
    assert verdicts("ok 1 - it holds\nnot ok 2 - it fails\n# a.c:7: x: y\nok 3 - it could # SKIP no fio\n1..3\n") == [
        ("ok", "it holds", ""), ("not ok", "it fails", ""), ("ok", "it could", "no fio")]


@pytest.mark.parametrize("program", [path.parent.name for path in MAKEFILES])
def test_the_tests_of_each_file_are_run(program):
    """A table that TAP_FILES does not name is compiled, and nothing misses it."""
    folder = REPO / "userspace" / program / "tests"
    tables = [name for path in folder.rglob("test_*.c") for name in
              re.findall(r"^const struct tap_test (\w+)_tests\[\]", path.read_text(), re.M)]
    listed = re.search(r"#define TAP_FILES\(X\)(.*?[^\\])\n", (folder / "tap.h").read_text(), re.S)[1]
    assert len(tables) == len(list(folder.rglob("test_*.c"))) > 5
    assert sorted(re.findall(r"X\((\w+)\)", listed)) == sorted(tables)


@pytest.mark.parametrize("text, limits, passes", [
    ("sleep 2", {"CHECK_SECONDS": 1}, True),
    ("while :; do :; done", {"CHECK_SECONDS": 1}, False),
    ("sleep 600", {"CHECK_SECONDS": 1, "CHECK_STUCK": 1}, False),
])
def test_the_time_limit_of_unit_tests_is_of_a_processor(tmp_path, text, limits, passes):
    """A loaded machine lets tests wait, which must not end them; what hangs ends in the end, too."""
    program = tmp_path / "bin" / "alignctl-unit"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    done = subprocess.run(["make", "-C", REPO / "userspace" / "alignctl", f"OUT={tmp_path}", "UNIT_OBJECTS=", "check",
                           *(f"{name}={seconds}" for name, seconds in limits.items())], timeout=patience(60),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert (done.returncode == 0) is passes, done.stdout


def test_what_runs_in_the_kernel_is_of_its_own_source_with_ccache_too(tmp_path):
    """The object has its source's lines and checksum in it, and ccache takes a source for another that differs in comments."""
    tree = tmp_path / "tree"
    for folder in ("userspace/alignctl", "userspace/fuzz", "kmod"):
        shutil.copytree(REPO / folder, tree / folder, ignore=shutil.ignore_patterns("tests", "corpus", "*.ko"))
    for name in ("userspace/install.mk", "scripts/version"):
        (tree / name).parent.mkdir(exist_ok=True)
        shutil.copy(REPO / name, tree / name)
    source = tree / "userspace/alignctl/top/disks.bpf.c"
    text, comments = re.subn(r"^/\* ", "/* And: ", source.read_text(), flags=re.M)
    assert comments

    def built(name, **environment):
        wanted = tmp_path / name / "build/alignctl/top/disks.bpf.o"
        done = subprocess.run(["make", "-C", tree / "userspace/alignctl", f"OUT={tmp_path / name}", wanted],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=patience(60), env={
                                  **os.environ, "PATH": f"/usr/lib/ccache:{os.environ['PATH']}",
                                  "CCACHE_DIR": str(tmp_path / "ccache"), **environment})
        assert done.returncode == 0, done.stdout
        return wanted.read_bytes()

    built("older")
    source.write_text(text)
    assert built("newer") == built("alone", CCACHE_DISABLE="1")
