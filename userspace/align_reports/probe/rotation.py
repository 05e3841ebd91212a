# SPDX-License-Identifier: GPL-2.0
"""The methods that measure how a disk rotates and seeks: pairs of reads, the second one timed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

from rich.table import Table

from ..exit_status import USAGE
from ..machine import Refused
from ..replays import Replays
from ..table import NONE, duration, size_name
from . import statistics
from .found import Found, Say, Scatter, Task
from .samples import Sample
from .statistics import CannotTell, Estimate, Mechanics
from .target import DeviceTarget, Request, Target
from .traces import trace

BACK, NEXT, LONG = "back", "next", "long"
MANY = 32
# Speeds of the disks that are made, in revolutions a minute.
USUAL = (4200, 5400, 5900, 7200, 10000, 10500, 15000)
# Reads of one run: a longer one could not be interrupted for long.
BATCH = 500
# Bytes over which places are spread at least.
LEAST_SPAN = 1 << 20
# Points of a picture.
MOST_POINTS = 2000


@dataclass(frozen=True)
class Read:
    """
    base     the place that was read just before; None: not known
    offset   the place of the read
    us       the read's time
    stride   tracktotrack: distances are from here to twice this, bytes; 0: not known
    kind     BACK, from the second place of a pair to the first, for the revolution only; NEXT, of the block behind the base,
             without a seek; LONG, of MANY blocks there
    """

    base: int | None
    offset: int
    us: float
    stride: int = 0
    kind: str = ""


def unit_of(target: Target) -> int:
    """Return the length of a read: a block, as the drive says, and not less than most drives have."""
    return max(target.says.logical, target.says.physical, 4096)


def read_pairs(target: Target, pairs: Sequence[tuple[int, int]], unit: int, blocks: int = 1) -> list[float]:
    """Read both places of each pair, at the second one so many blocks; return the times of the second ones."""
    times: list[float] = []
    for at in range(0, len(pairs), BATCH):
        requests = [request for first, second in pairs[at:at + BATCH]
                    for request in (Request(False, first, unit), Request(False, second, blocks * unit))]
        times += target.each(requests)[1::2]
    return times


def read_on(target: Target, where: Sequence[int], unit: int, end: int) -> list[Read]:
    """Read places and the next block, and elsewhere near them the next MANY blocks; return the times of the next ones."""
    found = []
    for kind, beyond, length in ((NEXT, 0, 1), (LONG, MANY * unit, MANY)):
        pairs = [(place + beyond, place + beyond + unit) for place in where if place + beyond + (1 + MANY) * unit <= end]
        found += [Read(base, offset, us, 0, kind)
                  for (base, offset), us in zip(pairs, read_pairs(target, pairs, unit, length), strict=True)]
    return found


def overhead_of(reads: Sequence[Read]) -> Estimate | None:
    """Return the time of a read that is neither seek nor rotation, if it was measured.

    It was not if reads of the next block take as long as others: a drive that reads nothing ahead waits a turn for it.
    """
    following, many, others = ([read.us for read in reads if read.kind == kind] for kind in (NEXT, LONG, ""))
    found = statistics.without_seek(following, many, MANY)
    return found if found and others and found.high < sorted(others)[len(others) // 20] else None


def levelled(reads: Sequence[Read], many: Sequence[Read]) -> list[Read]:
    """Return reads with the times that they would have in the middle of the device: where tracks are longer, a block passes
    faster. many: reads of MANY blocks, all over the device; without them reads are returned as they are"""
    ordered = sorted(many, key=lambda read: read.offset)
    halves = ordered[:len(ordered) // 2], ordered[len(ordered) // 2:]
    if not halves[0]:
        return list(reads)
    (near, near_us), (far, far_us) = ((median(read.offset for read in half), median(read.us for read in half))
                                      for half in halves)
    us_per_byte = (far_us - near_us) / MANY / (far - near) if far > near else 0.0
    middle = median(read.offset for read in ordered)
    return [replace(read, us=read.us - us_per_byte * (read.offset - middle)) for read in reads]


def there_and_back(reads: Sequence[Read]) -> tuple[list[float], list[float]]:
    """Return the times of the reads between two places that were read in both directions, in either one."""
    known: dict[tuple[int | None, int], float] = {}
    there, back = [], []
    for read in reads:
        one = None if read.base is None else known.pop((read.offset, read.base), None)
        if one is None:
            known[read.base, read.offset] = read.us
        else:
            there.append(one)
            back.append(read.us)
    return there, back


def usual_speeds(rpm: Estimate) -> str:
    """Name the usual speeds in an interval."""
    names = [str(speed) for speed in USUAL if rpm.low <= speed <= rpm.high]
    return f"; of the usual speeds, {' and '.join(names)} rpm" if names else ""


@dataclass(frozen=True)
class Told:
    """
    What a method can tell of a disk.

    still        why it does not rotate, or None
    rpm          the speed, sure; None: see against
    against      why the speed is not known
    mechanics    seek and revolution, by the study's rules; None: see unknown
    unknown      why these are not known
    study        whether the study computes figures from such times
    """

    still: str | None = None
    rpm: Estimate | None = None
    against: str | None = None
    mechanics: Mechanics | None = None
    unknown: str | None = None
    study: bool = True

    @property
    def rotation(self) -> Estimate | None:
        """Return the speed, zeroes if the drive does not rotate, or None."""
        return Estimate(0, 0, 0) if self.still else self.rpm

    @property
    def document(self) -> dict[str, Any]:
        """Return the figures for --json, times in microseconds."""
        found = self.mechanics
        return {"rotates": not self.still if self.still or self.rpm else None,
                "rpm": self.rpm and asdict(self.rpm),
                "revolution_us": found and asdict(found.revolution),
                "seek_us": found and asdict(found.seek),
                "study": {"seek_us": found.study_seek, "revolution_us": found.study_revolution,
                          "rpm": 60e6 / found.study_revolution} if found and self.study else None,
                "cannot_tell": [why for why in (self.against, self.unknown) if why and not self.still],
                "kept": None, "not_kept": None}

    def words(self, seek: str) -> list[str]:
        """Return the sentences. seek: what the seek is called"""
        if self.still:
            return [self.still]
        said = []
        if self.rpm:
            said.append(f"{self.rpm.value:.0f} rpm [{self.rpm.low:.1f} to {self.rpm.high:.1f}]: reads from one place to "
                        f"another and back take whole revolutions, {60e3 / self.rpm.value:.3f} ms each")
        else:
            said.append(f"rpm: cannot tell: {self.against}")
        if self.mechanics:
            found, study = self.mechanics, 60e6 / self.mechanics.study_revolution
            if self.study:
                said.append(f"as the study computes them: {seek} {milliseconds(found.study_seek)}, revolution "
                            f"{milliseconds(found.study_revolution)}, {study:.0f} rpm")
            if not self.rpm:
                rpm = found.revolution.over(60e6)
                said.append(f"{seek} {shown(found.seek)}, revolution {shown(found.revolution)}: {rpm.low:.0f} to "
                            f"{rpm.high:.0f} rpm{usual_speeds(rpm)}")
        else:
            said.append(f"{seek}: cannot tell: {self.unknown}")
        return said

    def without(self, seek: str, overhead: Estimate | None) -> list[str]:
        """Return a sentence of the seek that a device's reads have given, less the overhead; none if there is none."""
        if not self.mechanics or not overhead:
            return []
        return [f"{seek} {shown(self.mechanics.seek)}, less the {duration(overhead.value)} of a read that are neither seek "
                "nor rotation"]

    def table(self, title: str, seek: str) -> Table:
        """Return figures, intervals, and the study's figures."""
        table = Table(title=title, title_justify="left")
        for heading in ("", "value", "from", "to", "as the study computes"):
            table.add_column(heading, justify="right" if heading else "left")
        found = self.mechanics
        rows: list[tuple[str, Estimate | None, float | None, Callable[[float], str]]] = [
            (seek, found.seek if found else None, found.study_seek if found else None, milliseconds),
            ("revolution", self.rpm.over(60e6) if self.rpm else found.revolution if found else None,
             found.study_revolution if found else None, milliseconds),
            ("rpm", self.rpm, 60e6 / found.study_revolution if found else None, "{:.1f}".format)]
        for name, estimate, study, form in rows:
            cells = [form(value) for value in (estimate.value, estimate.low, estimate.high)] if estimate else [NONE] * 3
            table.add_row(name, *cells, NONE if study is None else form(study))
        return table


