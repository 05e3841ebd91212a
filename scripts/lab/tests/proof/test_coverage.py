# SPDX-License-Identifier: GPL-2.0
"""make coverage counts each line and branch once, sums up a header's counts of several objects, and names unreached lines."""

import json
import subprocess
import sys

import pytest

from lab.linux import debug_kernels
from lab.pace import patience
from lab.paths import REPO
from lab.plugins import batch
from lab.proof import coverage, unreached


def told(folder, *files):
    return json.dumps({"current_working_directory": str(folder), "files": [
        {"file": name, "lines": [{"line_number": number, "count": count, "function_name": function,
                                  "branches": [{"count": taken} for taken in branches]}
                                 for number, function, count, branches in lines]} for name, lines in files]})


@pytest.fixture
def sources(tmp_path):
    """Add two objects that include one header, of which each runs another part."""
    found = {}
    coverage.add(found, told(tmp_path, ("a.c", [(10, "f", 3, [3, 0]), (11, "f", 0, []), (12, "f", 3, [])]),
                             ("shared.h", [(5, "inline", 2, [2, 0]), (6, "inline", 0, [])]),
                             ("/usr/include/other.h", [(1, "g", 0, [])])), tmp_path)
    coverage.add(found, told(tmp_path, ("shared.h", [(5, "inline", 1, [0, 1]), (6, "inline", 0, [])])), tmp_path)
    return found


def test_a_line_of_a_header_is_one_line_whoever_includes_it(sources):
    assert dict(sources["shared.h"].lines) == {5: 3, 6: 0}
    assert (sources["shared.h"].taken, len(sources["shared.h"].branches)) == (2, 2)


def test_what_lies_elsewhere_does_not_count(sources):
    assert set(sources) == {"a.c", "shared.h"}


def test_the_figures_are_of_all_files(sources):
    assert coverage.summary(sources) == {"lines": 5, "lines_reached": 3, "lines_percent": 60.0,
                                         "branches": 4, "branches_taken": 3, "branches_percent": 75.0}


def test_each_line_that_was_never_reached_is_named(sources, tmp_path, monkeypatch):
    monkeypatch.setattr(coverage, "KMOD", tmp_path)
    (tmp_path / "a.c").write_text("\n" * 10 + "\treturn -ENOMEM;\n")
    (tmp_path / "shared.h").write_text("\n" * 5 + "\tnever();\n")
    lines = coverage.table(sources)
    assert "a.c:11: return -ENOMEM;" in lines and "shared.h:6: never();" in lines
    assert sum(":" in line.split(" ")[0] and line.split(":")[1].isdigit() for line in lines) == 2
    assert lines[-1] == "kmod/: 3 of 5 lines (60.0 %), 3 of 4 branches (75.0 %)"
    assert coverage.as_json(sources)["files"]["a.c"]["unreached"] == [11]


@pytest.fixture
def kmod(tmp_path, monkeypatch):
    """Write the text of `sources`, with two unreached lines; return a function that sets the reasons."""
    monkeypatch.setattr(coverage, "KMOD", tmp_path)
    (tmp_path / "a.c").write_text("\n" * 8 + "static int f(void)\n{\n\treturn -ENOMEM;\n}\n")
    (tmp_path / "shared.h").write_text("\n" * 3 + "void inline(int *a,\n\t\tint b)\n\tnever();\n")

    def known(*said):
        monkeypatch.setattr(unreached, "KNOWN", said)

    return known


REASONS = (unreached.Known("a.c", "f", "-ENOMEM", "no memory"), unreached.Known("shared.h", "inline", "never", "never"))


def test_each_line_that_is_not_reached_needs_a_reason(sources, kmod):
    kmod(*REASONS)
    assert coverage.complaints(sources) == []
    assert coverage.table(sources)[-5:-2] == ["    no memory", "shared.h:6: never();", "    never"]
    kmod(REASONS[0])
    assert coverage.complaints(sources) == ["shared.h:6 was never reached; add a test, or a reason to unreached.py: never();"]
    kmod(REASONS[0], unreached.Known("shared.h", "other", "never", "of another function"))
    assert len(coverage.complaints(sources)) == 2


