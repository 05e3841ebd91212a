# SPDX-License-Identifier: GPL-2.0
"""The block that a drive cannot write a part of: its size, where it begins, and what a write of a part costs.

A write of whole blocks goes to the medium as it is. For a part of a block the drive first has to read the rest. So of
writes of one length, which a block divides, those that begin at a boundary are fast and all others are slow. A scan
of all offsets finds a size and an offset that explain the times best. Nothing is concluded from the scan, which has
looked at many explanations: what the best one predicts is tried on new places. If whole blocks are not faster than
each of four parts of them, it is wrong.

Reads tell less: a read across the boundary of what an SSD reads at once may take longer. That may be another unit
than the one that it writes.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import NamedTuple

from ..table import duration
from .ranks import chance_as_slow, ranks, shift
from .statistics import CannotTell, Estimate
from .target import Request, Target

SMALL, LARGE = 4096, 128 << 10
# Each request has a place of its own, so that no buffer of the drive knows it; one of LARGE fits in at any offset.
CELL = 2 * LARGE
# Of a larger part of the device so many cells are drawn.
MOST_CELLS = 1 << 17
# A drive's buffer may hold a smaller area as a whole, and then no part of a block has to be read.
LEAST_AREA = 256 << 20
# Probability of the times, if a prediction of the verified explanation is wrong; and for a scan to go on.
WRONG, WORTH_A_TRY = 1e-6, 1e-4
# Requests of each kind in a scan, and how many of the fastest offsets go on; in the verification; for the penalty.
# An SSD has time for more in a scan, where programming hides more of the cost.
ROUNDS = ((3, 64), (6, 16), (12, 16))
SMALL_ROUNDS = ((12, 8),)
SSD_ROUNDS = 4
VERIFIED = (30, 60, 120, 240)
PENALTY = 600
# A part of a block that is slower by less is no sign of one: share of the time of a whole block.
LEAST_PENALTY = 0.02
# The same of reads: that a drive looks up a second unit shows in a few of a hundred parts of their time.
READ_ROUNDS = ((16, 256), (184, 128), (400, 32), (1000, 16))
READ_VERIFIED = (200, 800, 3000, 6000)
LEAST_LOOK_UP = 0.005
LIMIT_S = 110
# No disk puts a write on the medium in less, on average: half a revolution at 15000 a minute.
MECHANICAL_US = 2000.0
# Writes that show which of both it is.
FIRST = 32
# Requests without a look at the clock.
AT_ONCE = 1024
# Bytes between two flushes, where a write has none of its own: fewer than the buffer of an SSD has room for.
BETWEEN = 8 << 20


class Shape(NamedTuple):
    """A request of `bytes` that begins `phase` bytes behind some multiple of `modulus`."""

    modulus: int
    phase: int
    bytes: int


class Requests:
    """Requests at random places of a part of a target, each as long after its last use as possible. `finding` counts all."""

    def __init__(self, target: Target, finding: Finding, start: int, length: int, seed: int, write: bool,
                 flushed: bool = False) -> None:
        self._target, self._finding, self._write, self._flushed = target, finding, write, flushed
        self._random = random.Random(seed)
        cells = range(-(-start // CELL), (start + length) // CELL)
        self._cells = itertools.cycle(self._random.sample(cells, min(len(cells), MOST_CELLS)))

    def _place(self, shape: Shape) -> Request:
        cell = next(self._cells) * CELL
        first = cell + (shape.phase - cell) % shape.modulus
        choice = (cell + CELL - shape.bytes - first) // shape.modulus
        return Request(self._write, first + self._random.randint(0, choice) * shape.modulus, shape.bytes)

    def times(self, shapes: Sequence[Shape], each: int) -> list[list[float]]:
        """Make `each` requests of each shape, in random order; return the times by shape. Raises CannotTell."""
        order = list(range(len(shapes))) * each
        self._random.shuffle(order)
        at_once = AT_ONCE if self._flushed or not self._write else max(BETWEEN // max(shape.bytes for shape in shapes), 1)
        found: list[list[float]] = [[] for _ in shapes]
        for start in range(0, len(order), at_once):
            if self._target.elapsed_s() > LIMIT_S:
                raise CannotTell(f"{LIMIT_S} s did not suffice")
            part = order[start:start + at_once]
            # A write must not wait for what the drive still does for another one.
            self._target.flush()
            times = self._target.each([self._place(shapes[index]) for index in part], self._flushed)
            for index, us in zip(part, times, strict=True):
                found[index].append(us)
            self._finding.requests += len(part)
        return found


class Block(NamedTuple):
    """Byte x is a boundary if (x - offset) is a multiple of `bytes`."""

    bytes: int
    offset: int


@dataclass
class Scan:
    """
    length  the offset of a request is in bytes from a multiple of this
    bytes   of each request
    times   in microseconds, by offset
    """

    length: int
    bytes: int
    times: dict[int, list[float]] = field(default_factory=dict)

    def go_on(self, requests: Requests, before: int, rounds: Sequence[tuple[int, int]], slowest: bool = False) -> None:
        """Time requests of all offsets, and then of those that stand out, more and more of fewer and fewer.

        before: bytes from the start of a request to its offset
        rounds: requests of each offset, and how many offsets go on
        slowest: the slowest ones stand out; else the fastest
        """
        going = sorted(self.times)
        for each, keep in rounds:
            shapes = [Shape(self.length, (offset - before) % self.length, self.bytes) for offset in going]
            for offset, more in zip(going, requests.times(shapes, each), strict=True):
                self.times[offset] += more
            going = sorted(going, key=lambda offset: fmean(self.times[offset]), reverse=slowest)[:keep]

    def best(self, unit: int, slow_ones: bool) -> Block | None:
        """Return the block that explains the times best; None if none does.

        slow_ones: the offsets that are boundaries are the slow ones, as of reads; else the fast ones
        """
        offsets = sorted(self.times)
        ranked = iter(ranks([us for offset in offsets for us in self.times[offset]]))
        sums = {offset: [next(ranked) for _ in self.times[offset]] for offset in offsets}
        total, count = sum(map(sum, sums.values())), sum(map(len, sums.values()))
        found: Block | None = None
        most = 0.0
        size = 2 * unit
        while size <= self.length:
            for phase in range(0, size, unit):
                inside = [rank for offset in range(phase, self.length, size) for rank in sums[offset]]
                mean, others = fmean(inside), (total - sum(inside)) / (count - len(inside))
                # The least sum of squares within both groups is the greatest one between them.
                between = (mean - others) ** 2 * len(inside) * (count - len(inside)) / count
                if (mean > others) == slow_ones and between > most:
                    most, found = between, Block(size, phase)
            size *= 2
        if not found:
            return None
        at, beside = self.split(found)
        return found if chance_as_slow(*((at, beside) if slow_ones else (beside, at))) < WORTH_A_TRY else None

    def split(self, block: Block) -> tuple[list[float], list[float]]:
        """Return the times at the block's boundaries and beside them."""
        at: list[float] = []
        beside: list[float] = []
        for offset, times in self.times.items():
            (beside if (offset - block.offset) % block.bytes else at).extend(times)
        return at, beside