def shown(estimate: Estimate) -> str:
    """Format a time of a disk's mechanics with its interval."""
    return f"{milliseconds(estimate.value)} [{' to '.join(map(milliseconds, (estimate.low, estimate.high)))}]"


def milliseconds(us: float) -> str:
    """Format a time of a disk's mechanics, which differ in the third digit behind the point."""
    return f"{us / 1000:.3f} ms"


def tell(reads: Sequence[Read], stroke: float = 1.0, pairs: Sequence[Read] = (), one_way: bool = False,
         overhead: Estimate | None = None) -> Told:
    """Return what the times of reads tell.

    stroke, overhead: as for statistics.mechanics()
    pairs: further reads, for the revolution only
    one_way: none of the reads goes back; then an interval of the revolution has to do
    """
    times = [read.us for read in reads]
    try:
        if still := statistics.stands_still(times, [read.offset for read in reads]):
            return Told(still=still)
        against = "no pair of places was read there and back, which would tell it exactly; alignctl probe rotation does"
        revolution = None if one_way else statistics.whole_turns(*there_and_back([*reads, *pairs]))
    except CannotTell as why:
        return Told(against=str(why), unknown="without a revolution that is sure, no time is known to be of a seek alone")
    rpm = revolution and revolution.over(60e6)
    try:
        return Told(None, rpm, None if rpm else against, statistics.mechanics(times, stroke, revolution, overhead))
    except CannotTell as why:
        return Told(None, rpm, None if rpm else str(why), None, str(why))


