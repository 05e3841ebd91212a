# SPDX-License-Identifier: GPL-2.0
"""The truth about the drive models, and what block-size finds of it.

`python -m lab.drive.block_size_truth [RUNS [PROFILE...]] [--document]` prints the table, of these profiles or all.
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
# Name in the document, and columns that the name of a drive takes in the table.
PROGRAM, NAME = "block_size_truth", 46
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
        return (f"{truth!s:{NAME}} {truth.block.bytes:6} +{truth.block.offset:<6} {self.right:5} {self.cannot_tell:6} "
                f"{len(self.wrong):5}  {truth.penalty / 1000:7.3f} ms {worst:+6.1%} {self.held:5}  {self.longest_s:6.1f} s  "
                f"{caches}")


HEADING = (f"{'profile':{NAME}} {'block':>6}  {'offset':6} {'right':>5} {'cannot':>6} {'wrong':>5}  {'penalty':>10} {'worst':>6} "
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


def renewed(old: Sequence[str], rows: dict[str, str]) -> list[str]:
    """Return the document's table with new rows of some profiles. Raises ValueError if its other rows have other columns."""
    if len(rows) < len(PROFILES) and old[:1] != [HEADING]:
        raise ValueError("the columns have changed: renew the rows of all profiles")
    known = {line[:NAME].rstrip(): line for line in old[1:]} | rows
    return [HEADING, *(known[str(truth)] for truth in PROFILES if str(truth) in known)]


def main(argv: Sequence[str]) -> int:
    """
    Print the table, of the profiles asked for or all: as often as asked for with noise, and other blocks once; with --document
    the rows of the profiles' own blocks into the document, too. Return the exit status: 1 if something is wrong.
    """
    parser = documents.parser(__doc__)
    known = list(dict.fromkeys(truth.profile for truth in PROFILES))
    parser.add_argument("runs", nargs="?", type=int, default=1, help="runs of each profile (1)")
    parser.add_argument("profiles", nargs="*", metavar="PROFILE", help=f"only these; of {' '.join(known)}")
    arguments = parser.parse_intermixed_args(argv)
    if unknown := [name for name in arguments.profiles if name not in known]:
        parser.error(f"no such profile: {' '.join(unknown)}; there are {' '.join(known)}")
    runs = arguments.runs
    rows = {}
    print(HEADING)
    status = 0
    for truth, seeds in [*((truth, range(runs)) for truth in PROFILES), *((truth, range(runs, runs + 1)) for truth in OTHERS)]:
        if arguments.profiles and truth.profile not in arguments.profiles:
            continue
        row = look(truth, seeds)
        line = f"{row}{'' if holds(row) else '  FAILED'}"
        print(line, flush=True)
        status |= not holds(row)
        if truth in PROFILES:
            rows[str(truth)] = line
    if arguments.document:
        table = renewed(documents.printed(documents.PROBE, PROGRAM), rows)
        documents.write(documents.PROBE, PROGRAM, "\n".join(table))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
