# SPDX-License-Identifier: GPL-2.0
"""Mutants of the engine's files: universalmutator's rules for C, rules of our own in engine.rules, and changes of several
lines (a whole statement dropped, two swapped, a lock and its unlocks dropped). A seed chooses: each function has its share,
and each kind of change has one in that."""

from __future__ import annotations

import contextlib
import io
import random
import re
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from pathlib import Path

from universalmutator import mutator  # type: ignore[import-untyped]

RULES = Path(__file__).with_name("engine.rules")
BUILT_IN = ("universal.rules", "c_like.rules", "c.rules")

# The kind of a rule of universalmutator by what it puts there, or by what it looks for: the first pattern that matches.
BY_RESULT = ((r"\\n\\1(break|continue);", "jump"), (r"/\*", "line"), (r"0==1|1==1", "logic"))
BY_PATTERN = ((r"\\d", "number"), (r"^(if|while|else)", "condition"),
              (r"[&|]{2}|^!$|\[\^[&|]\]|\\\|", "logic"),
              (r"^\(\[,", "arguments"),
              (r"[=<]|\)>$", "comparison"), (r"[-+*/%]", "arithmetic"))

# What only checks: without it the engine does the same.
CHECKS = re.compile(r"\s*\w+_assert_held\(")

# A call of a function, as names of macros that initialise something are in capitals.
CALL = re.compile(r"\b(?!sizeof|min|max)[a-z]\w*\(")


@dataclass(frozen=True)
class Function:
    """A function's body: the lines from `first` to `last`, counted from 1, without its braces."""
    name: str
    first: int
    last: int


@dataclass(frozen=True)
class Edit:
    """The text that takes the place of the lines from `first` to `last`."""
    first: int
    last: int
    text: str


@dataclass(frozen=True)
class Mutant:
    """A change of a file. place: how many mutants of the function read the same before this one."""
    file: str
    function: str
    kind: str
    edits: tuple[Edit, ...]
    old: str
    new: str
    place: int = 0

    @property
    def line(self) -> int:
        return self.edits[0].first

    @property
    def key(self) -> str:
        """What names the mutant also when lines above it come or go."""
        again = f" [{self.place + 1}]" if self.place else ""
        return f"{self.file}: {self.function}: {self.old} => {self.new or ';'}{again}"


def functions(lines: list[str]) -> list[Function]:
    """Return the functions of a file in the kernel's style: braces in the first column, a name before a parenthesis. Behind
    #else is what a module without the upper layers has, which is not in the simulation."""
    found, opened, other = [], None, False
    for number, line in enumerate(lines, 1):
        if line.startswith(("#else", "#endif")):
            other = line.startswith("#else")
        if other:
            continue
        if line.rstrip() == "{":
            opened = number
        elif line.startswith("}") and opened:
            above = next(number for number in range(opened - 1, 0, -1) if re.match(r"[A-Za-z_].*\(", lines[number - 1]))
            name = re.search(r"(\w+)\(", lines[above - 1])
            assert name
            found.append(Function(name[1], opened + 1, number - 1))
            opened = None
    return found


def squeeze(text: str) -> str:
    return " ".join(text.split())


def own_kinds() -> dict[str, str]:
    """Return {rule: kind} of engine.rules."""
    kinds, kind = {}, ""
    for line in RULES.read_text().splitlines():
        if line.startswith("# = "):
            kind = line[4:]
        elif " ==>" in line and not line.endswith("DO_NOT_MUTATE"):
            kinds[line] = kind
    return kinds


def kind_of(rule: str, own: dict[str, str]) -> str:
    """Return the kind of a rule, which is a text."""
    pattern, _, result = rule.partition(" ==>")
    tried = [(result, BY_RESULT), (pattern, BY_PATTERN)]
    return own.get(rule) or next((kind for text, kinds in tried for looks, kind in kinds if re.search(looks, text)), "word")


def by_rules(lines: list[str]) -> list[tuple[str, tuple[Edit, ...]]]:
    """Return the kind and the edits of what universalmutator makes of a file; texts in quotation marks stay."""
    own = own_kinds()
    with contextlib.redirect_stdout(io.StringIO()):
        made = mutator.mutants_regexp(lines, ruleFiles=[*BUILT_IN, str(RULES)], ignorePatterns=[], ignoreStringOnly=True)
    return [(kind_of(rule, own), (Edit(line, line, text),)) for line, text, (rule, _), _ in made]


def statements(lines: list[str], function: Function) -> list[Edit]:
    """Return the statements of a function that end with a semicolon, each with its text."""
    found, first = [], None
    comment = False
    for number in range(function.first, function.last + 1):
        line = lines[number - 1].rstrip()
        comment |= line.lstrip().startswith("/*")
        if not comment and line and not CHECKS.match(line):
            if first is None and re.match(r"\t+(?!(?:if|for|while|switch|case|default|else|do)\b)[A-Za-z_*(]", line):
                first = number
            if first is not None and line.endswith(";"):
                found.append(Edit(first, number, "".join(lines[first - 1:number])))
                first = None
            elif line.endswith(("{", "}", ":")):
                first = None
        if line.endswith("*/"):
            comment = False
    return found


