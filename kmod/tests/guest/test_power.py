# SPDX-License-Identifier: GPL-2.0
"""
Power cuts at any moment, in every mode, and the content of each sector afterwards.

A round makes a device and starts writers on it until the power goes: with a request of the drive, between two, at some
moment, or after the writers have ended. Then the device is removed while there is no power, as if the host had lost it,
too, the drive gets its power back, and every sector is judged by the answers to the writers (rig/power.py). A round's
number determines all of it except the threads' timing:

    DM_ALIGN_POWER_FIRST=17 DM_ALIGN_POWER_CUTS=1 scripts/python -m pytest kmod/tests/guest -k "power_cuts and pad"
"""

import contextlib
import random
import time
from collections import Counter
from typing import NamedTuple

import pytest

from lab.plugins.extent import only_all
from rig.direct import RWF_DSYNC, SECTOR, Disk, Later, pattern
from rig.dm import Align
from rig.power import History
from rig.rig import POWER_CUTS, POWER_FIRST, POWER_LIMIT

pytestmark = pytest.mark.timeout(POWER_LIMIT)

TEARS = ["none", "sector", "block"]

# The phase of a cut. Idle and held: the writers had ended. Between: the drive was idle while the writers went on. Patch:
# the drive had sent a block and was about to get it back. Emptying: the requests in flight belonged to acknowledged writes.
PHASES = ["idle", "between", "pad read", "patch", "write", "held", "emptying", "flush"]
PLAIN = {"idle", "between", "write", "flush"}
PADDING = PLAIN | {"pad read", "patch"}
HOLDING = {"between", "pad read", "write", "emptying", "flush"}

# Options of the table line, None for the drive itself; and the phases that enough cuts reach.
MODES = {
    "raw": (None, PLAIN),
    "report": ({"mode": "report"}, PLAIN),
    "pad": ({"mode": "pad"}, PADDING),
    "pad in two blocks": ({"mode": "pad", "max_blocks": 2}, PADDING),
    "coalesce": ({"mode": "coalesce", "hold_ms": 60000}, HOLDING | {"held"}),
    "coalesce for 3 ms": ({"mode": "coalesce", "hold_ms": 3}, HOLDING | {"idle"}),
    "coalesce in four blocks": ({"mode": "coalesce", "hold_ms": 60000, "max_blocks": 4}, HOLDING | {"held"}),
    "pad of smaller blocks": ({"mode": "pad", "logical_block_size": 512}, PADDING),
    "coalesce of smaller blocks": ({"mode": "coalesce", "hold_ms": 60000, "logical_block_size": 512}, HOLDING | {"held"}),
}
# Most cuts of one mode.
ENOUGH = 140


class Shape(NamedTuple):
    """A drive, the geometry of its blocks, and the sectors of the device on it; no thread writes to other sectors."""

    drive: str
    block: int
    boundary: int
    start: int
    length: int
    total: int
    options: dict


SHAPES = [
    Shape("power4096", block=8, boundary=0, start=8, length=160, total=176, options={}),
    # The first block and the last one are edges.
    Shape("power16384", block=32, boundary=1, start=5, length=500, total=544,
          options={"physical_block_size": 16384, "alignment_offset": 512}),
]
# For the modes that offer smaller logical blocks than the drive has.
LARGER = [Shape("power4096n", block=8, boundary=0, start=8, length=160, total=176, options={})]


# ---- the writers ----

