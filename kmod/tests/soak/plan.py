# SPDX-License-Identifier: GPL-2.0
"""
The plan of a round of the soak, derived from its seed only: the disk, the table line, the load of sectorstress, and the
changes under load. The same seed gives the same plan on every machine.

    scripts/soak --show SEED
"""

import dataclasses
import random

SECTOR = 512
# Bytes of a region of the engine; blocks of neighbouring regions belong to different shards.
SHARD_REGION = 64 << 20
# Sectors of the longest request that surely arrives at the target as one bio: 256 pages, less partial ones.
MAX_RUN = 1024

PHYSICAL = tuple(512 << shift for shift in range(8))
LOGICAL = (512, 4096)
MODES = ("report", "pad", "coalesce")
HOLD_MS = (1, 5, 50, 500, 60000)
MAX_BLOCKS = (1, 2, 8, 64, 1024)
THREADS = (1, 2, 4, 8, 16, 32)
# The place of the stressed sectors: from the first sector on, somewhere, at a border of shards, up to the last sector.
PLACES = ("start", "middle", "shards", "end")
SUSPENDS = ("flush", "noflush", "skip_lockfs")
MEMORY_FAILS = (2, 25, 75)
# null_blk's ways of completion: (irqmode, completion_nsec).
COMPLETIONS = {"inline": (0, 0), "softirq": (1, 0), "timer 20 us": (2, 20000), "timer 200 us": (2, 200000),
               "timer 1 ms": (2, 1000000)}
NDELAYS = (1, 50000, 500000)
# With 64 a block of 65536 bytes that begins inside a block of the disk may not fit, and pad is refused.
MAX_SECTORS_KB = (128, 256)
# Delays of a read, a write and a flush: reads that overtake writes, and the reverse, find missing ordering.
DELAYS_MS = ((0, 1, 0), (0, 4, 1), (1, 0, 0), (4, 0, 1), (1, 4, 4))

# Changes under load. A reload of linear ends the counters, and another block size has other touches: with either of these
# the expected ledger is unknown.
CHANGES = ("mode", "hold_ms", "max_blocks", "suspend", "reload", "resize", "linear", "geometry", "flush", "reset_stats",
           "drop_failed", "drop_caches", "read_all", "delay")
UNCOUNTED = frozenset(("linear", "geometry"))
# Changes that keep known blocks. With other changes in between, blocks hardly stay known.
KEEPING = ("mode", "hold_ms", "max_blocks", "reset_stats", "read_all", "delay")
STEPS = 60


@dataclasses.dataclass(frozen=True)
class Disk:
    """
    kind: null_blk, scsi_debug or brd
    logical, physical, offset: as the disk reports them, in bytes
    megabytes: size of the disk
    cache: the disk has a volatile write cache
    timing: key of COMPLETIONS for null_blk, of NDELAYS for scsi_debug
    max_kb: max_sectors_kb of the queue, or 0 for the default
    delay: milliseconds that dm-delay adds to a read, a write and a flush, or None without dm-delay
    """
    kind: str
    logical: int
    physical: int
    offset: int
    megabytes: int
    cache: bool
    timing: object
    max_kb: int
    delay: tuple


@dataclasses.dataclass(frozen=True)
class Table:
    """
    start, length: the range, in sectors of the disk
    border: a sector of the mapped device where a second target begins, or 0 for a single one
    told: the line lacks physical and offset, which are the disk's
    max_blocks: 0 for the target's default
    """
    mode: str
    start: int
    length: int
    physical: int
    offset: int
    told: bool
    border: int
    hold_ms: int
    max_blocks: int
    write_cache: bool

    def lines(self, below):
        """Return the table lines on the device `below`."""
        words = ["mode", self.mode, "hold_ms", str(self.hold_ms)]
        if not self.told:
            words += ["physical_block_size", str(self.physical), "alignment_offset", str(self.offset)]
        if self.max_blocks:
            words += ["max_blocks", str(self.max_blocks)]
        if self.write_cache:
            words += ["write_cache", "on"]
        features = f"{len(words)} {' '.join(words)}"
        return [f"{first} {length} align {below} {self.start + first} {features}" for first, length in self._parts()]

    def linear(self, below):
        """Return the lines of linear for the same range."""
        return [f"0 {self.length} linear {below} {self.start}"]

    def _parts(self):
        if not self.border:
            return [(0, self.length)]
        return [(0, self.border), (self.border, self.length - self.border)]

    @property
    def alignment(self):
        """Return the first boundary on the mapped device, in bytes."""
        return (self.offset - self.start * SECTOR) % self.physical


@dataclasses.dataclass(frozen=True)
class Load:
    """Options of sectorstress: sectors, percent and seconds."""
    seconds: int
    threads: int
    offset: int
    region: int
    max_run: int
    reads: int
    zeroes: int
    discard: int
    flush: int
    fua: int
    memory_align: int


