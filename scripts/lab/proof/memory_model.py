# SPDX-License-Identifier: GPL-2.0
"""Judge the litmus tests of the engine's handshakes by the kernel's memory model (tools/memory-model), with herd7.

    python -m lab.proof.memory_model [--herd PROGRAM] [--series 6.12]

Each test of kmod/tests/litmus says its verdict, "Result: Never", and must have it; without any one of its barriers the
outcome must be possible ("Sometimes"), or that barrier is not needed. Exit status: 0 all of that is so, 1 not, 2 it could not
be judged.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ..linux import kernels
from ..paths import REPO, fail

TESTS = REPO / "kmod" / "tests" / "litmus"
BARRIER = re.compile(r"^\tsmp_\w+\(\);\n", re.MULTILINE)
RESULT = re.compile(r"^ \* Result: (\w+)$", re.MULTILINE)
OBSERVED = re.compile(r"^Observation \S+ (\w+) ", re.MULTILINE)
# What a test must say of itself, and what takes that away.
NEVER, SOMETIMES = "Never", "Sometimes"
LIMIT_S = 300


@dataclass(frozen=True)
class Verdict:
    """What herd7 finds of a test; without: the barrier that was left out, as "thread: name", or ""."""
    test: str
    without: str
    found: str

    @property
    def right(self) -> bool:
        return self.found == (SOMETIMES if self.without else NEVER)


def variants(text: str) -> dict[str, str]:
    """Return the test as it is, as "", and without each of its barriers."""
    found = {"": text}
    for barrier in BARRIER.finditer(text):
        threads = re.findall(r"^P(\d+)\(", text[:barrier.start()], re.MULTILINE)
        earlier = len(BARRIER.findall(text[:barrier.start()]))
        found[f"P{threads[-1]}: {barrier[0].strip()} ({earlier + 1})"] = text[:barrier.start()] + text[barrier.end():]
    return found


def judge(herd: str, model: Path, text: str) -> str:
    """Return herd7's verdict on a test."""
    with tempfile.NamedTemporaryFile("w", suffix=".litmus") as file:
        file.write(text)
        file.flush()
        # The model's configuration names its other files.
        done = subprocess.run([herd, "-conf", "linux-kernel.cfg", file.name], cwd=model, capture_output=True, text=True,
                              timeout=LIMIT_S)
    found = OBSERVED.search(done.stdout)
    if done.returncode or not found:
        fail(f"{herd}: exit status {done.returncode}, and no verdict: {done.stderr.strip() or done.stdout.strip()}")
    return found[1]


def judged(herd: str, model: Path, path: Path) -> list[Verdict]:
    """Return the verdicts on a test and on it without each of its barriers."""
    text = path.read_text()
    said = RESULT.search(text)
    if not said or said[1] != NEVER:
        fail(f"{path}: must say \" * Result: {NEVER}\"")
    if len(changed := variants(text)) == 1:
        fail(f"{path}: has no barrier, which would be a line of its own: \"smp_mb();\"")
    return [Verdict(path.stem, without, judge(herd, model, each)) for without, each in changed.items()]


def shown(verdicts: list[Verdict]) -> Table:
    table = Table("test", "without", "outcome", "", title="The kernel's memory model")
    for each in verdicts:
        table.add_row(each.test, each.without or "-", each.found, "" if each.right else
                      "the barrier is not needed" if each.without else "must be Never")
    return table


def main() -> int:
    parser = argparse.ArgumentParser(prog="lab.proof.memory_model",
                                     description="Judge the engine's litmus tests by the kernel's memory model.")
    parser.add_argument("--herd", default="herd7", metavar="PROGRAM", help="herd7 (default: the one in PATH)")
    parser.add_argument("--series", default=kernels.USUAL, help=f"of the kernel with the model (default: {kernels.USUAL})")
    given = parser.parse_args()
    if not shutil.which(given.herd):
        fail(f"{given.herd} is not here: 'opam install herdtools7' has it, or build github.com/herd/herdtools7 and give "
             "--herd PROGRAM; Debian has no package of it")
    model = kernels.fetch_source(given.series) / "tools" / "memory-model"
    verdicts = [each for path in sorted(TESTS.glob("*.litmus")) for each in judged(given.herd, model, path)]
    Console().print(shown(verdicts))
    right = sum(each.right for each in verdicts)
    print(f"memory model: {right} of {len(verdicts)} verdicts are right")
    return 0 if right == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
