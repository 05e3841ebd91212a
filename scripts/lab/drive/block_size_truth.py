# SPDX-License-Identifier: GPL-2.0
"""The truth about the drive models, and what block-size finds of it.

`python -m lab.drive.block_size_truth [RUNS] [--document]` prints the table.
A run knows nothing of the parameters: it sends requests to a drive on a virtual clock, and times them.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from align_reports.probe import block_size
from align_reports.probe.block_size import Block, Finding

from . import documents
from .target import ClockTarget

AREA = (0, 1 << 30)
SIZE = "4G"
# Percent.
NOISE = 10
# Shares: of runs that may not tell, and by which a penalty may be off.
FEW, PENALTY = 0.05, 0.1


def turn_us(rpm: int) -> float:
    """Return what a part of a block costs a disk: it reads, and comes by again a revolution later."""
    return 60e6 / rpm


class Truth(NamedTuple):
    """A model's parameters that a run must find. penalty: of a part of a block, microseconds; cache: as Finding has it"""

    profile: str
    block: Block
    penalty: float
    cache: str
    parameters: tuple[tuple[str, object], ...] = ()

    def __str__(self) -> str:
        return " ".join([self.profile, *(f"{name}={value}" for name, value in self.parameters)])


# An SSD reads a page first: page_read_ns of its profile.
PROFILES = [
    Truth("st1000dm003", Block(4096, 0), turn_us(7200), "on"), Truth("hdd-nocache", Block(4096, 0), turn_us(7200), "off"),
    Truth("hdd7200", Block(4096, 0), turn_us(7200), "on"), Truth("hdd5400", Block(4096, 0), turn_us(5400), "on"),
    Truth("hdd5400", Block(4096, 0), turn_us(5400), "off", (("cache", "off"),)),
    Truth("wd20ears", Block(4096, 0), turn_us(5400), "on"), Truth("usb-liar", Block(4096, 3584), turn_us(5400), "on"),
    Truth("nvme-512e", Block(4096, 0), 115, "on"), Truth("qlc-16k", Block(16384, 0), 120, "on"),
    Truth("qlc-64k", Block(65536, 0), 120, "on")]
BLOCKS = [Block(1024, 512), Block(2048, 1024), Block(4096, 0), Block(4096, 3584), Block(8192, 512), Block(16384, 0),
          Block(16384, 5120), Block(65536, 4096), Block(65536, 65024)]
# Each profile with blocks that it does not have by itself.
OTHERS = [truth._replace(block=block, parameters=(*truth.parameters, ("physical", block.bytes), ("alignment", block.offset)))
          for truth in PROFILES for block in BLOCKS if block != truth.block]


def search(truth: Truth, seed: int, noise: int = NOISE) -> Finding:
    """Search the block of a model."""
    with ClockTarget(profile=truth.profile, size=SIZE, noise=noise, seed=seed, **dict(truth.parameters)) as target:
        return block_size.probe(target, AREA, None, seed, lambda words: None)


class Row(NamedTuple):
    """What the runs on one model have found: how far their penalties are from the truth, how many intervals hold it."""

    truth: Truth
    right: int
    cannot_tell: int
    wrong: list[Block]
    deviations: list[float]
    held: int
    caches: Counter[str | None]
    longest_s: float

    def __str__(self) -> str:
        worst = max(self.deviations, key=abs, default=0.0)
        caches = " ".join(f"{cache or 'cannot tell'} {count}" for cache, count in self.caches.most_common())
        truth = self.truth
        return (f"{truth!s:46} {truth.block.bytes:6} +{truth.block.offset:<6} {self.right:5} {self.cannot_tell:6} "
                f"{len(self.wrong):5}  {truth.penalty / 1000:7.3f} ms {worst:+6.1%} {self.held:5}  {self.longest_s:6.1f} s  "
                f"{caches}")


HEADING = (f"{'profile':46} {'block':>6}  {'offset':6} {'right':>5} {'cannot':>6} {'wrong':>5}  {'penalty':>10} {'worst':>6} "
           f"{'held':>5}  {'longest':>8}  write cache")


def look(truth: Truth, seeds: Iterable[int], noise: int = NOISE) -> Row:
    """Search the block of a model once for each seed."""
    found = [search(truth, seed, noise) for seed in seeds]
    right = [finding for finding in found if finding.block == truth.block]
    return Row(truth, len(right), sum(finding.block is None for finding in found),
               [finding.block for finding in found if finding.block and finding.block != truth.block],
               [finding.penalty.value / truth.penalty - 1 for finding in right if finding.penalty],
               sum(finding.penalty.low <= truth.penalty <= finding.penalty.high for finding in right if finding.penalty),
               Counter(finding.cache for finding in found), max(finding.elapsed_s for finding in found))


def holds(row: Row) -> bool:
    """Check that no block was wrong, few were not told, and each penalty was near the truth."""
    runs = row.right + row.cannot_tell + len(row.wrong)
    return not row.wrong and row.cannot_tell <= runs * FEW and all(abs(each) <= PENALTY for each in row.deviations)


def main(argv: Sequence[str]) -> int:
    """
    Print the table of all profiles, as often as asked for with noise, and of other blocks once, with --document what the
    profiles had into the document, too; return the exit status.
    """
    parser = documents.parser(__doc__)
    parser.add_argument("runs", nargs="?", type=int, default=1, help="runs of each profile (1)")
    arguments = parser.parse_args(argv)
    runs = arguments.runs
    lines = [HEADING]
    print(HEADING)
    status = 0
    for truth, seeds in [*((truth, range(runs)) for truth in PROFILES), *((truth, range(runs, runs + 1)) for truth in OTHERS)]:
        row = look(truth, seeds)
        lines.append(f"{row}{'' if holds(row) else '  FAILED'}")
        print(lines[-1], flush=True)
        status |= not holds(row)
    if arguments.document:
        documents.write(documents.PROBE, "block_size_truth", "\n".join(lines[:1 + len(PROFILES)]))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
