# SPDX-License-Identifier: GPL-2.0
"""What came of the mutants: the table of a run, for a terminal, for programs, and in simulation-mutants.rst."""

from __future__ import annotations

import json
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from ..paths import REPO, commit, fail
from .choose import Mutant
from .equivalent import EQUIVALENT
from .lives import Verdict

PAGE = REPO / "Documentation" / "develop" / "simulation-mutants.rst"
BEGIN, END = ".. mutants: begin\n", ".. mutants: end\n"
LEAST_KILLED, MOST_EQUIVALENT = 95, 10

Judged = list[tuple[Mutant, Verdict]]


@dataclass
class Outcome:
    """The figures of a run. stale: complaints about equivalent.py."""
    dropped: Counter[str] = field(default_factory=Counter)
    killed: Judged = field(default_factory=list)
    survived: list[Mutant] = field(default_factory=list)
    equivalent: list[Mutant] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)

    @property
    def number(self) -> int:
        return len(self.killed) + len(self.survived) + len(self.equivalent)

    @property
    def killed_percent(self) -> float:
        judged = len(self.killed) + len(self.survived)
        return 100 * len(self.killed) / judged if judged else 100.0

    @property
    def equivalent_percent(self) -> float:
        return 100 * len(self.equivalent) / self.number if self.number else 0.0

    @property
    def complaints(self) -> list[str]:
        found = list(self.stale)
        if self.killed_percent < LEAST_KILLED:
            found.append(f"fewer than {LEAST_KILLED} % of the mutants not judged equivalent are killed")
        if self.equivalent_percent > MOST_EQUIVALENT:
            found.append(f"more than {MOST_EQUIVALENT} % of the mutants are judged equivalent")
        return found


def outcome(made: Judged, whole: bool, equivalent: dict[str, str] | None = None) -> Outcome:
    """Sort the verdicts; only a whole run can tell which entries of equivalent.py are of no mutant."""
    equivalent = EQUIVALENT if equivalent is None else equivalent
    found = Outcome()
    for mutant, verdict in made:
        if not verdict.counts:
            found.dropped[verdict.outcome] += 1
        elif verdict.outcome == "killed":
            found.killed.append((mutant, verdict))
            if mutant.key in equivalent:
                found.stale.append(f"equivalent.py: is killed, {verdict.words}: {mutant.key}")
        else:
            (found.equivalent if mutant.key in equivalent else found.survived).append(mutant)
    if whole:
        known = {mutant.key for mutant, _ in made}
        found.stale += [f"equivalent.py: is no mutant of this run: {key}" for key in equivalent if key not in known]
    return found


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a simple table of reStructuredText."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    rule = " ".join("=" * width for width in widths)

    def line(row: tuple[str, ...]) -> str:
        return " ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()

    return "\n".join([rule, line(head), rule, *map(line, rows), rule]) + "\n"


def counts(found: Outcome, of: Callable[[Mutant], str], head: str) -> str:
    """Return a table of the mutants by what `of` says of each."""
    killed = Counter(of(mutant) for mutant, _ in found.killed)
    survived, equivalent = Counter(map(of, found.survived)), Counter(map(of, found.equivalent))
    names = sorted(killed | survived | equivalent)
    return table((head, "mutants", "killed", "survive", "equivalent"),
                 [(name, *map(str, (killed[name] + survived[name] + equivalent[name], killed[name], survived[name],
                                    equivalent[name]))) for name in names])


def violations(found: Outcome) -> str:
    """Return a table of what killed how many, and after how much processor time."""
    by: dict[str, list[float]] = {}
    for _, verdict in found.killed:
        by.setdefault(verdict.how, []).append(verdict.seconds)
    return table(("killed by", "mutants", "median s", "most s"),
                 [(how, str(len(times)), f"{statistics.median(times):.2f}", f"{max(times):.2f}")
                  for how, times in sorted(by.items(), key=lambda each: -len(each[1]))])


def literal(mutant: Mutant) -> Iterable[str]:
    """Return the lines of a literal block that names a mutant."""
    return (f"{mutant.file}:{mutant.line}, {mutant.function}(), {mutant.kind}", f"  - {mutant.old}",
            f"  + {mutant.new or ';'}")


def summary(found: Outcome) -> str:
    times = [verdict.seconds for _, verdict in found.killed]
    median = f" (median {statistics.median(times):.2f} s of processor time)" if times else ""
    return (f"{found.number} mutants: {len(found.killed)} killed{median}; {len(found.survived)} survive, "
            f"{len(found.equivalent)} ({found.equivalent_percent:.1f} %) are judged equivalent, "
            f"{found.killed_percent:.1f} % of the others are killed")


def section(found: Outcome, date: str, of: str) -> str:
    """Return the part of the page that a run makes."""
    parts = [f"Run on {date} at commit {of}: {summary(found)}. Besides, {found.dropped['broken']} did not compile and "
             f"{found.dropped['same']} had the object code of the engine or of another mutant; they do not count.\n",
             violations(found), counts(found, lambda mutant: mutant.kind, "change"),
             counts(found, lambda mutant: mutant.file, "file")]
    if found.survived:
        block = "\n".join("    " + line for mutant in found.survived for line in literal(mutant))
        parts.append(f"The survivors, each with the text of the engine and the text of the mutant::\n\n{block}\n")
    return "\n".join(parts)


def with_section(page: str, text: str) -> str:
    """Return the page with the text between its marks."""
    head, found, rest = page.partition(BEGIN)
    _, also, tail = rest.partition(END)
    if not found or not also:
        fail(f"{PAGE} lacks the lines {BEGIN.strip()!r} and {END.strip()!r}: put them back around the mutants")
    return f"{head}{BEGIN}\n{text}\n{END}{tail}"


def as_json(made: Judged, found: Outcome, limit: int) -> dict[str, object]:
    equivalent = {mutant.key for mutant in found.equivalent}
    return {"mutants": found.number, "killed": len(found.killed), "survived": len(found.survived),
            "equivalent": len(found.equivalent), "killed_percent": round(found.killed_percent, 2),
            "equivalent_percent": round(found.equivalent_percent, 2), "dropped": dict(found.dropped), "limit_seconds": limit,
            "each": [{"file": mutant.file, "line": mutant.line, "function": mutant.function, "kind": mutant.kind,
                      "old": mutant.old, "new": mutant.new, "equivalent": mutant.key in equivalent, **asdict(verdict)}
                     for mutant, verdict in made]}


def give(made: Judged, folder: Path, limit: int, whole: bool, update: bool) -> int:
    """Write the reports of a run, of which a mutant had `limit` seconds; return the exit status."""
    found = outcome(made, whole)
    text = section(found, datetime.now(UTC).strftime("%Y-%m-%d"), commit())
    (folder / "report.json").write_text(json.dumps(as_json(made, found, limit), indent=1) + "\n")
    (folder / "report.txt").write_text(text)
    print(text)
    if update:
        PAGE.write_text(with_section(PAGE.read_text(), re.sub(r" +$", "", text, flags=re.M)))
    # A part of the engine has too few mutants for figures in per cent.
    complaints = found.complaints if whole else found.stale
    for complaint in complaints:
        print(f"sim-mutants: {complaint}")
    print(f"sim-mutants: {summary(found)}")
    return 1 if complaints else 0
