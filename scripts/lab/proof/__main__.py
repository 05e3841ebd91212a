# SPDX-License-Identifier: GPL-2.0
"""Run the proof that no data is lost, at full length, and print the figures of each part.

    scripts/proof [--scale N] [--update] [PART...]      without names, all parts, one after another: hours
    scripts/proof --hours N [--update] [PART...]        for N hours, each time the part furthest from its full length

Each part is a program or a set of tests of which `make check` runs a slice. Its figures are lines of its own output.
out/proof/ gets proof.json, proof.txt and a log for each part; --update also writes the figures into
Documentation/target/promises.rst, part by part, with date and commit. --scale 0.1 runs a tenth of the full length, and the
figures say so. What has been run of each part on the same sources adds up (shares.py), and --hours goes on with it; --update
also publishes these shares, in Documentation/target/proof-shares.json, and which seeds were lived, in proof-lives.json, for
other checkouts.
Exit status: 0 every part is clean, 1 some are not, 2 the proof could not run.
"""

import argparse
import dataclasses
import json
import os
import re
import subprocess
import sys
import time
from datetime import UTC, datetime

from rich.console import Console
from rich.table import Table

from ..paths import OUT, REPO, commit, fail, locked, write_whole
from ..plugins import budget
from . import lives, shares

PAGE = REPO / "Documentation" / "target" / "promises.rst"
BEGIN, END = ".. proof: begin\n", ".. proof: end\n"
PYTEST = ("scripts/python", "-m", "pytest", "-q", "-rP", "-p", "no:cacheprovider")
# pytest's summary line: "12 passed, 1 skipped in 30.00s (0:00:30)".
PYTEST_SUMMARY = r"^(\d+ (?:passed|failed|error)[^\n]*?) in [\d.]+s"

# What a part concerns in guests: the target and the tests of kernels; in the simulation: the target and the simulation.
GUESTS = ("kmod", ":(exclude)kmod/tests/sim", ":(exclude)kmod/tests/litmus", ":(exclude)kmod/tests/uml")
SIMULATION = (":(glob)kmod/*", "kmod/tests/sim")


@dataclasses.dataclass(frozen=True)
class Part:
    """
    One part of the proof.

    name       name on the command line and on the page
    shows      the subject, in a few words
    command    command to run in the checkout
    scaled     environment variables and their values at full length; --scale multiplies them
    figures    multi-line regular expression; its groups, or its matches, are the figures
    concerns   files and folders that it is about, as git's pathspecs: when they change, it begins anew
    adds       the numbers in its figures are counts: lines that differ in them only, and runs, add up
    """
    name: str
    shows: str
    command: tuple
    scaled: dict = dataclasses.field(default_factory=dict)
    figures: str = PYTEST_SUMMARY
    concerns: tuple = GUESTS
    adds: bool = False

    def environment(self, scale):
        return {name: str(max(1, round(value * scale))) for name, value in self.scaled.items()}

    def figures_of(self, output):
        """Return the figures in the part's output, one a line; "" if there are none."""
        found = [match.group(1) if match.re.groups else match.group() for match in
                 re.finditer(self.figures, output, re.MULTILINE)]
        figures = "\n".join(" ".join(each.split()) for each in found)
        return shares.added(figures) if self.adds else figures


