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

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from .documents import Counted, Document, Finding, a_day, read
from .layout import Place, Unusable, content, place
from .model import NOTHING, Modelled, of_device, together

T = TypeVar("T")
# Grades, the gravest first, and the findings of each; what is in none, as of a newer check, is "other".
GRADES = {
    "shift": {"partition-start", "loop-start", "data-start", "mapped-start", "misaligned"},
    "unit": {"partition-end", "extent", "chunk", "fs-block", "fs-sector", "luks-sector", "md-superblock", "split", "cause"},
}
OTHER, NOTE = "other", "note"
ORDER = (*GRADES, OTHER, NOTE)
# The grade of each finding that has one.
GRADE = {code: grade for grade, codes in GRADES.items() for code in codes}


def grade_of(finding: Finding) -> str:
    return NOTE if finding.note else GRADE.get(finding.code, OTHER)


NO_FINDINGS = dict.fromkeys(ORDER, 0)


@dataclass
class Entry:
    """A host, a device or a model, and what is known of it.

    name: None where it is not known; findings: notes included; counted: touches, from one source;
    modelled: what the touches cost in other units; judged: check has judged it, so that no finding means that there is none
    """

    name: str | None
    host: str = ""
    model: str | None = None
    findings: list[Finding] = field(default_factory=list)
    counted: list[Counted] = field(default_factory=list)
    modelled: Modelled = NOTHING
    judged: bool = False

    @property
    def cost(self) -> Fraction | None:
        return a_day(self.counted)

    @property
    def touches(self) -> int | None:
        """Return the sum of the touches in all documents; None if no document counts touches."""
        return sum(part.touches for part in self.counted) if self.counted else None

    @property
    def modes(self) -> tuple[str, ...]:
        return tuple(sorted({mode for part in self.counted for mode in part.modes}))

    def grades(self) -> dict[str, int | None]:
        """Return the number of findings of each grade, from the gravest to notes; None where it is not known."""
        # a fleet has many without findings, and a Counter takes its time
        found: dict[str, int] = Counter(map(grade_of, self.findings)) if self.findings else NO_FINDINGS
        return {grade: found[grade] if self.judged or found[grade] else None for grade in ORDER}

    def faults(self) -> int:
        return sum(not finding.note for finding in self.findings)

    @property
    def wrong(self) -> bool:
        """Return whether there is something to do: a finding that is no note, or touches that cost a read."""
        return bool(self.faults() or self.touches)


def rank_key(entry: Entry) -> tuple[Any, ...]:
    """Return what the rank is formed from, as the module says; smaller is first."""
    grades = entry.grades()
    return (-(entry.cost or 0), *(-(grades[grade] or 0) for grade in ORDER if grade != NOTE), entry.name is None,
            entry.name or "", entry.host)


@dataclass
class Host(Entry):
    """A host. rank: from 1; documents: kinds that it has; disks: {name: model}; rpm, units, rated: as in documents;
    source: kind that counted the touches."""

    rank: int = 0
    documents: list[str] = field(default_factory=list)
    disks: dict[str, str | None] = field(default_factory=dict)
    rpm: dict[str, Fraction] = field(default_factory=dict)
    units: dict[str, int] = field(default_factory=dict)
    rated: dict[str, int] = field(default_factory=dict)
    devices: list[Entry] = field(default_factory=list)
    source: str | None = None
    writers: Counter[str] = field(default_factory=Counter)


def bottoms(below: dict[str, list[str]], name: str) -> set[str]:
    """Find the disks that a device lies on; itself if it lies on nothing known."""
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
        if a_day(parts) is not None:
            return kind, parts
    return next(((kind, parts) for kind, parts in kinds.items() if parts), (None, []))


def _devices(host: Host, below: dict[str, list[str]]) -> list[Entry]:
    """Divide findings and touches of a host among its disks; what is of several or of none stays with the device itself."""
    entries: dict[str | None, Entry] = {}

    def entry(name: str | None, lower: Iterable[str]) -> Entry:
        disks = {disk for each in lower for disk in bottoms(below, each)}
        where = disks.pop() if len(disks) == 1 else name
        return entries.setdefault(where, Entry(where, host.name or "", host.disks.get(where or ""), judged=host.judged))

    for disk in host.disks:
        entry(disk, [disk])
    for finding in host.findings:
        entry(finding.device, [finding.device]).findings.append(finding)
    for part in host.counted:
        lower = part.lower or ((part.device,) if part.device else ())
        entry(lower[0] if len(lower) == 1 else part.device, lower).counted.append(part)
    for name, each in entries.items():
        each.modelled = of_device(each.counted, host.rpm.get(name or ""), host.units.get(name or ""),
                                  host.rated.get(name or ""))
    return sorted(entries.values(), key=rank_key)