@dataclasses.dataclass(frozen=True)
class Plan:
    """
    memory_fails: percentage of failing allocations, of those that may not wait, if the kernel supports it
    steps: changes under load, repeated in order: (name, value or new Table, pause in ms, kind of suspend); the value for
           dm-delay is as in Disk.delay
    """
    seed: int
    disk: Disk
    table: Table
    place: str
    load: Load
    memory_fails: int
    steps: tuple

    @property
    def changes(self):
        return {step[0] for step in self.steps}

    @property
    def counted(self):
        """Return whether sectorstress can predict rmw_expected."""
        return not UNCOUNTED & self.changes


def _chance(rng, percent):
    return rng.randrange(100) < percent


def _derive_disk(rng, physical, offset, logical, told, border):
    # Only scsi_debug supports write-zeroes.
    kinds = ["null_blk", "scsi_debug", "scsi_debug", "brd"]
    if logical != SECTOR:
        kinds.remove("brd")
    if told:
        # The physical blocks of other disks are always as large as logical ones, or as pages.
        kinds = ["scsi_debug"]
    elif border:
        # scsi_debug allocates all of its memory at once.
        kinds = [kind for kind in kinds if kind != "scsi_debug"]
    kind = rng.choice(kinds)
    timing = {"null_blk": rng.choice(tuple(COMPLETIONS)), "scsi_debug": rng.choice(NDELAYS), "brd": None}[kind]
    own = {"null_blk": logical, "scsi_debug": physical if told else rng.choice((logical, 4096)), "brd": 4096}[kind]
    # With equal delays hardly a request overtakes another, and a write across a border must still be in flight when a
    # request for the other side arrives.
    delays = [delay for delay in DELAYS_MS if delay[1]] if border else DELAYS_MS
    delay = rng.choice(delays) if _chance(rng, 75) and not told else None
    return Disk(kind=kind, logical=logical, physical=own, offset=offset if told else 0,
                megabytes=24 if kind == "scsi_debug" else 80, cache=kind != "brd" and _chance(rng, 60), timing=timing,
                # brd has no limit of requests, and Linux 6.1 does not let one set it.
                max_kb=rng.choice(MAX_SECTORS_KB) if kind != "brd" and _chance(rng, 25) else 0, delay=delay)