PARTS = {part.name: part for part in (
    Part("errors", "errors of the drive, one by one and at random", (*PYTEST, "kmod/tests/guest", "-k",
         "test_errors or test_degraded"), {"DM_ALIGN_STRESS_SECONDS": 60}),
    Part("soak", "random configurations of drive, table, load and changes", ("scripts/soak",),
         {"DM_ALIGN_SOAK_MINUTES": 30}, r"^soak: clean: (.*) on; configurations"),
    Part("hostile", "table lines, messages, readers of sysfs, users without rights", (*PYTEST, "kmod/tests/guest",
         "kmod/tests/tools/test_hostile_kasan.py", "kmod/tests/tools/test_stress_kasan.py",
         "-k", "hostile or test_stress_kasan or sysfs_can_be_read or every_file_of_sysfs"),
         {"DM_ALIGN_HOSTILE_LINES": 10000, "DM_ALIGN_KMEMLEAK_LINES": 2000, "DM_ALIGN_HOSTILE_SECONDS": 300,
          "DM_ALIGN_STRESS_SECONDS": 60}),
    Part("fuzz", "what the programs parse, from random input", ("make", "fuzz"), {"RUNS": 10_000_000},
         r"^\w+ +\d+ .* (?:ok|BROKEN)$", ("userspace",)),
    Part("lives", "lives of the engine itself on virtual time, added up over all runs of these sources", ("make", "sim"),
         {"SIM_SECONDS": 3600}, r"^sim: (.*)$", SIMULATION),
    Part("orders", "all orders of any three operations on two neighbouring blocks, and of four of the commonest",
         ("make", "sim-exhaustive"), figures=r"^orders: (.*)$", concerns=SIMULATION),
    Part("power", "power cuts in every mode, and file systems at every flush", (*PYTEST, "kmod/tests", "-k",
         "power_cut or log_writes"), {"DM_ALIGN_POWER_CUTS": 1050}, r"^(?:power cuts|log-writes): (.*)$", adds=True),
    Part("lifecycle", "suspends, reloads, mode changes, removals, unloads, drives that go, with the ledger kept",
         (*PYTEST, "kmod/tests", "-k", "test_lifecycle or test_leaks"), {"DM_ALIGN_LIFECYCLE_ROUNDS": 1000},
         r"^lifecycle: (.*)$", adds=True),
    Part("stacks", "file systems, LVM, LUKS, md, SQLite and PostgreSQL when the power goes, judged by the raw drive",
         (*PYTEST, "kmod/tests/guest", "-k", "test_stacks"), {"DM_ALIGN_STACK_CUTS": 25}, r"^stacks: (.*)$",
         adds=True),
    Part("files", "a model of files, fio and stress-ng on file systems", (*PYTEST, "kmod/tests/guest", "-k",
         "test_files"), {"DM_ALIGN_FILES_SECONDS": 60}),
    Part("coverage", "lines and branches of kmod/ that the tests run", ("make", "coverage"), figures=r"^kmod/: .*$",
         concerns=("kmod",)),
    Part("debug-kernels", "the stress with KASAN, lockdep, kmemleak and with KCSAN, on two processors",
         ("make", "debug-stress"), figures=r"^(?:debug|kcsan): status .*$"),
)}


@dataclasses.dataclass
class Outcome:
    """
    The result of a part.

    status   exit status of its command
    words    its figures, one a line; where they add up, those of all clean runs of the same sources
    """
    part: str
    status: int
    seconds: float
    words: str
    scale: float
    date: str
    commit: str
    # Clean runs of the same sources, this one among them, and their share of the full length together.
    runs: int = 1
    share: float = 0.0
    # The sources that it concerns are not those that it began with, so it is not known which ones were run.
    changed: bool = False

    @property
    def verdict(self):
        if self.status:
            return f"FAILED (status {self.status})"
        if self.changed:
            return "NOT COUNTED (its sources changed meanwhile)"
        return "clean" if self.words else "FAILED (no figures)"

    @property
    def clean(self):
        return self.verdict == "clean"


