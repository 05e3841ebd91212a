# SPDX-License-Identifier: GPL-2.0
"""The hosts of a fleet in the order in which to look at them.

The rank is formed from three things, each of which decides only between hosts that are equal in those before:

1. What misaligned writes cost in a day, the most first: the partial touches that cost a read of a physical block
   (rmw_host and rmw_drive of stats, over the seconds of its intervals; or touches_expected of plan, over the seconds of
   the recording), as an exact fraction. A host of which this is not known, and one that is known to have none, have
   nothing here, and the findings decide.
2. The number of findings of check and faults of stats, without notes: first of the grade "shift", then of "unit", then
   of all others. A shift of a partition or of data costs each block that is written; a unit smaller than the physical
   block costs the writes of that unit.
3. The name.

Touches of different times are never added, only their fractions; whose effect depends on order, as what a mode would
avoid of them, is not added at all. Of a host that has both, stats counts and plan is left out, as both may have seen
the same writes.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

from .. import interrupt
from .documents import MEMBERS, Counted, Document, Finding, Unit, read, unit_of
from .layout import Place, Unusable, content, place
from .model import NOTHING, Modelled, added, of_device, together
from .reader import lines

T = TypeVar("T")
# Grades, the gravest first, and the findings of each; what is in none, as of a newer check, is "other".
GRADES = {
    # gen-rules: grades
    "shift": {"misaligned", "partition-start", "loop-start", "mapped-start", "data-start"},
    "unit": {"split", "partition-end", "md-superblock", "extent", "chunk", "fs-sector", "fs-block", "luks-sector", "cause"},
    # end of gen-rules
}
OTHER, NOTE = "other", "note"
ORDER = (*GRADES, OTHER, NOTE)
# The grade of each finding that has one; the place of each grade in the order.
GRADE = {code: grade for grade, codes in GRADES.items() for code in codes}
SEVERITY = {grade: number for number, grade in enumerate(ORDER)}


def grade_of(finding: Finding) -> str:
    return NOTE if finding.note else GRADE.get(finding.code, OTHER)


NO_FINDINGS = (0,) * len(ORDER)


def numbers_of(findings: Iterable[Finding]) -> tuple[int, ...]:
    """Return the number of findings of each grade."""
    found = [*NO_FINDINGS]
    for each in findings:
        found[SEVERITY[grade_of(each)]] += 1
    return tuple(found)


@dataclass(slots=True)
class Entry:
    """A host, a device or a model, and what is known of it.

    name: None where it is not known; findings: of a host or a device, notes included; numbers: of the findings of each
    grade; cost: touches a day, exact, and touches: their sum in all documents, from one source, None where not known;
    modes: of the targets that counted; modelled: what the touches cost in other units; judged: check has judged it, so that
    no finding means that there is none; disk: it is a disk of the host
    """

    name: str | None
    host: str = ""
    model: str | None = None
    findings: list[Finding] = field(default_factory=list)
    numbers: tuple[int, ...] = NO_FINDINGS
    cost: Fraction | None = None
    touches: int | None = None
    modes: tuple[str, ...] = ()
    modelled: Modelled = NOTHING
    judged: bool = False
    disk: bool = False

    def grades(self) -> dict[str, int | None]:
        """Return the number of findings of each grade, from the gravest to notes; None where it is not known."""
        return {grade: number if self.judged or number else None for grade, number in zip(ORDER, self.numbers, strict=True)}

    def faults(self) -> int:
        """Return the number of findings that are no notes."""
        return sum(self.numbers[:-1])

    @property
    def wrong(self) -> bool:
        """Return whether there is something to do: a finding that is no note, or touches that cost a read."""
        return bool(self.touches or self.faults())

    def count(self, parts: list[Counted]) -> None:
        """Take the figures of what was counted, which is not nothing."""
        self.cost, self.touches = added(part.a_day for part in parts), sum(part.touches for part in parts)
        self.modes = tuple(sorted({mode for part in parts for mode in part.modes}))


def rank_key(entry: Entry) -> tuple[Any, ...]:
    """Return what the rank is formed from, as the module says; smaller is first."""
    cost = entry.cost or 0
    # whole numbers are compared sooner than fractions
    return (-(cost.numerator // cost.denominator), -cost, *(-number for number in entry.numbers[:-1]), entry.name is None,
            entry.name or "", entry.host)


def whole(name: str | None, parts: Sequence[Entry], judged: bool) -> Entry:
    """Return the figures that entries have together."""
    counted = [each.touches for each in parts if each.touches is not None]
    return Entry(name, numbers=tuple(map(sum, zip(NO_FINDINGS, *(each.numbers for each in parts)))),
                 cost=added(each.cost for each in parts), touches=sum(counted) if counted else None,
                 modelled=together(each.modelled for each in parts), judged=judged)


@dataclass(slots=True)
class Host(Entry):
    """A host. rank: from 1; documents: kinds that it has; disks: number of them; source: kind that counted the touches.

    devices: those with findings or counts of touches, ranked; others: of all others, the number of disks of each model
    """

    rank: int = 0
    documents: list[str] = field(default_factory=list)
    disks: int = 0
    devices: list[Entry] = field(default_factory=list)
    others: dict[str | None, int] = field(default_factory=dict)
    source: str | None = None
    writers: Counter[str] = field(default_factory=Counter)


def bottoms(below: dict[str, list[str]], name: str) -> set[str]:
    """Find the disks that a device lies on; itself if it lies on nothing known."""
    if not below.get(name):
        return {name}
    found, seen, todo = set(), set(), [name]
    while todo:
        each = todo.pop()
        if each in seen:
            continue
        seen.add(each)
        todo += below.get(each, [])
        if not below.get(each):
            found.add(each)
    return found


def _longest(counted: Iterable[Counted]) -> list[Counted]:
    """Take one count of each device: the one of the longest time, or else of the most touches."""
    best: dict[str | None, Counted] = {}
    for each in counted:
        other = best.get(each.device)
        if other is None or (other.seconds or 0, other.touches) < (each.seconds or 0, each.touches):
            best[each.device] = each
    return [best[name] for name in sorted(best, key=lambda name: name or "")]


def _choose(documents: list[Document]) -> tuple[str | None, list[Counted]]:
    """Choose the documents that count the touches of a host: stats before plan, but those with a time before those without."""
    kinds = {"stats": _longest(part for each in documents if each.kind == "stats" for part in each.counted),
             "plan": [part for each in documents if each.kind == "plan" for part in each.counted]}
    for kind, parts in kinds.items():
        if any(part.seconds for part in parts):
            return kind, parts
    return next(((kind, parts) for kind, parts in kinds.items() if parts), (None, []))


def _agreed(said: Iterable[T | None]) -> T | None:
    """Return what documents say; what they say differently is not known."""
    known = {each for each in said if each is not None}
    return known.pop() if len(known) == 1 else None


def _unit(documents: list[Document], disk: str) -> Unit:
    """Return what the documents say of the unit of a disk."""
    said = [unit_of(each.units[disk]) for each in documents if disk in each.units]
    return Unit(*map(_agreed, zip(*said, strict=True))) if said else Unit(None, None, None)


def _divide(host: Host, documents: list[Document], disks: dict[str, str | None], counted: list[Counted]) -> None:
    """Divide findings and touches of a host among its disks; what is of several or of none stays with the device itself."""
    below: dict[str, list[str]] = {}
    for each in documents:
        for device, names in each.below.items():
            below[device] = [*below.get(device, ()), *names]
    # A fault of stats is of the align device, whose disk only the targets name.
    for part in (part for each in documents for part in each.counted if part.device):
        below.setdefault(str(part.device), list(part.lower))
    found: dict[str | None, tuple[list[Finding], list[Counted]]] = defaultdict(lambda: ([], []))

    def of(name: str | None, lower: tuple[str, ...]) -> str | None:
        lowest: set[str] = set().union(*(bottoms(below, each) for each in lower))
        return lowest.pop() if len(lowest) == 1 else name

    for finding in host.findings:
        found[of(finding.device, (finding.device,))][0].append(finding)
    for part in counted:
        lower = part.lower or ((part.device,) if part.device else ())
        found[of(lower[0] if len(lower) == 1 else part.device, lower)][1].append(part)
    for name, (findings, parts) in found.items():
        entry = Entry(name, host.name or "", disks.get(name or ""), findings, numbers_of(findings), judged=host.judged,
                      disk=name in disks)
        if parts:
            entry.count(parts)
            entry.modelled = of_device(parts, _unit(documents, name or ""))
        host.devices.append(entry)
    host.devices.sort(key=rank_key)
    # one disk may lie on another by what a second document says
    for name in {of(disk, (disk,)) if below.get(disk) else disk for disk in disks} - found.keys():
        model = disks.get(name or "")
        host.others[model] = host.others.get(model, 0) + (name in disks)


def host_of(name: str, documents: list[Document]) -> Host:
    """Make a host of its documents. Their order does not matter."""
    host = Host(name, name)
    disks: dict[str, str | None] = {}
    for each in documents:
        for disk, model in each.disks.items():
            disks[disk] = max(disks.get(disk), model, key=lambda text: text or "")
        host.writers.update(each.writers)
    findings = {finding for each in documents for finding in each.findings}
    host.findings = sorted(findings, key=lambda f: (f.device, f.code, f.text, f.note))
    host.numbers = numbers_of(findings)
    host.documents = sorted({each.kind for each in documents})
    host.judged = "check" in host.documents
    host.source, counted = _choose(documents)
    if counted:
        host.count(counted)
    host.disks = len(disks)
    _divide(host, documents, disks, counted)
    host.modelled = together(each.modelled for each in host.devices)
    return host


@dataclass
class Fleet:
    """All hosts, ranked; unusable: {file: why it could not be used}."""

    hosts: list[Host]
    unusable: dict[str, str]

    def findings(self) -> list[tuple[Finding, list[Host]]]:
        """Return one finding of each code and grade, and the hosts that have it, a host once for each; most hosts first."""
        found: dict[tuple[str, str], tuple[Finding, list[Host]]] = {}
        for host in self.hosts:
            for finding in host.findings:
                key = (grade_of(finding), finding.code)
                found.setdefault(key, (finding, []))[1].append(host)
        return [found[key] for key in sorted(found, key=lambda key: (ORDER.index(key[0]), -len(found[key][1]), key[1]))]

    def devices(self) -> list[Entry]:
        """Return the devices with something to do, of all hosts, ranked."""
        return sorted((each for host in self.hosts for each in host.devices if each.wrong), key=rank_key)

    def models(self) -> list[tuple[Entry, int, int]]:
        """Return each model with all that is of its disks, and the number of disks and of hosts that have it, ranked."""
        devices: dict[str | None, list[Entry]] = defaultdict(list)
        disks: Counter[str | None] = Counter()
        hosts: Counter[str | None] = Counter()
        judged: set[str | None] = set()
        for host in self.hosts:
            for device in host.devices:
                devices[device.model].append(device)
                disks[device.model] += device.disk
            models = {*host.others, *(device.model for device in host.devices)}
            disks.update(host.others)
            hosts.update(models)
            judged.update(models if host.judged else ())
        entries = [whole(model, devices[model], model in judged) for model in hosts]
        return [(each, disks[each.name], hosts[each.name]) for each in sorted(entries, key=rank_key)]

    @cached_property
    def total(self) -> Entry:
        """Return what all hosts have together."""
        return whole(None, self.hosts, any(host.judged for host in self.hosts))


def _document(where: Place, line: bytes) -> Document:
    """Read the document of a file, of which `line` is what the reader has left. Raises Unusable."""
    if not line.isspace():
        # the whole document says best why it is no use
        with contextlib.suppress(Unusable):
            return read(line, where)
    return read(content(where.path), where)


def _same(paths: list[str], unusable: dict[str, str]) -> dict[bytes, list[str]]:
    """Return the files that have a content, by its digest."""
    found: dict[bytes, list[str]] = defaultdict(list)
    for path in paths:
        try:
            found[hashlib.sha256(content(path)).digest()].append(path)
        except Unusable as error:
            unusable[path] = str(error)
    return found


def _host(name: str, places: list[Place], documents: Iterator[bytes], unusable: dict[str, str]) -> Host | None:
    """Make a host of its documents; None: none can be used. unusable: gets a reason for each file that cannot be used.

    A document counts once, in however many files it is. Two answers of one host to the same question contradict each
    other, and neither is used. documents: lines of the reader, of which this takes one for each place
    """
    answers: dict[tuple[str, str | None], dict[str, Document]] = defaultdict(dict)
    for where in places:
        line = next(documents)
        try:
            document = _document(where, line)
        except Unusable as error:
            unusable[where.path] = str(error)
            continue
        answers[document.kind, where.device][where.path] = document
    used: list[Document] = []
    for (kind, _), found in answers.items():
        same = _same([*found], unusable) if len(found) > 1 else {b"": [*found]}
        if len(same) == 1:
            [[path, *_]] = same.values()
            used.append(found[path])
        for digest, mine in same.items() if len(same) > 1 else ():
            other = min(path for key, paths in same.items() if key != digest for path in paths)
            unusable.update(dict.fromkeys(
                mine, f"contradicts {other}, another document of {kind} of the host {name}: keep one of them"))
    return host_of(name, used) if used else None


def gather(paths: Iterable[str], unusable: dict[str, str], reader: list[int] | None = None) -> Fleet:
    """Read the files and rank their hosts. unusable: gets a reason for each file that cannot be used.

    reader: process that reads ahead, as for lines(). A signal raises Interrupted.
    """
    groups: dict[str, list[Place]] = defaultdict(list)
    for path in paths:
        where = place(path)
        groups[where.host].append(where)
    in_order = [where.path for places in groups.values() for where in places]
    with interrupt.allowed(), contextlib.closing(lines(reader, MEMBERS, in_order)) as documents:
        hosts = [_host(name, places, documents, unusable) for name, places in groups.items()]
        ranked = sorted((host for host in hosts if host), key=rank_key)
    for rank, host in enumerate(ranked, 1):
        host.rank = rank
    return Fleet(ranked, unusable)
