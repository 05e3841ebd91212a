# SPDX-License-Identifier: GPL-2.0
"""The requests of a synthetic set, one by one: memory goes with the number of volumes, not with that of requests.

Only random() is asked of the generator of numbers, whose sequence for a seed is the same in every version of Python.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator
from random import Random

from .shape import BLOCK, SECTOR, SEQUENTIAL, SHIFT_SECTORS, SHIFTED, SKEW, WRITES, Request, Shape

ORDERS = ("time", "volume", "any")
# The part of a volume to which most random requests go, and their share.
HOT_PART, HOT = 0.2, 0.8


def _running(shares: Iterable[float]) -> list[float]:
    """Return running sums that end with 1, for a choice by a number below 1."""
    sums = list(itertools.accumulate(shares))
    return [each / sums[-1] for each in sums[:-1]] + [1.0]


class Volumes:
    """What is kept of the volumes: their weights, size, shift, and where each one's last request ended."""

    def __init__(self, shape: Shape, number: int, chance: Random) -> None:
        ranks = sorted(range(number), key=lambda _: chance.random())
        self.shares = [(rank + 1) ** -SKEW for rank in ranks]
        self.running = _running(self.shares)
        span = math.log(shape.largest / shape.smallest)
        self.blocks = [int(shape.smallest * math.exp(span * chance.random())) // BLOCK for _ in range(number)]
        self.shift = [SHIFT_SECTORS * SECTOR if chance.random() < SHIFTED else 0 for _ in range(number)]
        # nothing lies behind it: the first request is no sequential one
        self.end = [blocks * BLOCK for blocks in self.blocks]

    def place(self, volume: int, length: int, chance: Random) -> int:
        """Return the byte at which a request begins: behind the last one, or on a block of the volume's file systems."""
        blocks, shift = self.blocks[volume], self.shift[volume]
        most = blocks * BLOCK - shift - length
        if chance.random() < SEQUENTIAL and self.end[volume] <= most:
            start = self.end[volume]
        else:
            part = HOT_PART if chance.random() < HOT else 1.0
            start = min(int(chance.random() * part * blocks) * BLOCK, most // BLOCK * BLOCK)
        self.end[volume] = start + length
        return start + shift


def _times(order: str, rows: int, span_ns: float, chance: Random) -> Iterator[int]:
    """Return when requests arrive, since the start: one behind the other, or each at any time."""
    now = 0.0
    for _ in range(rows):
        if order == "any":
            yield int(chance.random() * span_ns)
        else:
            now += -math.log(1.0 - chance.random()) * span_ns / rows
            yield int(now)


def _of_each(rows: int, shares: list[float]) -> Iterator[tuple[int, int]]:
    """Divide the rows among the volumes by their shares: (volume, rows)."""
    whole, given, before = sum(shares), 0.0, 0
    for volume, share in enumerate(shares):
        given += share
        now = round(rows * given / whole)
        yield volume, now - before
        before = now


def requests(shape: Shape, rows: int, *, seed: int = 1, order: str = "time", volumes: int | None = None) -> Iterator[Request]:
    """Return the requests of a set. order: by time, as a server sees them; volume by volume; or any order."""
    chance = Random(seed)
    of = Volumes(shape, volumes or shape.volumes, chance)
    lengths, shares = zip(*shape.lengths(), strict=True)
    running = _running(shares)
    span_ns = rows / shape.rate * 1e9
    if order == "volume":
        arrivals: Iterator[tuple[int, int]] = ((volume, ns) for volume, part in _of_each(rows, of.shares)
                                               for ns in _times(order, part, span_ns, chance))
    else:
        arrivals = ((bisect.bisect(of.running, chance.random()), ns) for ns in _times(order, rows, span_ns, chance))
    for volume, ns in arrivals:
        length = lengths[bisect.bisect(running, chance.random())]
        write = chance.random() < WRITES
        yield Request(volume, shape.start_s * 10**9 + ns, write, of.place(volume, length, chance), length)