def indent(text: str) -> str:
    return text[:len(text) - len(text.lstrip("\t"))]


def of_several_lines(lines: list[str], function: Function) -> list[tuple[str, tuple[Edit, ...]]]:
    """Return statements dropped and swapped, and locks dropped with their unlocks."""
    made: list[tuple[str, tuple[Edit, ...]]] = []
    found = statements(lines, function)
    for one in found:
        if one.last > one.first:
            made.append(("statement", (Edit(one.first, one.last, f"{indent(one.text)};\n"),)))
        lock = re.match(r"\s*(\w+?)_lock\w*\(([^,)]+)", one.text)
        if lock:
            unlock = re.compile(rf"\s*{lock[1]}_unlock\w*\({re.escape(lock[2])}[,)]")
            pair = [one, *(other for other in found if other.first > one.last and unlock.match(other.text))]
            if len(pair) > 1:
                made.append(("lock", tuple(Edit(each.first, each.last, f"{indent(each.text)};\n") for each in pair)))
    for one, other in pairwise(found):
        # Two plain assignments are the same in either order.
        calls = CALL.search(one.text) or CALL.search(other.text)
        if other.first == one.last + 1 and indent(one.text) == indent(other.text) and calls:
            made.append(("swap", (Edit(one.first, other.last, other.text + one.text),)))
    return made


def candidates(path: Path) -> dict[Function, list[Mutant]]:
    """Return all mutants of a file by function."""
    lines = path.read_text().splitlines(keepends=True)
    made = by_rules(lines)
    found = {}
    for function in functions(lines):
        inside = [(kind, edits) for kind, edits in made if function.first <= edits[0].first <= function.last]
        mutants: dict[tuple[Edit, ...], Mutant] = {}
        places: dict[tuple[str, str], int] = {}
        for kind, edits in (*inside, *of_several_lines(lines, function)):
            old = squeeze("".join("".join(lines[edit.first - 1:edit.last]) for edit in edits))
            new = squeeze("".join(edit.text for edit in edits))
            if edits in mutants or old == new:
                continue
            place = places[old, new] = places.get((old, new), -1) + 1
            mutants[edits] = Mutant(path.name, function.name, kind, edits, old, new, place)
        found[function] = list(mutants.values())
    return found


def code_lines(lines: list[str], function: Function) -> int:
    return sum(bool(re.match(r"\s+[^\s/*]", line)) and not CHECKS.match(line) for line in lines[function.first - 1:function.last])


def order(mutants: list[Mutant], seed: str) -> list[Mutant]:
    """Return the mutants of a function in the order of trial: one of each kind, again and again."""
    kinds: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        kinds.setdefault(mutant.kind, []).append(mutant)
    # Each kind has a chance of its own, so that one more of another does not change it.
    chances = {kind: random.Random(f"{seed}:{kind}") for kind in kinds}
    turn = {kind: chance.random() for kind, chance in chances.items()}
    columns = [chances[kind].sample(kinds[kind], len(kinds[kind])) for kind in sorted(kinds, key=lambda kind: turn[kind])]
    return [mutant for row in zip_longest(*columns) for mutant in row if mutant]


@dataclass(frozen=True)
class Share:
    """The mutants of a function, in the order of trial, of which `wanted` are to be had that count."""
    file: str
    function: str
    wanted: int
    mutants: list[Mutant]


def shares(files: list[Path], wanted: int, seed: int) -> list[Share]:
    """Divide `wanted` mutants among the functions of files by their lines; each has one at least."""
    made, sizes = [], []
    for path in files:
        lines = path.read_text().splitlines()
        for function, mutants in candidates(path).items():
            sizes.append(code_lines(lines, function))
            made.append((path.name, function.name, order(mutants, f"{seed}:{path.name}:{function.name}")))
    whole = sum(sizes)
    return [Share(file, function, max(1, round(wanted * size / whole)), mutants)
            for (file, function, mutants), size in zip(made, sizes, strict=True)]


def mutated(lines: list[str], mutant: Mutant) -> str:
    """Return the text of the file with the change. What follows stays on its lines, which WARN_ON() has in the object code."""
    lines = list(lines)
    for edit in sorted(mutant.edits, key=lambda edit: -edit.first):
        room = edit.last - edit.first + 1
        text = edit.text.splitlines()
        text = [*text[:room - 1], " ".join(text[room - 1:])] if len(text) > room else text + [""] * (room - len(text))
        lines[edit.first - 1:edit.last] = ["".join(line + "\n" for line in text)]
    return "".join(lines)