def run(part, scale, folder, console):
    """Run a part, with its output in a log and the last line on a terminal; return its Outcome."""
    log = folder / f"{part.name}.log"
    # The time limit of CI does not apply to a run of hours.
    environment = {budget.VARIABLE: "0", **os.environ, **part.environment(scale)}
    began, sources = time.monotonic(), shares.key(part)
    with open(log, "w") as file, console.status(f"{part.name}: {part.shows}") as status:
        running = subprocess.Popen(part.command, cwd=REPO, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        for line in running.stdout:
            file.write(line)
            file.flush()
            status.update(f"{part.name}, {(time.monotonic() - began) / 60:.0f} min: {line.strip()[:80]}")
        running.wait()
    outcome = Outcome(part.name, running.returncode, time.monotonic() - began, part.figures_of(log.read_text()),
                      # A part that cannot be scaled was run in full.
                      scale if part.scaled else 1, datetime.now(UTC).strftime("%Y-%m-%d"), commit(),
                      changed=shares.key(part) != sources)
    if outcome.clean:
        record = shares.add(part, outcome.scale, outcome.seconds, outcome.words if part.adds else "")
        outcome.runs, outcome.share = record["runs"], record["share"]
        outcome.words = record["figures"] or outcome.words
    return outcome


def length(outcome):
    words = f"{outcome.seconds / 60:.1f} min"
    if outcome.scale != 1:
        words += f", {outcome.scale:.2g} of the full length"
    if outcome.runs > 1:
        words += f"; {outcome.share:.2g} in {outcome.runs} runs"
    return words


def table(outcomes):
    """Return the outcomes as a table for a terminal."""
    grid = Table(title="Proof", show_lines=True)
    for column in ("part", "shows", "figures", "length", "verdict"):
        grid.add_column(column)
    for outcome in outcomes:
        grid.add_row(outcome.part, PARTS[outcome.part].shows, outcome.words, length(outcome), outcome.verdict)
    return grid


def row(outcome):
    """Return the outcome of a part as a row of the page's table."""
    # In reStructuredText a name that ends with _ is a reference, and | and * are special, too.
    words = re.sub(r"([*|_`\\])", r"\\\1", outcome.words).splitlines() or ["none"]
    lines = [f"   * - {outcome.part}", f"     - {PARTS[outcome.part].shows}", f"     - | {words[0]}",
             *(f"       | {line}" for line in words[1:]),
             f"     - {outcome.date}, {outcome.commit}, {length(outcome)}: {outcome.verdict}"]
    return "".join(f"{line}\n" for line in lines)


def rows_of(table):
    """Return {part: row} of the page's table; includes the headings, as an unknown part."""
    return {found[1]: found[0] for found in re.finditer(r"^   \* - (\S+)\n(?:     .*\n)+", table, re.MULTILINE)}


def with_section(page, outcomes):
    """Return the page with the outcomes between its marks; rows of other parts stay."""
    head, found, rest = page.partition(BEGIN)
    table, also, tail = rest.partition(END)
    if not found or not also:
        fail(f"{PAGE} lacks the lines {BEGIN.strip()!r} and {END.strip()!r}: put them back around the table")
    rows = rows_of(table) | {outcome.part: row(outcome) for outcome in outcomes}
    heading = [".. list-table::", "   :widths: 15 30 35 20", "   :header-rows: 1", "",
               "   * - part", "     - shows", "     - figures", "     - run"]
    table = "".join([*(f"{line}\n" for line in heading), *(rows[name] for name in PARTS if name in rows)])
    return f"{head}{BEGIN}\n{table}\n{END}{tail}"


def remembered(file):
    """Return {part: Outcome} of earlier runs."""
    if not file.exists():
        return {}
    return {each["part"]: Outcome(**each) for each in json.loads(file.read_text())["parts"] if each["part"] in PARTS}


def main(argv):
    parser = argparse.ArgumentParser(prog="proof", description=__doc__.split("\n\n")[0],
                                     epilog="parts: " + "; ".join(f"{part.name}: {part.shows}" for part in PARTS.values()))
    parser.add_argument("parts", nargs="*", metavar="PART", help="these only")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full length (default: 1)")
    parser.add_argument("--hours", type=float, help="so long, with the part furthest from its full length")
    parser.add_argument("--update", action="store_true",
                        help="write the figures into Documentation/target/promises.rst, and the shares beside it")
    given = parser.parse_args(argv)
    unknown = [name for name in given.parts if name not in PARTS]
    if unknown:
        parser.error(f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    if given.scale <= 0:
        parser.error(f"--scale {given.scale:g}: must be more than 0")
    if given.hours is not None and (given.hours <= 0 or given.scale != 1):
        parser.error("--hours: must be more than 0, and --scale does not apply to it")

    folder = OUT / "proof"
    folder.mkdir(parents=True, exist_ok=True)
    with locked("proof", OUT):
        return prove([PARTS[name] for name in given.parts or PARTS], given, folder)


def planned(parts, given, console):
    """Yield parts, each with the share of its full length that is to be run."""
    if given.hours is None:
        for number, part in enumerate(parts, 1):
            console.print(f"{number} of {len(parts)}: {part.name}: {' '.join(part.command)}", markup=False, highlight=False)
            yield part, given.scale
        return
    end = time.monotonic() + 3600 * given.hours
    while time.monotonic() < end:
        part, scale = shares.furthest(parts, end - time.monotonic())
        if not part:
            console.print("every part was run to its full length, or takes longer than the time that is left")
            return
        console.print(f"{part.name}, {shares.of(part)['share']:.2g} of its full length so far: {scale:.2g} of it",
                      markup=False, highlight=False)
        yield part, scale


def prove(parts, given, folder):
    console = Console(width=None if sys.stdout.isatty() else 160)
    known = remembered(folder / "proof.json")
    everything, made = list(known.values()), []
    for part, scale in planned(parts, given, console):
        outcome = run(part, scale, folder, console)
        made.append(outcome)
        known[part.name] = outcome
        console.print(f"    {outcome.verdict}, {length(outcome)}\n{outcome.words}", markup=False, highlight=False)
        everything = [known[name] for name in PARTS if name in known]
        write_whole(folder / "proof.json", json.dumps({"parts": [dataclasses.asdict(each) for each in everything]}, indent=1)
                    .encode() + b"\n")
        if given.hours is not None and not outcome.clean:
            # It would be chosen again.
            break
    with open(folder / "proof.txt", "w") as file:
        for target in (console, Console(file=file, width=160)):
            target.print(table(made))
    if given.update:
        PAGE.write_text(with_section(PAGE.read_text(), everything))
        shares.publish(PARTS.values())
        lives.publish()
    return 0 if all(outcome.clean for outcome in made) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