def sorted_times(reads: Sequence[Read]) -> Scatter:
    """Return the picture of all times in order, no more than a page can hold."""
    times = sorted(read.us for read in reads)
    step = -(-len(times) // MOST_POINTS)
    return Scatter("Times in order: a straight line if uniform", "us", "reads",
                   [(at, times[at]) for at in range(0, len(times), step)])


def places(target: Target, task: Task, unit: int) -> tuple[int, random.Random]:
    """Return the number of blocks over which to read, and what draws them. Raises Refused if they are too few."""
    span = min(task.span or target.says.size, target.says.size)
    if span < LEAST_SPAN:
        raise Refused(f"{task.device}: {span} bytes are too few to seek over; give {LEAST_SPAN} or more", USAGE)
    return span // unit, random.Random(task.seed)


class Mechanical:
    """A method that reads in pairs, on a device or on another target."""

    writes = False
    # the columns that samples must have
    needed: tuple[str, ...] = ()

    def dry(self, replays: Replays, task: Task) -> tuple[str, tuple[str, ...]]:
        """Return source and options of a read, for --dry-run and for the check of the device."""
        return trace(replays, "read", 4096, [0]), ("--scan", "--timing", "closed")

    def run(self, replays: Replays, task: Task, say: Say, results: list[Any]) -> None:
        self.measure(DeviceTarget(replays, task.device), task, say, results)

    def measure(self, target: Target, task: Task, say: Say, results: list[Any]) -> None:
        raise NotImplementedError

    def sampled(self, samples: Sequence[Sample]) -> list[Any]:
        """Return recorded samples as results of the method."""
        return [Read(each.base, each.offset, each.us) for each in samples]


class FullStroke(Mechanical):
    """fullstroke: the time of reads that alternate between the first and the last 1 % of the device.

    Half of the reads go from the one end to the other, and each of those places later has a read back, so that the
    two together take whole revolutions. In between so many others are read that no memory of the drive has them.
    """

    END = 100       # the ends are one part in so many
    STROKE = 1 - 2 / END
    NEXT_READS = 200

    def measure(self, target: Target, task: Task, say: Say, results: list[Any]) -> None:
        unit = unit_of(target)
        blocks, draw = places(target, task, unit)
        ends = max(blocks // self.END, 1)

        def place(last: bool) -> int:
            return (draw.randrange(ends) + (blocks - ends if last else 0)) * unit
        pairs = [(place(False), place(True)) for _ in range(max(task.requests // 4, 1))]
        for way in (pairs, [(last, first) for first, last in pairs]):
            for at in range(0, len(way), BATCH // 2):
                part = [each for pair in way[at:at + BATCH // 2] for each in pair]
                # not timed: where the heads are before is not known
                part.insert(0, place(way is pairs))
                times = target.each([Request(False, offset, unit) for offset in part])
                results += [Read(base, offset, us) for base, offset, us in zip(part[:-1], part[1:], times[1:], strict=True)]
                say(f"{len(results)} reads, the last {len(part) - 1} in {duration(sum(times[1:]))}")
        results += read_on(target, [first for first, _ in pairs[:self.NEXT_READS]], unit, blocks * unit)

    def found(self, task: Task, reads: list[Read]) -> Found:
        strokes = [read for read in reads if not read.kind]
        overhead = overhead_of(reads)
        told = tell(strokes, self.STROKE, one_way=task.recorded, overhead=overhead)
        name = "seek over the whole device"
        return Found(told.words(name) + told.without(name, overhead), told.table(
            f"{task.device}: {len(strokes)} reads from end to end", name),
            {**told.document, "overhead_us": overhead and asdict(overhead)}, [sorted_times(strokes)], told.rotation)


class TrackToTrack(Mechanical):
    """tracktotrack: the time of a read a little beyond a random one, whose distance is between C and 2 C.

    With a C of a cylinder or more the second place is under the heads at any time, so times are uniform over one
    revolution, and the least time is a seek to a near track. As by the study's tool, binary search with a fifth of the
    reads finds the least such C, and then C doubles until all reads are uniform, too. Last come some reads back, for
    the revolution.
    """

    # C is a multiple of this by one of so many powers of two, as the tool's with blocks of 512 bytes.
    UNIT, POWERS = 64 << 10, 11

    def measure(self, target: Target, task: Task, say: Say, results: list[Any]) -> None:
        unit = unit_of(target)
        blocks, draw = places(target, task, unit)
        count = task.requests
        few = max(count // 5, 50)

        def uniform(power: int, reads: int) -> list[Read]:
            """Make reads with a C; return them if they are uniform, else none."""
            stride = self.UNIT << power
            pairs = []
            for _ in range(reads):
                base = draw.randrange(blocks - 2 * stride // unit)
                pairs.append((base * unit, (base + draw.randrange(stride // unit, 2 * stride // unit)) * unit))
            found = [Read(base, offset, us, stride)
                     for (base, offset), us in zip(pairs, read_pairs(target, pairs, unit), strict=True)]
            results.extend(found)
            against = self.against(found)
            say(f"C of {size_name(stride)}, {reads} reads: {against or 'uniform'}")
            return [] if against else found

        powers = [power for power in range(self.POWERS) if unit <= self.UNIT << power <= blocks * unit // 4]
        low, high = 0, len(powers) - 1
        while low <= high:
            middle = (low + high) // 2
            low, high = (low, middle - 1) if uniform(powers[middle], few) else (middle + 1, high)
        for power in powers[low:]:
            if reads := uniform(power, count):
                there = [(read.offset, read.base or 0) for read in reads[:few]]
                times = read_pairs(target, there, unit)
                results += [Read(base, offset, us, reads[0].stride, BACK)
                            for (base, offset), us in zip(there, times, strict=True)]
                results += read_on(target, [place for _, place in there], unit, blocks * unit)
                return

    @staticmethod
    def against(reads: Sequence[Read]) -> str | None:
        """Return why times are not uniform over what can be a revolution, or None."""
        try:
            width = statistics.mechanics([read.us for read in reads]).revolution
        except CannotTell as why:
            return str(why)
        if width.low <= statistics.SLOWEST_US and width.high >= statistics.FASTEST_US:
            return None
        return f"the times spread over {milliseconds(width.value)}, which is no disk's revolution"

    def found(self, task: Task, reads: list[Read]) -> Found:
        forth = [read for read in reads if not read.kind]
        stride = forth[-1].stride
        last = [read for read in forth if read.stride == stride]
        overhead = overhead_of(reads)
        told = tell(levelled(last, [read for read in reads if read.kind == LONG]),
                    pairs=[read for read in reads if read.kind == BACK], one_way=task.recorded, overhead=overhead)
        name = "seek to a near track"
        tried = []
        for each in sorted({read.stride for read in forth}):
            times = [read for read in forth if read.stride == each]
            tried.append({"c_bytes": each, "reads": len(times), "least_us": min(read.us for read in times),
                          "against": self.against(times)})
        return Found(told.words(name) + told.without(name, overhead), told.table(
            f"{task.device}: {len(last)} reads a little further on", name),
                     {**told.document, "c_bytes": stride or None, "overhead_us": overhead and asdict(overhead),
                      "tried": tried},
                     [sorted_times(last)], told.rotation)


class Rotation(Mechanical):
    """rotation: the revolution alone, by reads there and, later, back: each pair takes whole revolutions."""

    # Distances are one such part of the device, and up to an eighth of that more: the seek is short, and always the same.
    PART = 64

    def measure(self, target: Target, task: Task, say: Say, results: list[Any]) -> None:
        unit = unit_of(target)
        blocks, draw = places(target, task, unit)
        stride = max(blocks // self.PART, 1)
        pairs = []
        for _ in range(task.requests):
            base = draw.randrange(blocks - 2 * stride)
            pairs.append((base * unit, (base + stride + draw.randrange(-(-stride // 8))) * unit))
        for way in (pairs, [(offset, base) for base, offset in pairs]):
            times = read_pairs(target, way, unit)
            results += [Read(base, offset, us) for (base, offset), us in zip(way, times, strict=True)]
            say(f"{len(times)} reads {'there' if way is pairs else 'and back'}: {duration(sum(times))}")

    def found(self, task: Task, reads: list[Read]) -> Found:
        told = tell(reads)
        name = "seek"
        return Found(told.words(name), told.table(f"{task.device}: {len(reads)} reads there and back", name),
                     told.document, [sorted_times(reads)], told.rotation)
