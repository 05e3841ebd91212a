# SPDX-License-Identifier: GPL-2.0
"""What is published of the sets of Alibaba and Tencent, and what is assumed where no figure was to be had.

Published:
  - https://github.com/alibaba/block-traces: 1000 disks, January 2020, 751 GB of text, times of the server in microseconds;
  - https://iotta.snia.org/traces/parallel/27917, README: 5584 volumes, ten days from 1 October 2018, times in seconds, sectors;
  - https://github.com/cacheMon/cache_dataset, "Dataset summary": requests and bytes of both, of the volumes that it keeps: 652
    of Alibaba's over 30 days, 4030 of Tencent's over 8 days. Mean length and rate follow from these;
  - J. Li, Q. Wang, P. Lee, C. Shi: An In-Depth Analysis of Cloud Block Storage Workloads in Large-Scale Production, IISWC 2020,
    which is about Alibaba's set: disks of 40 GB to 5 TB. Its figures of lengths, writes and skew could not be looked up here.

Assumed, for both: the share of writes, the lengths about their published mean, the alignment, the skew over volumes, the share
of sequential requests, and that requests arrive independently of each other, while real ones come in bursts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

SECTOR = 512
BLOCK = 4096
GB = 10**9
TB = 10**12
DAY_S = 86400

# Assumed.
WRITES = 0.75
SEQUENTIAL = 0.3
# Of all requests: those whose length is a number of sectors and of no blocks.
ODD = 0.06
ODD_SECTORS = (1, 2, 3, 5, 7, 9, 13)
# Of all volumes: those whose partition begins at sector 63, as old systems made them.
SHIFTED = 0.1
SHIFT_SECTORS = 63
# Requests of a volume go with its rank to the power of minus this.
SKEW = 1.0
# Blocks of a request and their weights; LONGEST gets the weight that makes the mean length the published one.
BLOCKS = ((1, 0.55), (2, 0.12), (3, 0.04), (4, 0.1), (8, 0.06), (16, 0.06), (32, 0.04), (64, 0.02))
LONGEST_BLOCKS = 128


@dataclass(frozen=True)
class Request:
    """A request of a volume, in nanoseconds since 1970 and bytes."""

    volume: int
    ns: int
    write: bool
    offset: int
    length: int


@dataclass(frozen=True)
class Shape:
    """A published set.

    volumes: number of all; start_s: begin, since 1970; requests, bytes, days, kept: what is published of so many volumes of it;
    smallest, largest: of a volume; line: a request as the set has it
    """

    volumes: int
    start_s: int
    requests: int
    bytes: int
    days: int
    kept: int
    smallest: int
    largest: int
    line: Callable[[Request], str]

    @property
    def mean_length(self) -> float:
        return self.bytes / self.requests

    @property
    def rate(self) -> float:
        """Return the requests in a second to the volumes that are published."""
        return self.requests / (self.days * DAY_S)

    def lengths(self) -> list[tuple[int, float]]:
        """Return lengths in bytes and their shares, which have the published mean."""
        odd = [(sectors * SECTOR, ODD / len(ODD_SECTORS)) for sectors in ODD_SECTORS]
        whole = sum(weight for _, weight in BLOCKS)
        usual = sum(blocks * BLOCK * weight for blocks, weight in BLOCKS) / whole
        wanted = (self.mean_length - sum(length * share for length, share in odd)) / (1 - ODD)
        longest = (wanted - usual) / (LONGEST_BLOCKS * BLOCK - usual)
        return [*odd, *((blocks * BLOCK, (1 - ODD) * (1 - longest) * weight / whole) for blocks, weight in BLOCKS),
                (LONGEST_BLOCKS * BLOCK, (1 - ODD) * longest)]


def _alibaba(r: Request) -> str:
    return f"{r.volume},{'W' if r.write else 'R'},{r.offset},{r.length},{r.ns // 1000}\n"


def _tencent(r: Request) -> str:
    return f"{r.ns // 10**9},{r.offset // SECTOR},{r.length // SECTOR},{r.write:d},{r.volume}\n"


SHAPES = {
    "alibaba": Shape(1000, 1577808000, 19676 * 10**6, 664 * TB, 30, 652, 40 * GB, 5 * TB, _alibaba),
    # no size of a volume is published: as Alibaba's
    "tencent": Shape(5584, 1538323200, 33690 * 10**6, 1091 * TB, 8, 4030, 40 * GB, 5 * TB, _tencent),
}