def _agreed(documents: Iterable[dict[str, T]]) -> dict[str, T]:
    """Return what documents say of each disk; what they say differently is not known."""
    said: dict[str, set[T]] = defaultdict(set)
    for each in documents:
        for name, value in each.items():
            said[name].add(value)
    return {name: values.pop() for name, values in said.items() if len(values) == 1}


def host_of(name: str, documents: Iterable[Document]) -> Host:
    """Make a host of its documents. Their order does not matter."""
    host = Host(name, name)
    ordered = list(documents)
    below: dict[str, list[str]] = {}
    for each in ordered:
        for device, names in each.below.items():
            below[device] = sorted({*below.get(device, []), *names})
        for disk, model in each.disks.items():
            host.disks[disk] = max(host.disks.get(disk), model, key=lambda text: text or "")
        host.writers.update(each.writers)
    host.rpm = _agreed(each.rpm for each in ordered)
    host.units = _agreed(each.units for each in ordered)
    host.rated = _agreed(each.rated for each in ordered)
    findings = {finding for each in ordered for finding in each.findings}
    host.findings = sorted(findings, key=lambda f: (f.device, f.code, f.text, f.note))
    host.documents = sorted({each.kind for each in ordered})
    host.judged = "check" in host.documents
    host.source, host.counted = _choose(ordered)
    # A fault of stats is of the align device, whose disk only the targets name.
    for part in (part for each in ordered for part in each.counted if part.device):
        below.setdefault(str(part.device), list(part.lower))
    host.devices = _devices(host, below)
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
        entries: dict[str | None, Entry] = {}
        disks: Counter[str | None] = Counter()
        hosts: dict[str | None, set[str]] = defaultdict(set)
        for host in self.hosts:
            for device in host.devices:
                entry = entries.setdefault(device.model, Entry(device.model))
                entry.findings += device.findings
                entry.counted += device.counted
                entry.modelled = together([entry.modelled, device.modelled])
                entry.judged |= device.judged
                disks[device.model] += device.name in host.disks
                hosts[device.model].add(device.host)
        return [(each, disks[each.name], len(hosts[each.name])) for each in sorted(entries.values(), key=rank_key)]

    def total(self) -> Entry:
        """Return what all hosts have together."""
        return Entry(None, findings=[finding for host in self.hosts for finding in host.findings],
                     counted=[part for host in self.hosts for part in host.counted],
                     modelled=together(host.modelled for host in self.hosts), judged=any(host.judged for host in self.hosts))


@dataclass
class _Answer:
    """A document of a host, and the files that have it, by digest of their content."""

    documents: dict[bytes, Document] = field(default_factory=dict)
    files: dict[bytes, list[str]] = field(default_factory=lambda: defaultdict(list))


def gather(paths: Iterable[str], unusable: dict[str, str], seen: Callable[[], None] = lambda: None) -> Fleet:
    """Read the files and rank their hosts. unusable: gets a reason for each file that cannot be used.

    A document counts once, in however many files it is. Two answers of one host to the same question contradict each
    other, and neither is used. seen: is called before each file
    """
    hosts: dict[str, dict[tuple[str, str | None], _Answer]] = defaultdict(lambda: defaultdict(_Answer))
    for path in paths:
        seen()
        where: Place = place(path)
        try:
            data = content(path)
            document = read(data, where)
        except Unusable as error:
            unusable[path] = str(error)
            continue
        digest = hashlib.sha256(data).digest()
        answer = hosts[where.host][document.kind, where.device]
        answer.documents[digest] = document
        answer.files[digest].append(path)
    made = []
    for name, answers in hosts.items():
        used: list[Document] = []
        for (kind, _), answer in answers.items():
            if len(answer.documents) == 1:
                used += answer.documents.values()
                continue
            for digest, mine in answer.files.items():
                other = min(path for key, files in answer.files.items() if key != digest for path in files)
                unusable.update(dict.fromkeys(
                    mine, f"contradicts {other}, another document of {kind} of the host {name}: keep one of them"))
        if used:
            made.append(host_of(name, used))
    ranked = sorted(made, key=rank_key)
    for rank, host in enumerate(ranked, 1):
        host.rank = rank
    return Fleet(ranked, unusable)
