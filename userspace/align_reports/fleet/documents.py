# SPDX-License-Identifier: GPL-2.0
"""What check, stats and plan say of a host, taken from their documents of every format so far.

A document is believed only in what it says in the right type: a count is a whole number of 64 bits, a time is above 0.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn, TypeVar

from ..document import visible
from .layout import Place, Unusable

T = TypeVar("T")
# The newest format of each document that is understood here. Of plan, 1 had the source's format under "format", and no
# number, as no document had one then. Members came since without a new number: "interval" to stats, "model" and "unit" to
# check, "seconds" and "extra_bytes" to plan; what an older document lacks is not known.
NEWEST = {"check": 1, "stats": 1, "plan": 2}
AGAIN = "make it again"
# Of a report of stats, as findings: the words of its member, or of the targets' member.
GONE, DEGRADED = "gone", "degraded"
MOST_COUNT = (1 << 64) - 1
# What alignctl writes has milliseconds or finer; a shorter time makes no rate.
LEAST_S = 1e-9
# The members of which anything is read here, wherever in a document they are.
MEMBERS = (
    "as_is", "by_process", "bytes", "comm", "confirmed", "counters", "degraded", "derived", "device", "device_gone", "devices",
    "drives", "extra_bytes", "finding", "findings", "format", "interval", "interval_s", "lies_on", "mode", "model", "modes",
    "name", "note", "physical_block_size", "rated_writes", "rmw_drive", "rmw_host", "rotation", "rpm", "seconds",
    "sent_block_bytes", "source", "source_format", "targets", "text", "touches", "touches_expected", "unit", "what_if",
    "write_bytes", "write_zeroes_misaligned", "writes_misaligned")
DAY_S = 86400


class Finding(NamedTuple):
    """A finding of check, or a fault that stats reports. note: it is none, but worth a note."""

    code: str
    device: str
    text: str
    note: bool


class Extra(NamedTuple):
    """Bytes of whole blocks of a size that were touched, less the bytes written; at_most: an upper bound of these."""

    unit: int
    bytes: int
    at_most: bool


class Unit(NamedTuple):
    """The unit of a disk and what else check knows of the drive, None where unknown.

    rpm: 0: it does not rotate; size: bytes; rated: bytes that an SSD is rated to be written in its life
    """

    rpm: Fraction | None
    size: int | None
    rated: int | None


def per_day(number: int, seconds: Fraction) -> Fraction:
    """Return how many there are in a day of the same kind, exact."""
    return Fraction(number * DAY_S * seconds.denominator, seconds.numerator)


class Counted(NamedTuple):
    """Touches that cost a read, counted in a time; seconds: None where that is not known.

    lower: the devices that the touches went to; modes: of its targets; extra: of each size of blocks, as far as known;
    misaligned: number of writes, write-zeroes among them, that arrived with touches; None: not known;
    confirmed: the drive has itself counted as many writes that begin inside a unit
    """

    device: str | None
    lower: tuple[str, ...]
    touches: int
    seconds: Fraction | None
    modes: tuple[str, ...] = ()
    extra: tuple[Extra, ...] = ()
    misaligned: int | None = None
    confirmed: bool = False

    @property
    def turns(self) -> int:
        """Return the number of writes that cost a read, which is at most that of their touches."""
        return self.touches if self.misaligned is None else min(self.touches, self.misaligned)

    @property
    def a_day(self) -> Fraction | None:
        """Return the touches in a day of the same kind, exact; None where the time is not known."""
        return None if self.seconds is None else per_day(self.touches, self.seconds)

    def extra_of(self, unit: int) -> Extra | None:
        return next((each for each in self.extra if each.unit == unit), None)


@dataclass
class Document:
    """What a file says.

    disks: model of each disk, None if not known; units: what check says of the unit of a disk, for unit_of(); below: names of
    the devices that a device lies on; writers: touches by process, of a plan
    """

    kind: str
    findings: list[Finding] = field(default_factory=list)
    disks: dict[str, str | None] = field(default_factory=dict)
    units: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    below: dict[str, list[str]] = field(default_factory=dict)
    counted: list[Counted] = field(default_factory=list)
    writers: Counter[str] = field(default_factory=Counter)


def _wrong(what: str) -> NoReturn:
    raise Unusable(f"{what}: {AGAIN}")


def _constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


DECODER = json.JSONDecoder(parse_constant=_constant)


def parsed(data: bytes) -> list[Any]:
    """Take JSON apart: one document, or one on each line, as stats --interval prints them. Raises Unusable."""
    if not data.strip():
        _wrong("is empty")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        _wrong(f"is not text, at byte {error.start}")
    try:
        return [DECODER.decode(text)]
    except json.JSONDecodeError as error:
        if error.msg != "Extra data":
            _wrong("ends in the middle" if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
                   else f"is not JSON, at line {error.lineno}")
    except (ValueError, RecursionError) as error:
        _wrong("is nested too deep" if isinstance(error, RecursionError) else "has a number that is none, or too long")
    try:
        # not splitlines(): a name may have U+2028, which ends a line there and in no JSON
        return [DECODER.decode(line) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError):
        _wrong("is not JSON, behind its first document")


def _member(value: Any, key: str, kind: type, what: str) -> Any:
    """Return a member of an object that must have it in that very type: true is no number. Raises Unusable."""
    found = value.get(key) if type(value) is dict else None
    if type(found) is not kind:
        _wrong(f"has no {key} of {what} as alignctl writes it")
    return found


def _text(value: Any, key: str, what: str) -> str:
    return visible(_member(value, key, str, what))


def _count(value: Any, key: str, what: str) -> int:
    found = _member(value, key, int, what)
    if not 0 <= found <= MOST_COUNT:
        _wrong(f"has a {key} of {what} that is no count of 64 bits")
    return int(found)


def _seconds(value: Any, what: str) -> Fraction | None:
    """Return a time, exact; None if it is not known, or so short that it makes no rate."""
    if value is None:
        return None
    # also false for what is infinite, and for a whole number that no float can hold
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= MOST_COUNT:
        _wrong(f"has seconds of {what} that are no time")
    return Fraction(str(value)) if value >= LEAST_S else None


def _inner(value: Any, *keys: str) -> Any:
    """Return a member of a member of a document, None if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _misaligned(counters: dict[str, Any]) -> int | None:
    """Return the misaligned writes of counters that have them, with write-zeroes, which an older document may lack."""
    writes, zeroes = _known(counters.get("writes_misaligned")), _known(counters.get("write_zeroes_misaligned", 0))
    return None if writes is None or zeroes is None else writes + zeroes


