# SPDX-License-Identifier: GPL-2.0
"""The load, as a program in the guest: aligned and misaligned direct writes at the same time, and what they come to.

    python3 -m lab.dashboard.load DEVICE SECONDS

Three writers: a database writes aligned pages at random, a log appends records of some sectors, and cells of a small table
are changed at random. Each begins its writes in equal intervals, or at once if its last write took longer; so the load is
the same in each mode. The kind of each write and its touches are computed here from its position, with the demo's
arithmetic. Prints totals for each kind as JSON, after a final flush. Uses only the standard library, because the guest has
no virtual environment.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from lab.demo.workloads import Write, touches

SECTOR, BLOCK = 512, 4096
AREA = 64 << 20  # of each writer, one behind the other
LONGEST = 40 * SECTOR
# The device is one that tells the truth, and begins at a boundary.
KINDS = ("aligned", "misaligned")


def pages(numbers: random.Random) -> Iterator[Write]:
    """Yield aligned pages of a database, at random."""
    while True:
        yield numbers.randrange(AREA // BLOCK) * BLOCK, BLOCK


def records(numbers: random.Random) -> Iterator[Write]:
    """Yield records of a log, each directly behind the last one, from the area's begin again at its end."""
    at = 0
    while True:
        length = numbers.randrange(SECTOR, LONGEST + 1, SECTOR)
        if at + length > AREA:
            at = 0
        yield AREA + at, length
        at += length


def cells(numbers: random.Random) -> Iterator[Write]:
    """Yield cells of one sector, at random in a table of some blocks."""
    while True:
        yield 2 * AREA + numbers.randrange(4096) * SECTOR, SECTOR


# Writes a second of each writer: less than the drive can do with touches of its own.
WRITERS = ((pages, 10), (records, 10), (cells, 5))


def account(offset: int, length: int) -> tuple[str, Counter[str]]:
    """Return the kind of a write, and what the ledger should count for it."""
    partial = touches(offset, length, BLOCK)
    blocks = (offset + length - 1) // BLOCK - offset // BLOCK + 1
    return KINDS[bool(partial)], Counter(writes=1, write_bytes=length, write_block_bytes=blocks * BLOCK, rmw_expected=partial)


def write(device: int, series: Iterator[Write], interval: float, until: float, totals: dict[str, Counter[str]]) -> None:
    """Write until the time is up, at least once; add to the totals of this writer."""
    due = time.monotonic()
    with mmap.mmap(-1, LONGEST) as buffer, memoryview(buffer) as view:
        for offset, length in series:
            done = os.pwrite(device, view[:length], offset)
            now = time.monotonic()
            if done != length:
                raise OSError(f"{done} of {length} bytes written at {offset}")
            kind, counted = account(offset, length)
            totals[kind].update(counted)
            due = max(due + interval, now)
            if due >= until:
                break
            time.sleep(due - now)


def main(path: str, seconds: str) -> None:
    totals = [{kind: Counter[str]() for kind in KINDS} for _ in WRITERS]
    device = os.open(path, os.O_RDWR | os.O_DIRECT)
    until = time.monotonic() + float(seconds)
    with ThreadPoolExecutor() as pool:
        for ended in [pool.submit(write, device, series(random.Random(number)), 1 / rate, until, totals[number])
                      for number, (series, rate) in enumerate(WRITERS)]:
            ended.result()
    os.fsync(device)
    os.close(device)
    print(json.dumps({kind: sum((mine[kind] for mine in totals), Counter[str]()) for kind in KINDS}))


if __name__ == "__main__":
    main(*sys.argv[1:])