def extent(choose, shape):
    """Return first sector and length of a random write, in the drive's sectors, inside the device."""
    block = shape.block
    head, tail = choose.choice([(True, False), (False, True), (True, True), (False, False), (None, None)])
    if head is None:		# inside one block
        inside = choose.randrange(block)
        sectors = choose.randint(1, max(1, min(block - inside, block - 1)))
    else:
        inside = choose.randrange(1, block) if head else 0
        sectors = (block - inside if head else 0) + choose.choice([0, 0, 1, 2]) * block
        sectors += choose.randrange(1, block) if tail else 0
    first = choose.randint(0, shape.length // block) * block + shape.boundary + inside
    first = min(max(first, shape.start), shape.start + shape.length - 1)
    return first, min(max(sectors, 1), shape.start + shape.length - first)


def places(choose, shape):
    """Yield the writes of one thread: a stream, a few blocks again and again, or anywhere."""
    manner = choose.choice(["stream", "hot", "anywhere", "anywhere"])
    if manner == "stream":
        at, sectors = extent(choose, shape)
        while True:
            end = shape.start + shape.length
            if at >= end:
                at = shape.start
            yield at, min(sectors, end - at)
            at += sectors
    hot = [extent(choose, shape) for _ in range(3)]
    while True:
        yield choose.choice(hot) if manner == "hot" else extent(choose, shape)


def answered(history, sent, call, *args):
    """Make a request and record its success in the history; return whether it succeeded. Raises any error but EIO."""
    try:
        call(*args)
    except OSError as error:
        assert error.errno == 5, error
        return False
    history.acknowledged(*sent)
    return True


def flush_once(disk, history):
    return answered(history, [history.flush()], disk.flush)


def write_on(disk, history, shape, offset, choose, tags):
    """Write and flush, as one thread, until its share is done or the power goes; return the number of successful flushes."""
    flush_chance, fua_chance = choose.choice([0, 0.2, 0.5]), choose.choice([0, 0, 0.2])
    place = places(choose, shape)
    flushes = 0
    for tag in tags:
        sector, sectors = next(place)
        data, skew = pattern(tag, sector, sectors), choose.choice([0, 512])
        fua, flush = choose.random() < fua_chance, choose.random() < flush_chance
        sent = [history.write(sector, data, fua)]
        if fua:		# the kernel flushes the device after such a write
            sent.append(history.flush())
        if not answered(history, sent, disk.write, sector - offset, data, skew, RWF_DSYNC if fua else 0) or \
                flush and not flush_once(disk, history):
            return flushes
        flushes += fua + flush
    return flushes


# ---- the cuts ----

def read_all(disk, shape):
    """Return the content of each sector, None if it cannot be read."""
    found = []
    try:
        data = disk.read(0, shape.total)
        return [data[at:at + SECTOR] for at in range(0, len(data), SECTOR)]
    except OSError:
        pass
    while len(found) < shape.total:
        ahead = (shape.boundary - len(found)) % shape.block or shape.block
        sectors = min(ahead, shape.total - len(found))
        try:
            data = disk.read(len(found), sectors)
            found += [data[at:at + SECTOR] for at in range(0, len(data), SECTOR)]
        except OSError:
            found += [None] * sectors
    return found


def make_readable(disk, shape, found):
    """Overwrite unreadable sectors; return the content of each sector."""
    bad = [sector for sector, content in enumerate(found) if content is None]
    for sector in bad:
        block = (sector - shape.boundary) // shape.block
        first = max(block * shape.block + shape.boundary, 0)
        if sector == first:
            disk.write(first, bytes(((block + 1) * shape.block + shape.boundary - first) * SECTOR))
        found[sector] = bytes(SECTOR)
    if bad:
        disk.flush()
    return found


def phase_of(drive, history, mode, quiet, held):
    """Return the phase of the cut, from the drive's requests and from writes without an answer."""
    newest = (drive.under_way_at_cut() or [None])[-1]
    if newest is None and quiet:
        return "held" if held else "idle"
    ended = newest is None
    if ended:
        log = drive.log()
        newest = log[-1] if log else None
        if not newest or newest.op != "R":
            return "between"
    if newest.op == "F":
        return "flush"
    first, last = (history.block_of(sector) for sector in (newest.sector, newest.sector + newest.sectors - 1))
    if mode and not history.unfinished(range(history.sectors_of(first).start, history.sectors_of(last).stop)):
        return "emptying"
    if newest.op == "R":
        return "patch" if ended else "pad read"
    return "write"


class Round(NamedTuple):
    phase: str
    flushes: int
    damaged: int
    wrong: list


def cut_round(drive, lower, shape, options, number, before):
    """Make one cut; return (its Round, the content of each sector afterwards)."""
    choose = random.Random(f"{shape.drive} {options} {number}")
    mode = options and options["mode"]
    tear = TEARS[number % len(TEARS)]
    history = History(before, shape.block, shape.boundary)
    how = choose.choice(["at", "at", "at", "after", "after", "now", "flush", "quiet"])
    fate = {"tear": tear, "seed": number}
    threads = choose.choice([1, 1, 2, 4])
    share = choose.randint(3, 12)
    with contextlib.ExitStack() as stack:
        if options:
            device = stack.enter_context(Align(drive.path, shape.start, shape.length, **options, **shape.options))
            upper, offset = stack.enter_context(Disk(device.path)), shape.start
        else:
            upper, offset = lower, 0
        drive.reset()
        if how in ("at", "after"):
            drive.cut_power(**{how: int(2 ** choose.uniform(0, 4.3))}, **fate)
        writers = [Later(write_on, upper, history, shape, offset, random.Random(choose.random()),
                         range(base, base + share))
                   for base in range(1000 * (number + 1), 1000 * (number + 1) + 100 * threads, 100)]
        if how == "now":
            time.sleep(choose.uniform(0, 0.05))
            drive.cut_power(**fate)
        flushes = sum(writer.result() for writer in writers)
        if how == "flush":
            # with the flush itself, or with a request that empties for it
            drive.cut_power(at=choose.randint(1, 4) if mode == "coalesce" else 1, **fate)
            flushes += flush_once(upper, history)
        quiet = drive.stats()["power"] == "on"
        held = quiet and mode == "coalesce" and device.counter("held_blocks") > 0
        if quiet:
            assert all(sent.ended is not None for sent in history.writes + history.flushes), \
                f"cut {number}: a request failed while there was power"
            drive.power_on()		# cancels a cut that did not happen
            drive.cut_power(**fate)
        phase = phase_of(drive, history, mode, quiet, held)
    # Only after the removal of the device, which sends no more requests.
    drive.power_on()
    found = read_all(lower, shape)
    wrong = history.judge(found, tear, early=mode == "coalesce")
    damaged = len({history.block_of(sector) for sector, content in enumerate(found) if content is None})
    return Round(phase, flushes, damaged, wrong), make_readable(lower, shape, found)


@pytest.mark.two_processors
@pytest.mark.parametrize("name", MODES)
def test_power_cuts_leave_each_sector_as_it_may_be(rig, name):
    (options, expected), cuts = MODES[name], -(-POWER_CUTS // len(MODES))
    mode = options and options["mode"]
    shapes = LARGER if options and "logical_block_size" in options else SHAPES
    phases, flushes, damaged = Counter(), 0, 0
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        drives = [rig.drive(shape.drive) for shape in shapes]
        lowers = [stack.enter_context(Disk(drive.path)) for drive in drives]
        contents = []
        for lower, shape in zip(lowers, shapes):
            lower.write(0, pattern(1, 0, shape.total))
            lower.flush()
            contents.append(read_all(lower, shape))
        for number in range(POWER_FIRST, POWER_FIRST + cuts):
            which = number // len(TEARS) % len(shapes)
            done, contents[which] = cut_round(drives[which], lowers[which], shapes[which], options, number,
                                              contents[which])
            assert not done.wrong, "\n".join([
                f"{name}: cut {number} ({done.phase}) on {shapes[which].drive}, tear={TEARS[number % len(TEARS)]}: "
                f"{len(done.wrong)} wrong; again with DM_ALIGN_POWER_FIRST={number}", *done.wrong[:20]])
            phases[done.phase] += 1
            flushes += done.flushes
            damaged += done.damaged
    print(f"power cuts: {name:24} {cuts:5} cuts on {rig.where}: "
          + ", ".join(f"{phase} {phases[phase]}" for phase in PHASES)
          + f"; {damaged} blocks damaged; {flushes} flushes succeeded; {time.monotonic() - began:.1f} s")
    assert mode == "coalesce" or not phases["emptying"], "a block was written after its acknowledgement"
    if cuts >= ENOUGH:
        missed = expected - set(phases)
        assert not missed, f"{cuts} cuts, and none in {', '.join(missed)}"
        assert flushes > cuts and damaged > 0, "the writers or the cuts prove nothing"


# ---- the same writes, raw and through the target ----

def damaged_by(drive, lower, shape, options, writes, at, seed):
    """
    Send the writes one at a time and then a flush, and cut the power at a request of the drive. Return (the number of the
    first failed one, the flush being the last, or None; the blocks that cannot be read).
    """
    failed = None
    with contextlib.ExitStack() as stack:
        upper, offset = lower, 0
        if options:
            device = stack.enter_context(Align(drive.path, shape.start, shape.length, **options, **shape.options))
            upper, offset = stack.enter_context(Disk(device.path)), shape.start
        drive.cut_power(at=at, tear="block", seed=seed)
        try:
            for number, (sector, sectors) in enumerate(writes):
                failed = number
                upper.write(sector - offset, pattern(2, sector, sectors))
            failed = len(writes)
            upper.flush()
            failed = None
        except OSError as error:
            assert error.errno == 5, error
    drive.power_on()
    found = read_all(lower, shape)
    make_readable(lower, shape, list(found))
    return failed, {(sector - shape.boundary) // shape.block for sector, content in enumerate(found) if content is None}


@pytest.mark.parametrize("mode", [only_all("report makes no request of its own", "report"), "pad", "coalesce"])
def test_a_power_cut_damages_no_block_that_it_would_not_have_damaged_without_the_target(rig, mode):
    """
    The drive gives a block the same fate at every cut. So the damage of a cut at any request through the target must be a
    part of the damage without it at the same write or, where writes are acknowledged early, at the flush.
    """
    shape, cuts, damaged = SHAPES[0], 0, 0
    drive = rig.drive(shape.drive)
    with Disk(drive.path) as lower:
        for seed in range(POWER_FIRST, POWER_FIRST + 1 + POWER_CUTS // 500):
            choose = random.Random(seed)
            writes = [extent(choose, shape) for _ in range(8)]
            raw = [damaged_by(drive, lower, shape, None, writes, at, seed) for at in range(1, len(writes) + 2)]
            assert [failed for failed, _ in raw] == list(range(len(writes) + 1))
            for at in range(1, 100):
                failed, blocks = damaged_by(drive, lower, shape, {"mode": mode}, writes, at, seed)
                if failed is None:
                    break
                would = raw[-1 if mode == "coalesce" else failed][1]
                assert blocks <= would, \
                    f"seed {seed}, cut at request {at} of the drive, during {failed} of {writes}: " \
                    f"blocks {sorted(blocks)} are damaged, without the target {sorted(would)}"
                cuts, damaged = cuts + 1, damaged + len(blocks)
    print(f"power cuts: {mode + ' beside raw':24} {cuts:5} cuts on {rig.where}: {damaged} blocks damaged, "
          "none that raw keeps")
    assert damaged > 0, "no block was damaged: the test proves nothing"
