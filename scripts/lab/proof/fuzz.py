# SPDX-License-Identifier: GPL-2.0
"""Run the fuzz targets of a program and print a summary.

    scripts/python -m lab.proof.fuzz PROGRAM [--runs N] [--seed N] [--jobs N] [TARGET...]

`make fuzz-targets` builds the targets (see userspace/fuzz/fuzz.mk). Each begins with its corpus in the tree, which stays
unmodified; new inputs go to out/fuzz/PROGRAM/found/TARGET/, where the next run continues. An input that breaks a promise
is left there, too, as crash-*, and named at the end.
"""

import argparse
import concurrent.futures
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

from .. import pace
from ..paths import OUT, REPO, fail, say

# Time limit of a single input; the targets need microseconds.
INPUT_SECONDS = 20
MEMORY_MIB = 2048
MAX_BYTES = 2048
PROGRESS_SECONDS = 30


@dataclass
class Outcome:
    """The result of one target; `log`: the end of its output, `broken`: the inputs that broke a promise."""
    target: str
    ok: bool
    runs: int
    seconds: float
    edges: int
    corpus: int
    log: str
    broken: list


def targets(program):
    """Return the names of a program's fuzz targets."""
    return sorted(path.stem.removeprefix("fuzz_") for path in source(program).glob("fuzz_*.c"))


def source(program):
    """Return the folder of a program's targets and their corpora."""
    return REPO / "userspace" / program / "fuzz"


def run(program, target, *, runs, seed, found, progress=None):
    """Run one target; return its Outcome. found: folder for new inputs; progress: called for each status line."""
    found.mkdir(parents=True, exist_ok=True)
    dictionary = source(program) / f"{target}.dict"
    limit = round(pace.patience(INPUT_SECONDS))
    command = [OUT / "fuzz" / program / target, f"-runs={runs}", f"-seed={seed}", f"-timeout={limit}",
               f"-rss_limit_mb={MEMORY_MIB}", f"-max_len={MAX_BYTES}", f"-artifact_prefix={found}/",
               # discard the programs' messages; looking up names of functions takes as long as 10000 runs
               "-close_fd_mask=3", "-print_funcs=0",
               *([f"-dict={dictionary}"] if dictionary.exists() else []),
               found, source(program) / "corpus" / target]
    before = set(found.iterdir())
    began = time.monotonic()
    last = []
    executed = edges = corpus = 0
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, errors="replace") as process:
        for line in process.stderr:
            last = [*last[-60:], line]
            status = re.match(r"#(\d+)\s.*?cov: (\d+) ft: \d+ corp: (\d+)/", line)
            if status:
                executed, edges, corpus = map(int, status.groups())
            if progress:
                progress(line)
    broken = sorted(path for path in set(found.iterdir()) - before
                    if path.name.startswith(("crash-", "leak-", "timeout-", "oom-")))
    # The number of runs includes the corpus; with fewer than requested the target gave up.
    ok = process.returncode == 0 and not broken and executed >= runs
    return Outcome(target, ok, executed, time.monotonic() - began, edges, corpus, "".join(last), broken)


def table(outcomes):
    """Return the lines of a table of all targets."""
    rows = [("TARGET", "RUNS", "EXEC/S", "CORPUS", "EDGES", "RESULT")]
    rows += [(o.target, str(o.runs), str(round(o.runs / o.seconds)), str(o.corpus), str(o.edges),
              "ok" if o.ok else "BROKEN") for o in outcomes]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
            for row in rows]


class Progress:
    """Prints a line with the progress of all running targets at intervals."""

    def __init__(self, runs):
        self._runs = runs
        self._at = {}
        self._said = time.monotonic()
        self._lock = threading.Lock()

    def of(self, target):
        def note(line):
            reached = re.match(r"#(\d+)\s", line)
            if reached:
                with self._lock:
                    self._at[target] = int(reached[1])
                    self._say()
        return note

    def ended(self, outcome):
        with self._lock:
            self._at.pop(outcome.target, None)
        say(f"fuzz {outcome.target}: {outcome.runs} runs in {outcome.seconds:.0f} s, "
            f"{'ok' if outcome.ok else 'BROKEN'}")

    def _say(self):
        if time.monotonic() - self._said < PROGRESS_SECONDS:
            return
        self._said = time.monotonic()
        say("fuzz: " + ", ".join(f"{name} {100 * at // self._runs} %" for name, at in self._at.items()))


def main(argv):
    parser = argparse.ArgumentParser(prog="lab.proof.fuzz", description=__doc__, usage=argparse.SUPPRESS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("targets", nargs="*")
    given = parser.parse_intermixed_args(argv)
    known = targets(given.program)
    unknown = set(given.targets) - set(known)
    if unknown:
        fail(f"no fuzz target {', '.join(sorted(unknown))} of {given.program}; there are {', '.join(known)}")
    say(f"fuzz {given.program}: {given.runs} runs each, seed {given.seed}")
    progress = Progress(given.runs)

    def one(target):
        outcome = run(given.program, target, runs=given.runs, seed=given.seed, progress=progress.of(target),
                      found=OUT / "fuzz" / given.program / "found" / target)
        progress.ended(outcome)
        return outcome

    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        outcomes = list(pool.map(one, given.targets or known))
    print("\n".join(table(outcomes)))
    for outcome in outcomes:
        if not outcome.ok:
            print(f"\n{outcome.target}: {', '.join(map(str, outcome.broken)) or 'ended early'}\n{outcome.log}")
    sys.exit(not all(outcome.ok for outcome in outcomes))


if __name__ == "__main__":
    main(sys.argv[1:])
