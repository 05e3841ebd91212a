# SPDX-License-Identifier: GPL-2.0
"""What make -n prints, it does not do."""

import os
import re
import subprocess
import sys

import pytest

from lab.pace import patience
from lab.paths import REPO

TARGETS = (REPO / "Makefile").read_text().rpartition(".PHONY:")[2].split()
# What a dry run may start: make itself, for what another Makefile would do, and what variables ask for.
HARMLESS = re.compile(r"(for program in [\w ]+; do\s+make [^`$(|;]*\$program [^`$(|;]*\|\| exit 1;\s+done"
                      r"|make [^`$(|;]*|sed -n .*|(?:PATH=\S+ )?modinfo .*|pkg-config .*|cd \S+ && find .*"
                      r"|\S+/scripts/version|\S*cc -\S*( 2>/dev/null)?)$")


@pytest.fixture(name="shell")
def _shell(tmp_path):
    """A shell that writes down what it is given, and runs it if it is harmless."""
    shell = tmp_path / "shell"
    shell.write_text(f"""#!{sys.executable}
import os, re, sys
with open({str(tmp_path / "asked")!r}, "a") as file:
    file.write(sys.argv[-1] + "\\0")
if re.match({HARMLESS.pattern!r}, sys.argv[-1].replace(chr(92) + chr(10), "")):
    os.execv("/bin/sh", ["/bin/sh", *sys.argv[1:]])
""")
    shell.chmod(0o755)
    return shell


def test_a_dry_run_of_all_targets_runs_nothing(shell):
    dry = subprocess.run(["make", "-n", f"SHELL={shell}", *TARGETS], cwd=REPO, capture_output=True, text=True,
                         timeout=patience(60))
    assert dry.returncode == 0, dry.stderr
    asked = shell.with_name("asked").read_text().replace("\\\n", "").split("\0")
    assert [words for words in asked if words and not HARMLESS.match(words)] == []
    # The shell was asked at all.
    assert any("programs" in words or "drive512e" in words for words in asked)


def test_a_make_of_a_test_has_no_flags_of_the_one_that_runs_the_tests():
    assert not {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"} & set(os.environ)


def test_the_targets_are_those_of_the_help():
    told = subprocess.run(["make", "help"], cwd=REPO, capture_output=True, text=True, check=True, timeout=patience(60)).stdout
    assert set(re.findall(r"^  make ([\w-]+)", told, re.M)) <= set(TARGETS)
