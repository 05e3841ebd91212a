# SPDX-License-Identifier: GPL-2.0
"""Loads made up of writes whose cause is known: each yields (offset, bytes, name of the process)."""

import csv
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


def sectors_again(rng, block, most=11):
    """A log of one sector a record, which writes each again, up to @most times, until it is full, as InnoDB does."""
    begin, size = rng.randrange(4) * 4 * MIB, rng.choice([4, 16, 2048]) * block
    for at in itertools.cycle(range(0, size, SECTOR)):
        for _ in range(rng.randrange(2, most + 1)):
            yield begin + at, SECTOR, "mysqld"


def growing(rng, block, longest):
    """A log that begins each write at the start of its last block: records of up to @longest bytes come to its end."""
    begin, end, unit = rng.randrange(4) * 4 * MIB, 0, SECTOR
    while True:
        first = end // block * block
        end += rng.randrange(1, longest // unit + 1) * unit
        yield begin + first, end - first, "walwriter"
        end %= 4 * MIB


def in_two(rng, block, *parts):
    """A log that writes each block in two writes: @parts are (start, end) of each, in eighths of a block."""
    begin, eighth = rng.randrange(4) * 4 * MIB, block // 8
    for at in itertools.cycle(range(0, 4 * MIB, block)):
        for start, end in parts:
            yield begin + at + start * eighth, (end - start) * eighth, "walwriter"


def superblocks(rng, block, blocks):
    """A sector at the same place of each of some blocks, written in turn."""
    places = [(rng.randrange(SPAN // block // blocks) + number * (SPAN // block // blocks)) * block
              + rng.randrange(block // SECTOR) * SECTOR for number in range(blocks)]
    for at in itertools.cycle(places):
        yield at, SECTOR, "mdadm"


def two_headers(rng, block):
    """Two sectors of one block, written in turn, as the checkpoints of a log are."""
    first, second = rng.sample(range(0, block // SECTOR, 2), 2)
    for at in itertools.cycle([first, second]):
        yield 4 * MIB + at * SECTOR, SECTOR, "mysqld"


def records(rng, block, begin, size, comm="lgwr"):
    """Records of less than a block, one after another, around a file of @size bytes."""
    at = 0
    longest = rng.choice([1, 2, 3, 7])
    while True:
        length = rng.randrange(1, longest + 1) * SECTOR
        if at + length > size:
            at = 0
        yield begin + at, length, comm
        at += length


def in_turn(*loads_):
    for each in zip(*loads_):
        yield from each


def pages(rng, block, blocks, again=0.0):
    """Pages below a block, at random in @blocks blocks; the share @again of them twice."""
    page = rng.choice([size for size in (512, 1024, 2048) if size < block])
    while True:
        at = rng.randrange(blocks * block // page) * page
        for _ in range(1 + (rng.random() < again)):
            yield at, page, "dbwr"


def made_durable(load, flush=0, fua=False):
    """The rows of a table of @load, with a flush behind each write that is the @flush-th, or each with FUA."""
    for number, (at, length, comm) in enumerate(load, 1):
        yield "write", at, length, comm, "fua" if fua else ""
        if flush and number % flush == 0:
            yield "flush", "", "", comm, ""


def write_trace(path, rows, us):
    """Write a table, with @us microseconds from a request to the next, or without times."""
    with open(path, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["op", "offset", "bytes", "comm", "flags", *(["time_us"] if us else [])])
        table.writerows((*row, *([number * us] if us else [])) for number, row in enumerate(rows))
    return path


def one_sector_a_block(rng, block, blocks):
    """Random among @blocks blocks, in each of which the same sector is written: the worst case of chance."""
    places = [number * block + rng.randrange(block // SECTOR) * SECTOR for number in range(blocks)]
    while True:
        yield rng.choice(places), SECTOR, "dbwr"


# The cause of each sequence, whether it is flushed or not: {what is written: (cause, load)}.
ORACLE = {
    "a sequential stream of small records": ("stream", lambda rng, block: records(rng, block, 0, 4 * MIB)),
    "two streams of a process in turn": ("stream", lambda rng, block: in_turn(
        records(rng, block, 0, 4 * MIB), records(rng, block, 8 * MIB, 4 * MIB))),
    "two streams of two processes in turn": ("stream", lambda rng, block: in_turn(
        records(rng, block, 0, 4 * MIB, "lgwr"), records(rng, block, 8 * MIB, 4 * MIB, "mysqld"))),
    "a circular log of a few blocks": ("stream", lambda rng, block: records(
        rng, block, 8 * MIB, rng.choice([4, 6, 8, 16, 64]) * block)),
    "a log that begins with its last block, long records": ("stream", lambda rng, block: growing(rng, block, 16 * block)),
    "a log that begins with its last block, half a block": ("stream", lambda rng, block: in_two(
        rng, block, (0, 4), (0, 8))),
    "a log that writes its last sectors again when it completes a block": ("stream", lambda rng, block: in_two(
        rng, block, (0, 6), (4, 8))),
    "a log that begins with its last block, short records": ("rewrite", lambda rng, block: growing(
        rng, block, max(SECTOR, block // rng.choice([6, 8, 16])))),
    "log sectors that are written again": ("rewrite", sectors_again),
    "log sectors that are written twice": ("rewrite", lambda rng, block: sectors_again(rng, block, 2)),
    "two such logs in turn": ("rewrite", lambda rng, block: in_turn(sectors_again(rng, block), (
        (SPAN // 2 + at, length, "mariadbd") for at, length, _ in sectors_again(rng, block)))),
    "a superblock": ("rewrite", lambda rng, block: superblocks(rng, block, 1)),
    "a few superblocks in turn": ("rewrite", lambda rng, block: superblocks(rng, block, rng.randrange(2, 9))),
    "two headers in a block": ("rewrite", two_headers),
    "pages at random": ("random", lambda rng, block: pages(rng, block, SPAN // block)),
    "pages at random, in a small file": ("random", lambda rng, block: pages(rng, block, rng.choice([128, 400]))),
    "pages at random, some twice in a row": ("random", lambda rng, block: pages(
        rng, block, SPAN // block, again=rng.choice([0.05, 0.1]))),
}


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
