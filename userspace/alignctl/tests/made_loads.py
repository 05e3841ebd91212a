# SPDX-License-Identifier: GPL-2.0
"""Loads made up of writes whose cause is known: each yields (offset, bytes, name of the process)."""

import itertools

from audited import MIB, SECTOR

SPAN = 32 * MIB


def whole(rng, block, comm="postgres"):
    """Aligned writes of whole blocks: most at random, some one after another."""
    at = 0
    while True:
        at = rng.randrange(SPAN // block - 64) * block if rng.random() < 0.7 else at
        length = rng.choice([1, 1, 2, 4, 16, 64]) * block
        yield at, length, comm
        at = (at + length) % (SPAN - 64 * block)


def shifted(rng, block):
    """A file system's writes in a partition that begins inside a block."""
    into = rng.randrange(1, block // SECTOR) * SECTOR
    for (at, length, _), comm in zip(whole(rng, block), itertools.cycle(["kworker/u8:1", "jbd2/sda1-8", "cp"])):
        yield at + into, length, comm


def redo(rng, block):
    """A redo log on an aligned partition: records of any number of sectors, one after another, around its file."""
    begin, size = rng.randrange(4) * 4 * MIB, rng.choice([1, 4]) * MIB
    fixed = rng.choice([None, None, 1, 3, 9, 65])
    at = 0
    while True:
        length = (fixed or rng.randrange(1, rng.choice([4, 16, 80]))) * SECTOR
        if at + length > size:
            at = 0
        yield begin + at, length, "lgwr"
        at += length


def rewriting(rng, block):
    """A log that writes its last sector again if that was not full."""
    at = 0
    while True:
        length = rng.randrange(1, 20) * SECTOR
        yield 8 * MIB + at, length, "mysqld"
        at += length - (SECTOR if rng.random() < 0.8 and length > SECTOR else 0)
        at %= 4 * MIB


def small(rng, block):
    """Pages of a database that are smaller than a block."""
    page = rng.choice([size for size in (512, 1024, 2048) if size < block])
    pages = rng.choice([400, 5000, SPAN // page])
    while True:
        yield rng.randrange(pages) * page, page, "dbwr"


def xfs_log(rng, block):
    """XFS with sectors of 512 bytes: its log, and headers of allocation groups."""
    at = 0
    while True:
        if rng.random() < 0.3:
            yield rng.randrange(4) * 8 * MIB + rng.randrange(1, 4) * SECTOR, SECTOR, "xfsaild/sda"
            continue
        length = rng.randrange(1, 64) * SECTOR
        yield 16 * MIB + at, length, "kworker/1:1H"
        at = (at + length) % (2 * MIB)


def cut(rng, block, largest):
    """Writes of 2 MiB, cut at the largest request."""
    while True:
        at = rng.randrange(14) * 2 * MIB
        for piece in range(0, 2 * MIB, largest):
            yield at + piece, min(largest, 2 * MIB - piece), "dd"


def loads(rng, block, kind, largest):
    return {"shift": lambda: shifted(rng, block), "stream": lambda: rng.choice([redo, redo, rewriting])(rng, block),
            "random": lambda: small(rng, block), "fs-sector": lambda: xfs_log(rng, block),
            "split": lambda: cut(rng, block, largest), "none": lambda: whole(rng, block)}[kind]()