@dataclass
class Kind:
    """
    Requests of which a block predicts whether they are slow.

    name    for people
    times   in microseconds
    slower  by how much they are slower than those that are predicted to be fast
    chance  probability that they would look so much slower if they were not
    """

    name: str
    shape: Shape
    times: list[float] = field(default_factory=list)
    slower: Estimate | None = None
    chance: float | None = None


@dataclass
class Finding:
    """
    How the search ended. Times are in microseconds.

    block     what the drive writes as a whole; None: cannot tell
    why       why not, or why not the penalty
    penalty   time that a write of a part of a block takes more
    reads     what the drive reads as a whole, if reads show that
    method    the requests that decided, or the last ones tried
    kinds     the requests of the verification; the first ones are predicted to be fast
    scan      times by offset of the scan
    cache     the write cache: "on", "off", or None: cannot tell
    cache_why how the cache shows, or why not
    """

    block: Block | None = None
    why: str | None = None
    penalty: Estimate | None = None
    reads: Block | None = None
    method: str = ""
    kinds: list[Kind] = field(default_factory=list)
    scan: Scan | None = None
    cache: str | None = None
    cache_why: str = ""
    requests: int = 0
    elapsed_s: float = 0.0


def write_kinds(block: Block, unit: int) -> list[Kind]:
    """Return the writes of a whole block, and of parts of one; each part is in one block only."""
    size, at, half = block.bytes, block.offset, block.bytes // 2
    return [Kind("whole block", Shape(size, at, size)),
            Kind("without its last sector", Shape(size, at, size - unit)),
            Kind("without its first sector", Shape(size, (at + unit) % size, size - unit)),
            Kind("its first half", Shape(size, at, half)),
            Kind("its second half", Shape(size, (at + half) % size, half))]


