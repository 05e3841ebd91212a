# SPDX-License-Identifier: GPL-2.0
"""Build the prerequisites of the tests that a word names, and run these tests: `make test T=<file or word>`.

    scripts/python -m lab.pick WORD [PYTEST ARGUMENT...]

WORD is a test file (its path, or its name with or without "test_" and suffix, also followed by "::name"), or a part of tests'
names: of a Python function, of the promise of a C unit test, of a KUnit case. Tests in guests run on one kernel unless
DM_ALIGN_KERNELS names others.
"""

import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path

from .linux import kernels
from .paths import OUT, REPO, fail
from .proof import kunit

FOLDERS = ("scripts", "kmod", "kunit", "userspace", "Documentation")
# Prerequisites of the tests below a folder, of which the longest match counts: steps of scripts/setup, targets of make.
NEEDS = {"": (["venv"], []),
         "userspace": (["venv"], ["programs"]),
         "kmod/tests": (["check"], ["programs", "test-tools"]),
         "kunit": (["check"], []),
         "Documentation": (["venv"], ["programs"]),
         "scripts": (["check"], ["programs", "test-tools"]),
         "scripts/lab/tests/images": (["images"], ["programs"])}


@dataclasses.dataclass
class Picked:
    """The tests that a word names: pytest's arguments and its -k `expression`; words for C unit tests, by program; suites."""
    python: list
    expression: str
    c: dict
    kunit: list

    def __bool__(self):
        return bool(self.python or self.c or self.kunit)


def files(pattern):
    return sorted(path for folder in FOLDERS for path in (REPO / folder).rglob(pattern)
                  if not {"fuzz", "soak"} & set(path.parts[:-1]) or path.name.endswith(".py"))


def program_of(path):
    """Return the program to whose unit tests a C file belongs, or None."""
    parts = path.relative_to(REPO).parts
    return parts[1] if parts[0] == "userspace" else None


def stem(path):
    """Return a test file's name without the common part: "hold" of test_hold.py, "block" of block_test.c."""
    return re.sub(r"^test_|_test$", "", path.stem)


def listed_as(path):
    """Return the name under which a file's C unit tests are listed: "trace_iolog" of trace/test_iolog.c."""
    found = re.search(r"^const struct tap_test (\w+)_tests\[\]", path.read_text(), re.M)
    return found[1] if found else stem(path)


def pick(word):
    """Return the Picked that a word names, which is false if there is none."""
    name, _, inside = word.partition("::")
    bare = stem(Path(name))
    named = [path for path in [*files("test_*.py"), *files("test_*.c"), *files("*_test.c")]
             if path == Path(name).resolve() or "/" not in name and (
                 path.name == name or stem(path) == bare and Path(name).suffix in ("", path.suffix))]
    if named:
        return Picked([f"{path.relative_to(REPO)}{'::' + inside if inside else ''}"
                       for path in named if path.suffix == ".py"], "",
                      by_program([(program_of(path), listed_as(path)) for path in named
                                  if path.suffix == ".c" and program_of(path)]),
                      [path for path in named if path.parent.name == "kunit"])
    python = [path for path in files("test_*.py")
              if any(word in function for function in re.findall(r"^\s*def (test_\w+)", path.read_text(), re.M))]
    c = [(program_of(path), word) for path in files("test_*.c") if program_of(path) and
         any(word in promise for promise in re.findall(r'\{ *"((?:[^"\\]|\\.)*)"', path.read_text()))]
    suites = [path for path in files("*_test.c") if path.parent.name == "kunit" and
              any(word in case for case in re.findall(r"KUNIT_CASE\w*\(\s*(\w+)", path.read_text()))]
    return Picked([str(path.relative_to(REPO)) for path in python], word if python else "", by_program(c), suites)


def by_program(pairs):
    return {program: sorted({word for name, word in pairs if name == program}) for program, _ in pairs}


def needs(paths):
    """Return the steps of scripts/setup and the targets of make that tests in some files need."""
    steps, targets = [], []
    for path in paths:
        folder = max((name for name in NEEDS if str(path).startswith(name)), key=len)
        steps += [step for step in NEEDS[folder][0] if step not in steps]
        targets += [target for target in NEEDS[folder][1] if target not in targets]
    return steps, targets


def run(*command, cwd=REPO):
    """Run a command on the terminal; return its exit status."""
    return subprocess.run([str(word) for word in command], cwd=cwd).returncode


def main(argv):
    if not argv or argv[0].startswith("-"):
        fail(__doc__.strip())
    picked = pick(argv[0])
    if not picked:
        fail(f"no file or test is named {argv[0]!r}: name a file (test_hold.py, or hold) or a part of a test's name")
    # Set it before kernels.py reads it, here or in a child.
    os.environ.setdefault(kernels.VARIABLE, kernels.USUAL)
    steps, targets = needs([*picked.python, *("kunit" for _ in picked.kunit)])
    if run(REPO / "scripts/setup", *(steps or ["venv"])) or targets and run("make", "-s", *targets):
        sys.exit(2)
    worst = 0
    for program, words in picked.c.items():
        status = run("make", "-s", f"-j{os.cpu_count()}", "-C", REPO / "userspace" / program, f"OUT={OUT}",
                     OUT / "bin" / f"{program}-unit")
        # The tests' samples have paths relative to the program's folder, in which it was compiled.
        worst = max(worst, status or run(OUT / "bin" / f"{program}-unit", *words, cwd=REPO / "userspace" / program))
    python = [*picked.python]
    expression = picked.expression
    if picked.kunit:
        python.append("scripts/lab/tests/proof/test_kunit.py")
        suites = [suite for path in picked.kunit for suite in kunit.suites(path)]
        expression = " or ".join(filter(None, [expression, *(f"(um and {suite})" for suite in suites)]))
    if python:
        arguments = ["-k", expression] if expression else []
        worst = max(worst, run(sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *arguments,
                               *argv[1:], *python))
    sys.exit(worst)


if __name__ == "__main__":
    main(sys.argv[1:])