def _offset(rng, physical, logical):
    return rng.randrange(physical // logical) * logical if _chance(rng, 50) else 0


def _place(rng, place, start, border, blocks, unit, region, whole):
    """
    Return (length of the device, first sector of the region), in sectors. The region is `region` long, the disk `whole`, a
    block `blocks`, a logical block `unit`; two shards meet at `border`.
    """
    def random_units(sectors):
        return rng.randrange(max(1, sectors // unit)) * unit

    if place == "shards":
        return whole - start, border - unit - random_units(region - unit)
    # Add some blocks behind the region, so that the device can shrink.
    room = region + 4 * blocks + random_units(4 * blocks)
    if place == "start":
        return room + random_units(blocks), 0
    offset = random_units(8 * blocks)
    if place == "end":
        return offset + region, offset
    return offset + room, offset


def _derive_load(rng, physical, offset, logical, place, start, whole):
    """Return the load, and the length of the mapped device."""
    unit, blocks = logical // SECTOR, physical // SECTOR
    # A border of shards is a single place: in a large region hardly a request crosses it.
    count = rng.choice((2, 3, 8) if place == "shards" else (2, 3, 8, 32, 128))
    region = max(unit * 4, min(8192, blocks * count))
    # The first block contains the disk's first sector, which may lie in the middle of it.
    border = (SHARD_REGION - -offset % physical) // SECTOR - start
    length, first = _place(rng, place, start, border, blocks, unit, region, whole)
    max_run = max(unit, min(MAX_RUN, region, rng.choice((blocks, 2 * blocks, 4 * blocks, 300, MAX_RUN))))
    return length, Load(
        seconds=rng.choice((2, 3, 4)), offset=first, region=region, max_run=max_run,
        # A single thread never has requests on both sides of a border in flight.
        threads=rng.choice(THREADS[2:] if place == "shards" else THREADS),
        reads=rng.choice((5, 20, 50)), zeroes=rng.choice((0, 3, 15)), discard=rng.choice((0, 3, 15)),
        flush=rng.choice((0, 1, 5)), fua=rng.choice((0, 2, 20)),
        # null_blk with blocks of 4096 bytes does not support a page in two segments.
        memory_align=4096 if logical == 4096 else 512)


def _derive_steps(rng, table, load, disk, modes, changes):
    """Return STEPS changes, each of which allows the next one."""
    steps = []
    others = [size for size in PHYSICAL if size >= disk.logical]
    while len(steps) < STEPS:
        name = rng.choice(changes)
        value = None
        if name == "mode":
            value = rng.choice(modes)
        elif name == "hold_ms":
            value = rng.choice(HOLD_MS)
        elif name == "max_blocks":
            value = rng.choice(MAX_BLOCKS)
        elif name == "delay":
            value = rng.choice(DELAYS_MS)
        elif name in ("reload", "linear"):
            value = dataclasses.replace(table, mode=rng.choice(modes), hold_ms=rng.choice(HOLD_MS),
                                        max_blocks=rng.choice(MAX_BLOCKS))
        elif name == "resize":
            least = max(load.offset + load.region, table.border + disk.logical // SECTOR)
            value = dataclasses.replace(table, mode=rng.choice(modes), length=rng.randrange(
                least, table.length + 1, disk.logical // SECTOR))
        elif name == "geometry":
            physical = rng.choice(others)
            value = dataclasses.replace(table, mode=rng.choice(modes), physical=physical, told=False,
                                        offset=_offset(rng, physical, disk.logical))
        pause = rng.choice((0, 0, 5, 20, 100))
        steps.append((name, value, pause, rng.choice(SUSPENDS)))
        if name == "geometry":
            # Return to the table for which the next step was derived.
            steps.append(("geometry", dataclasses.replace(table, mode=rng.choice(modes)), pause, rng.choice(SUSPENDS)))
    return tuple(steps)


def _border(rng, load, unit):
    """Return the sector of the region at which a second target begins: anywhere, also in the middle of a block."""
    return load.offset + rng.randrange(1, load.region // unit) * unit


def derive(seed):
    """Return the plan of a seed."""
    rng = random.Random(seed)
    logical = rng.choice((512, 512, 4096))
    unit = logical // SECTOR
    # With equal blocks everything passes through, which needs few rounds.
    physical = logical if _chance(rng, 5) else rng.choice([size for size in PHYSICAL if size > logical])
    offset = _offset(rng, physical, logical)
    place = rng.choice(PLACES)
    told = place != "shards" and _chance(rng, 20)
    disk = _derive_disk(rng, physical, offset, logical, told, place == "shards")

    possible = [name for name in CHANGES if disk.delay or name != "delay"]
    changes = rng.choice((rng.sample(possible, rng.randrange(1, len(possible) + 1)), rng.sample(possible, 2),
                          [name for name in possible if name in KEEPING], ()))
    # linear removes the flag of the write cache, and then no touch may be held any more.
    modes = MODES[:2] if not disk.cache and "linear" in changes else MODES
    start = rng.randrange(2 * physical // logical) * unit if _chance(rng, 50) else 0
    length, load = _derive_load(rng, physical, offset, logical, place, start, disk.megabytes * 2048)
    table = Table(mode=rng.choice(modes + modes[1:]), start=start, length=length, physical=physical, offset=offset,
                  told=told, border=_border(rng, load, unit) if _chance(rng, 20) else 0, hold_ms=rng.choice(HOLD_MS),
                  max_blocks=rng.choice((*MAX_BLOCKS, 0)), write_cache=not disk.cache and "coalesce" in modes)
    # scsi_debug's own allocations may not wait, either, and their failure is an I/O error.
    memory_fails = rng.choice(MEMORY_FAILS) if disk.kind != "scsi_debug" and _chance(rng, 25) else 0
    return Plan(seed=seed, disk=disk, table=table, place=place, load=load, memory_fails=memory_fails,
                steps=_derive_steps(rng, table, load, disk, modes, changes) if changes else ())


def traits(plan):
    """Return a plan's place in the space of configurations: {dimension: values}."""
    disk, table, load = plan.disk, plan.table, plan.load
    return {
        "disk": [f"{disk.kind} {disk.timing}" if disk.timing else disk.kind],
        "L": [disk.logical], "P": [table.physical],
        "alignment_offset": ["0" if not table.offset else "other"],
        "geometry": ["the disk's" if table.told else "given"],
        "write_cache": ["the drive's" if disk.cache else "advertised" if table.write_cache else "none"],
        "max_sectors_kb": [disk.max_kb or "the disk's"],
        "dm-delay": [f"read {disk.delay[0]} write {disk.delay[1]}" if disk.delay else "none"],
        "mode": [table.mode], "hold_ms": [table.hold_ms], "max_blocks": [table.max_blocks or "default"],
        "start": ["0" if not table.start else "other"],
        "targets": [2 if table.border else 1],
        "place": [plan.place],
        "threads": [load.threads],
        "region_blocks": [load.region * SECTOR // table.physical],
        "max_run": ["a block" if load.max_run * SECTOR <= table.physical else "more"],
        "discard": [bool(load.discard)], "zeroes": [bool(load.zeroes)],
        "flush": [bool(load.flush)], "fua": [bool(load.fua)],
        "memory_fails": [plan.memory_fails],
        "changes": sorted(plan.changes) or ["none"],
        "suspend": sorted({step[3] for step in plan.steps if step[0] not in ("mode", "hold_ms", "max_blocks")}),
        "rmw_expected": ["counted" if plan.counted else "not counted"],
    }