def read_kinds(block: Block, unit: int) -> list[Kind]:
    """Return the reads of two sectors inside a block, in the middle of one, and across a boundary."""
    size, at = block.bytes, block.offset
    return [Kind("inside a block", Shape(size, (at + size // 4) % size, 2 * unit)),
            Kind("across its middle", Shape(size, (at + size // 2 - unit) % size, 2 * unit)),
            Kind("across a boundary", Shape(size, (at - unit) % size, 2 * unit))]


def verify(requests: Requests, kinds: list[Kind], slow: Sequence[int], rounds: Sequence[int] = VERIFIED,
           least: float = LEAST_PENALTY) -> str | None:
    """Try what a block predicts on new places: the kinds of these indices are slow, the others as fast as the first.

    rounds: requests of each kind, more and more until they decide; least: share of the time by which the slow are slower
    Sets the times of all kinds, and what follows. Returns what contradicts the prediction, or None.
    """
    contradiction = None
    for each in rounds:
        for kind, more in zip(kinds, requests.times([kind.shape for kind in kinds], each), strict=True):
            kind.times += more
        contradiction = contradicted(kinds, slow, least)
        if not contradiction:
            break
    return contradiction


def contradicted(kinds: list[Kind], slow: Sequence[int], share: float) -> str | None:
    """Compare all kinds with the first one; return what contradicts the prediction, or None."""
    fast = kinds[0].times
    said = []
    slower = {index: shift(kind.times, fast) for index, kind in enumerate(kinds) if index}
    least = min(slower[index].value for index in slow)
    for index, found in slower.items():
        kind = kinds[index]
        kind.slower, kind.chance = found, chance_as_slow(kind.times, fast)
        if index not in slow:
            if found.high > least / 2:
                said.append(f"{kind.name}: not as fast as {kinds[0].name}")
        elif kind.chance >= WRONG or found.low <= share * median(fast):
            said.append(f"{kind.name}: not slower than {kinds[0].name}")
    return said[0] if said else None


def measure_penalty(requests: Requests, kinds: list[Kind]) -> Estimate:
    """Return by how much a block without a sector at either end is slower than a whole one."""
    whole, last, first = kinds[:3]
    # as many whole ones as parts
    shapes = [whole.shape, last.shape, whole.shape, first.shape]
    more = requests.times(shapes, PENALTY // 2)
    return shift([*more[1], *more[3]], [*more[0], *more[2]])


def by_writes(target: Target, start: int, length: int, seed: int, finding: Finding, mechanical: bool, flushed: bool) -> None:
    """Search the block by timed writes. Raises CannotTell."""
    unit = target.says.logical
    requests = Requests(target, finding, start, length, seed, True, flushed)
    finding.method = "writes, each with a flush" if flushed else "writes"
    contradiction = None
    for size, rounds in ((SMALL, SMALL_ROUNDS), (LARGE, ROUNDS)):
        if size < 2 * unit:
            continue
        finding.scan = scan = Scan(size, size, {offset: [] for offset in range(0, size, unit)})
        # A block divides the length, so that both ends lie on boundaries or neither.
        scan.go_on(requests, 0, [(each * (1 if mechanical else SSD_ROUNDS), keep) for each, keep in rounds])
        block = scan.best(unit, False)
        if not block:
            continue
        finding.kinds = write_kinds(block, unit)
        contradiction = verify(requests, finding.kinds, (1, 2, 3, 4))
        if not contradiction:
            finding.block = block
            finding.penalty = measure_penalty(requests, finding.kinds)
            return
        contradiction = f"{block.bytes} bytes from byte {block.offset} on would explain most times, but {contradiction}"
    raise CannotTell(contradiction or "writes take as long at all offsets: either a block is a sector of "
                     f"{unit} bytes, or the drive hides what it rewrites")


def by_reads(target: Target, span: int | None, seed: int, finding: Finding) -> None:
    """Search what an SSD reads as a whole, by reads of two sectors at all offsets of `span` bytes. Raises CannotTell."""
    unit = target.says.logical
    requests = Requests(target, finding, 0, min(span or target.says.size, target.says.size), seed, False)
    finding.method = "reads across boundaries"
    # The offset is that of the second sector, which a boundary parts from the first.
    finding.scan = scan = Scan(LARGE, 2 * unit, {offset: [] for offset in range(0, LARGE, unit)})
    scan.go_on(requests, unit, READ_ROUNDS, True)
    block = scan.best(unit, True)
    while block and block.bytes >= 4 * unit:
        finding.kinds = read_kinds(block, unit)
        if not verify(requests, finding.kinds, (2,), READ_VERIFIED, LEAST_LOOK_UP):
            finding.reads = block
            break
        # In noise the scan may have lost every other boundary; then reads across the middle are slow, too.
        chance, half = finding.kinds[1].chance, block.bytes // 2
        block = Block(half, block.offset % half) if chance is not None and chance < WRONG else None


# Writes after a flush, fewer than a cache has room for; and how often.
BURST, BURSTS = 8, 20
# What a flush adds to a write, as a share of both: if it is so much, the write was in a cache; if so little, in none.
CACHED, UNCACHED = 0.6, 0.4


def write_cache(target: Target, start: int, length: int, seed: int, finding: Finding) -> None:
    """Find out whether the write cache is on, by whether a flush still has something to do. Raises CannotTell."""
    size = finding.block.bytes if finding.block else max(target.says.logical, SMALL)
    shape = Shape(size, finding.block.offset if finding.block else 0, size)
    alone = Requests(target, finding, start, length, seed, True)
    writes = [us for _ in range(BURSTS) for us in alone.times([shape], BURST)[0]]
    flushed = Requests(target, finding, start, length, seed + 1, True, True).times([shape], BURST * BURSTS)[0]
    write, both, flush = median(writes), median(flushed), shift(flushed, writes)
    took = f"a write takes {duration(write)}, and {duration(both)} with a flush"
    if flush.low >= CACHED * both:
        finding.cache, finding.cache_why = "on", took
    elif flush.high > UNCACHED * both:
        finding.cache_why = f"{took}: neither alike nor far apart"
    elif write >= MECHANICAL_US:
        finding.cache, finding.cache_why = "off", f"{took}: the flush finds nothing to do"
    elif target.says.rotational:
        finding.cache_why = f"{took}: no disk is that fast, so a flush does not reach the medium"
    else:
        finding.cache_why = f"{took}: a cache that survives a power cut looks the same as none"


def probe(target: Target, area: tuple[int, int] | None, span: int | None, seed: int,
          say: Callable[[str], None]) -> Finding:
    """Search the block of a target.

    area: start and length of what may be written; None: only read, in the first `span` bytes or all
    """
    finding = Finding()
    try:
        if area:
            search(target, area, seed, finding, say)
        elif target.says.rotational:
            raise CannotTell("a disk reads whole tracks into its buffer, so its reads do not show a block; "
                             "writes do: --write START+LENGTH, e.g. 0+1G")
        else:
            by_reads(target, span, seed, finding)
            raise CannotTell("reads show what an SSD reads at once, not what it rewrites; writes do: --write START+LENGTH, "
                             "e.g. 0+1G")
    except CannotTell as reason:
        finding.why = str(reason)
    finding.elapsed_s = target.elapsed_s()
    return finding


def search(target: Target, area: tuple[int, int], seed: int, finding: Finding, say: Callable[[str], None]) -> None:
    """Search the block by writes, and look at the write cache. Raises CannotTell."""
    start, length = area
    if length < LEAST_AREA:
        raise CannotTell(f"an area of {length} bytes may fit into the drive's buffer as a whole; give {LEAST_AREA >> 20}M "
                         "or more")
    # A bridge may know nothing of the disk behind it, for which it would take too long what an SSD has time for.
    first = Requests(target, finding, start, length, seed, True, True).times([Shape(LARGE, 0, SMALL)], FIRST)[0]
    mechanical = median(first) >= MECHANICAL_US
    reason = None
    # A disk's cache hides the writes, an SSD's flush hides what they cost; so the other way round is the second try.
    for flushed in (target.says.rotational, not target.says.rotational):
        try:
            by_writes(target, start, length, seed, finding, mechanical, flushed)
            reason = None
        except CannotTell as why:
            # That of a penalty counts, of which the block is known; else that of the first way.
            reason = why if finding.block else reason or why
            say(f"{finding.method}: {why}")
        if finding.block:
            break
    try:
        write_cache(target, start, length, seed, finding)
    except CannotTell as why:
        finding.cache_why = str(why)
    if reason:
        raise reason
