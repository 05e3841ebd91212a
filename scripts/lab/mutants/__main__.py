# SPDX-License-Identifier: GPL-2.0
"""Make mutants of the engine by rules, and let each live on virtual time until it is killed.

    make sim-mutants [MUTANTS_ARGS="--jobs 2 --update"]

Mutants come from universalmutator's rules for C and from engine.rules; a seed chooses them, so that each function has its
share. One that does not compile, or whose object code is that of the engine or of another mutant, does not count, and the
next takes its place. The others run for at most 20 s of processor time. An ended run goes on where it stopped. Verdicts of
runs before count as long as the engine is the same; survivors live again when the simulation has changed, and with --afresh
all do.

The table goes to out/mutants/report.txt and, for programs, to report.json; --update writes it into
Documentation/develop/simulation-mutants.rst. Exit status 1 if fewer than 95 % of the mutants not judged equivalent
(equivalent.py) are killed, or if that file judges too many, a killed one, or one that does not exist.
"""

import argparse
import json
import queue
import sys
import threading
from dataclasses import asdict
from pathlib import Path

from ..paths import OUT, fail, locked, say
from . import lives, report
from .choose import Mutant, Share, shares
from .lives import Bench, Verdict

FOLDER = OUT / "mutants"
WANTED, SEED = 380, 1
# The engine itself may take so many times the limit; a mutant gets so many times what the engine took.
PATIENCE, SPARE = 10, 1.2


class Journal:
    """The verdicts of this run and of those before, one a line of a file."""

    def __init__(self, path: Path, limit: int):
        self.path, self.limit = path, limit
        self.engine, self.sources, self.state = lives.engine_state(), lives.sources(), lives.state()
        self.lock = threading.Lock()
        self.known: dict[str, Verdict] = {}
        for line in path.read_text().splitlines() if path.exists() else []:
            told = json.loads(line)
            verdict = Verdict(**told["verdict"])
            if told["engine"] == self.engine and self.stands(told, verdict):
                self.known[told["key"]] = verdict

    def stands(self, told: dict[str, object], verdict: Verdict) -> bool:
        """
        Whether a verdict about the engine as it is need not be made again. What compiles does not depend on the worlds. The
        simulation only learns to see more, so one that was killed is dead. One that survived has to face what is new.
        """
        if not verdict.counts:
            return told["sources"] == self.sources
        return verdict.outcome == "killed" or (told["state"], told["limit"]) == (self.state, self.limit)

    def add(self, mutant: Mutant, verdict: Verdict) -> None:
        if lives.state() != self.state:
            fail("the engine or the simulation has changed since this run began: start it again", 1)
        told = {"key": mutant.key, "engine": self.engine, "sources": self.sources, "state": self.state, "limit": self.limit,
                "verdict": asdict(verdict)}
        with self.lock, open(self.path, "a") as file:
            file.write(json.dumps(told) + "\n")


def must_live(program: Path) -> int:
    """
    Return the seconds that a mutant needs here for all lives, with some to spare.

    Fails if the engine as it is does not live through all: what kills it says nothing of a mutant.
    """
    verdict = lives.trial(program, limit=PATIENCE * lives.LIMIT)
    if verdict.outcome != "survived":
        fail(f"the engine as it is does not live: {verdict.how}: {verdict.words}", 1)
    return round(SPARE * verdict.seconds)


def judge_share(bench: Bench, share: Share, journal: Journal) -> list[tuple[Mutant, Verdict]]:
    """Judge mutants of a function until as many count as are wanted."""
    made: list[tuple[Mutant, Verdict]] = []
    for mutant in share.mutants:
        if sum(verdict.counts for _, verdict in made) == share.wanted:
            break
        verdict = journal.known.get(mutant.key)
        if verdict is None:
            verdict = bench.judge(mutant, journal.limit)
            journal.add(mutant, verdict)
            if verdict.counts:
                say(f"{mutant.key}: {verdict.outcome} {verdict.how} {verdict.seconds:.1f} s")
        elif verdict.code:
            bench.seen.add(verdict.code)
        made.append((mutant, verdict))
    return made


def judge_all(benches: list[Bench], wanted: list[Share], journal: Journal) -> list[tuple[Mutant, Verdict]]:
    """Judge the mutants of all functions, one function at a time on each bench."""
    todo: queue.SimpleQueue[tuple[int, Share]] = queue.SimpleQueue()
    made: dict[int, list[tuple[Mutant, Verdict]]] = {}
    faults: list[BaseException] = []
    for each in enumerate(wanted):
        todo.put(each)

    def work(bench: Bench) -> None:
        try:
            while not faults:
                number, share = todo.get_nowait()
                made[number] = judge_share(bench, share, journal)
        except queue.Empty:
            pass
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(bench,)) for bench in benches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    return [each for number in sorted(made) for each in made[number]]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make sim-mutants", description=__doc__, usage=argparse.SUPPRESS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wanted", type=int, default=WANTED, help="mutants that count; each function has one at least")
    parser.add_argument("--seed", type=int, default=SEED, help="chooses the mutants")
    parser.add_argument("--files", nargs="+", metavar="FILE", help="of kmod/; all of the engine's by default")
    parser.add_argument("--functions", nargs="+", metavar="NAME", help="these only")
    parser.add_argument("--limit", type=int, default=lives.LIMIT, help="seconds of processor time of a mutant")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time")
    parser.add_argument("--afresh", action="store_true", help="forget the verdicts of runs before")
    parser.add_argument("--update", action="store_true", help="write the table into Documentation/develop/simulation-mutants.rst")
    given = parser.parse_args(argv)
    files = [path for path in lives.engine() if not given.files or path.name in given.files]
    if given.files and len(files) != len(set(given.files)):
        parser.error(f"--files {' '.join(given.files)}: the engine has {' '.join(path.name for path in lives.engine())}")
    wanted = [share for share in shares(files, given.wanted, given.seed)
              if not given.functions or share.function in given.functions]
    whole = not (given.files or given.functions) and given.limit == lives.LIMIT
    if given.update and not whole:
        parser.error("--update: the page is about all files at the full length")

    FOLDER.mkdir(parents=True, exist_ok=True)
    with locked("mutants", OUT):
        if given.afresh:
            (FOLDER / "journal.jsonl").unlink(missing_ok=True)
        benches = lives.benches(given.jobs)
        # The machine may be slower than the one that LIMIT is for.
        limit = max(given.limit, must_live(benches[0].program)) if whole else given.limit
        made = judge_all(benches, wanted, Journal(FOLDER / "journal.jsonl", limit))
    return report.give(made, FOLDER, limit, whole, given.update)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