def _confirmed(device: dict[str, Any]) -> bool:
    """Return whether the only drive below a device, as stats --drive --interval has it, confirms the ledger's count."""
    drives = device.get("drives")
    return isinstance(drives, list) and len(drives) == 1 and _inner(drives[0], "confirmed") is True


def _known(value: Any) -> int | None:
    """Return a count that need not be there; None for what is no count of 64 bits."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_COUNT else None


def _rotation(unit: dict[str, Any]) -> Fraction | None:
    rpm = _inner(unit, "rotation", "rpm")
    good = isinstance(rpm, int | float) and not isinstance(rpm, bool) and (rpm == 0 or 1 <= rpm <= MOST_COUNT)
    return Fraction(str(rpm)) if good else None


def _last(figures: Iterable[T | None]) -> T | None:
    known = [each for each in figures if each is not None]
    return known[-1] if known else None


def unit_of(said: list[dict[str, Any]]) -> Unit:
    """Return what a document says of the unit of a disk; of a disk that it has several times, the last figures count."""
    return Unit(_last(map(_rotation, said)), _last(_known(each.get("bytes")) for each in said),
                _last(_known(_inner(each, "rated_writes", "bytes")) or None for each in said))


def _check(document: dict[str, Any]) -> Document:
    found = Document("check")
    for device in _member(document, "devices", list, "the document"):
        name = _text(device, "name", "a device")
        below = _member(device, "lies_on", list, name)
        if below and not all(isinstance(each, str) for each in below):
            _wrong(f"has a lies_on of {name} that is no list of names")
        found.below[name] = [visible(each) for each in below] if below else []
        if not below:
            model = device.get("model")
            found.disks[name] = visible(model) if isinstance(model, str) else None
            unit = device.get("unit")
            if isinstance(unit, dict):
                found.units.setdefault(name, []).append(unit)
    for finding in _member(document, "findings", list, "the document"):
        code = _text(finding, "finding", "a finding")
        found.findings.append(Finding(code, _text(finding, "device", code), _text(finding, "text", code),
                                      _member(finding, "note", bool, code)))
    return found


def _stats_extra(targets: list[Any], counters: dict[str, Any], touches: int) -> tuple[Extra, ...]:
    """Return the extra bytes on the blocks of a device: exact, or for an older module so many that no touch has more."""
    units = {_known(_inner(target, "physical_block_size")) for target in targets}
    unit = units.pop() if len(units) == 1 else None
    sent, written = _known(counters.get("sent_block_bytes")), _known(counters.get("write_bytes"))
    if unit is None:
        return ()
    if sent is None or written is None:
        return (Extra(unit, touches * unit, True),)
    return (Extra(unit, sent - written, False),)


def _plan_extra(document: dict[str, Any], touches: int) -> tuple[Extra, ...]:
    """Return the extra bytes on the blocks of each size that a plan has; an older one only says that no touch has more."""
    found: dict[int, Extra] = {}
    unit, sizes = _known(document.get("physical_block_size")), document.get("what_if")
    if unit is not None:
        found[unit] = Extra(unit, touches * unit, True)
    for each in sizes if isinstance(sizes, list) else []:
        size, extra = _known(_inner(each, "physical_block_size")), _known(_inner(each, "as_is", "extra_bytes"))
        if size is not None and extra is not None:
            found[size] = Extra(size, extra, False)
    return tuple(found.values())


def _stats(document: dict[str, Any]) -> Document:
    found = Document("stats")
    whole = document.get("interval_s")
    for device in _member(document, "devices", list, "the document"):
        name = _text(device, "name", "a device")
        targets = _member(device, "targets", list, name)
        lower = tuple(sorted({_text(target, "device", name) for target in targets}))
        modes = tuple(sorted({_text(target, "mode", name) for target in targets}))
        interval = device.get("interval")
        seconds = _seconds(interval.get("seconds") if isinstance(interval, dict) else whole, name)
        counters = _member(device, "counters", dict, name)
        # What was avoided costs no read; what was lost failed; what is pending is not known yet.
        touches = _count(counters, "rmw_host", name) + _count(counters, "rmw_drive", name)
        found.counted.append(Counted(name, lower, touches, seconds, modes, _stats_extra(targets, counters, touches),
                                     _misaligned(counters), _confirmed(device)))
        faults = {GONE: "is no longer there, below" if any(target.get("device_gone") is True for target in targets) else "",
                  DEGRADED: "has held blocks that cannot be written" if
                  isinstance(device.get("derived"), dict) and device["derived"].get("degraded") is True else ""}
        found.findings += [Finding(code, name, text, False) for code, text in faults.items() if text]
    return found


def _plan(document: dict[str, Any], device: str | None) -> Document:
    source = _text(document, "source", "the document")
    if "workload" in (document.get("source_format"), document.get("format")):
        raise Unusable(f"is a plan of the workload {source}, which no host wrote: leave it out")
    found = Document("plan")
    touches = _count(document, "touches_expected", "the document")
    found.counted.append(Counted(device, (), touches, _seconds(document.get("seconds"), "the document"),
                                 extra=_plan_extra(document, touches), misaligned=_misaligned(document)))
    for row in _member(document, "by_process", list, "the document") if "by_process" in document else []:
        # null: the trace does not tell
        if isinstance(row, dict) and isinstance(row.get("comm"), str):
            comm = visible(row["comm"])
            found.writers[comm] += _count(row, "touches", comm)
    return found


def _kind(document: dict[str, Any], place: Place) -> str:
    """Tell what a document is, by its members. Raises Unusable if it is none of those that are ranked."""
    if "touches_expected" in document and "modes" in document:
        return "plan"
    devices = document.get("devices")
    if isinstance(devices, list) and "findings" in document:
        return "check"
    if isinstance(devices, list) and all(isinstance(each, dict) and "counters" in each for each in devices):
        return "stats"
    number = document.get("format")
    if place.kind and isinstance(number, int) and number > NEWEST[place.kind]:
        return place.kind
    raise Unusable("is no document of check, stats or plan: give what one of them prints with --json")


def read(data: bytes, place: Place) -> Document:
    """Read the documents of a file, which are one answer. Raises Unusable."""
    answers: list[Document] = []
    for document in parsed(data):
        if not isinstance(document, dict):
            raise Unusable("is no document of check, stats or plan: give what one of them prints with --json")
        kind, number = _kind(document, place), document.get("format", 1)
        if isinstance(number, str) and kind == "plan":
            number = 1
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            _wrong("has a format that is no number")
        if number > NEWEST[kind]:
            raise Unusable(f"has format {number} of {kind}, and this alignctl knows up to {NEWEST[kind]}: "
                           "use that of the host, or a newer one")
        answers.append(_check(document) if kind == "check" else _stats(document) if kind == "stats" else
                       _plan(document, place.device))
    if len(answers) > 1:
        return _intervals(answers)
    return answers[0]


def _intervals(answers: list[Document]) -> Document:
    """Join the reports of stats --interval: touches and times of a device are added, as each is for its own interval."""
    if any(each.kind != "stats" or any(one.seconds is None for one in each.counted) for each in answers):
        raise Unusable("has several documents that are no intervals of stats: give each a file of its own")
    joined = Document("stats")
    devices: dict[str | None, Counted] = {}
    findings: dict[Finding, None] = {}
    for each in answers:
        findings.update(dict.fromkeys(each.findings))
        for one in each.counted:
            before = devices.get(one.device)
            devices[one.device] = one if before is None else Counted(
                one.device, one.lower, before.touches + one.touches,
                Fraction(before.seconds or 0) + Fraction(one.seconds or 0), one.modes,
                tuple(Extra(extra.unit, extra.bytes + more.bytes, extra.at_most or more.at_most) for extra in before.extra
                      if (more := one.extra_of(extra.unit))),
                None if before.misaligned is None or one.misaligned is None else before.misaligned + one.misaligned,
                before.confirmed and one.confirmed)
    joined.findings, joined.counted = list(findings), list(devices.values())
    return joined