def test_a_reason_without_such_a_line_is_a_fault(sources, kmod):
    kmod(*REASONS, unreached.Known("a.c", "f", "-EINVAL", "gone"))
    assert coverage.complaints(sources) == ["unreached.py: a.c, f(), '-EINVAL': no such line is left"]


def test_a_reason_for_what_is_reached_is_a_fault_unless_chance_decides(sources, kmod):
    kmod(*REASONS, unreached.Known("a.c", "f", "}", "reached"))
    assert coverage.complaints(sources) == ["unreached.py: a.c, f(), '}': is reached"]
    kmod(*REASONS, unreached.Known("a.c", "f", "}", "reached", chance=True))
    assert coverage.complaints(sources) == []


def test_a_reason_may_be_that_of_the_rest_of_a_function(sources, kmod):
    kmod(REASONS[1], unreached.Known("a.c", "f", "{", "all of it", rest=True))
    assert coverage.complaints(sources) == []
    kmod(REASONS[1], unreached.Known("a.c", "f", "{", "this line only"))
    assert len(coverage.complaints(sources)) == 2


def test_runs_of_other_objects_add_lines_and_no_branches(sources):
    other = {}
    coverage.add(other, told("/", ("a.c", [(11, "f", 7, [1, 1, 1, 0]), (99, "f", 1, [])])), coverage.Path("/"))
    coverage.add_lines(sources, other)
    assert sources["a.c"].lines == {10: 3, 11: 7, 12: 3}
    assert coverage.summary(sources)["branches"] == 4


PROGRAM = """\
#include <stdlib.h>
int main(int argc, char **argv)
{
	if (argc > 1)
		return atoi(argv[1]);
	return 0;
}
"""


def test_the_compilers_own_counts_are_read(tmp_path):
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run(["gcc", "--coverage", "-o", "program", "program.c"], cwd=tmp_path, check=True)
    subprocess.run(["./program"], cwd=tmp_path, check=True)
    # Rename the files that the linker prefixed to the names that the kernel uses.
    for path in tmp_path.glob("program-program.*"):
        path.rename(tmp_path / path.name.replace("program-", ""))
    source = coverage.read(tmp_path, tmp_path)["program.c"]
    assert source.unreached == [5]
    assert (source.taken, len(source.branches)) == (1, 2)


def test_a_later_fragment_of_a_kernels_configuration_has_the_last_word():
    assert debug_kernels.options(["# a word\nCONFIG_A=y\nCONFIG_B=m\n", "# CONFIG_A is not set\nCONFIG_C=y\n"]) == [
        "# CONFIG_A is not set", "CONFIG_B=m", "CONFIG_C=y"]


def test_tests_for_another_kernel_are_left_out():
    done = subprocess.run([sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider",
                           "-m", coverage.OF_THIS_KERNEL, batch.UML_TESTS],
                          cwd=REPO, capture_output=True, text=True, timeout=patience(100))
    assert "test_allocations.py::" in done.stdout and "test_statuses.py::" not in done.stdout


def test_each_life_of_the_simulation_is_a_process_and_those_that_fail_are_named(tmp_path):
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "sim"
    program.write_text(f"""#!/bin/sh
[ -n "$2" ] || {{ echo 'usage: sim [--focus none|reads]' >&2; exit 2; }}
echo "$*" >>{tmp_path}/calls
[ "$2 $4" != "reads 2" ]
""")
    program.chmod(0o755)
    folder, why = coverage.run_lives(tmp_path, 2)
    assert (tmp_path / "calls").read_text().splitlines() == [
        f"--focus {focus} --seed {seed} --lives 1" for focus in ("none", "reads") for seed in (1, 2)]
    assert folder == tmp_path / "sim/engine" and why == "the simulation failed: --focus reads --seed 2 --lives 1"
    assert coverage.run_lives(tmp_path, 1)[1] is None
