# SPDX-License-Identifier: GPL-2.0
"""How a drive model is asked for a published figure: requests on a virtual clock, one at a time or several in flight.

Each measure takes the drive first, and then what the publication says of its requests. What a measure has found is kept, for the
rows that compare it.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from inspect import signature
from typing import NamedTuple, ParamSpec, TypeVar

from align_reports.probe.target import Request

from ..demo.workloads import BY_NAME
from .target import CLOCK, ClockTarget, line

KIB, MIB, GB = 1 << 10, 1 << 20, 10 ** 9
BLOCK = 4096
# Of a drive whose capacity the profile leaves open.
CAPACITY = 1 << 40
# The time of the first request, so that the drive has been idle.
START_S = 1
MASK = (1 << 64) - 1


class Profile(NamedTuple):
    """
    A profile with a model.

    kind       disk or flash
    capacity   bytes
    block      bytes of a block, whether it tells that or not
    boundary   byte at which the first whole one starts, likewise
    about      a line for people
    """

    name: str
    kind: str
    capacity: int
    block: int
    boundary: int
    about: str


@cache
def profiles() -> dict[str, Profile]:
    """Return the profiles by name, in the order of the drive's help."""
    printed = subprocess.run([CLOCK, "profiles"], stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [each.split(" ", 5) for each in printed.splitlines()]
    return {name: Profile(name, kind, int(capacity) or CAPACITY, int(block), int(boundary), about)
            for name, kind, capacity, block, boundary, about in rows}


P = ParamSpec("P")
R = TypeVar("R")


def kept(measure: Callable[P, R]) -> Callable[P, R]:
    """Keep what a measure finds, whether its arguments are given by position or by name."""
    found, parameters = cache(measure), signature(measure)

    @wraps(measure)
    def ask(*args: P.args, **kwargs: P.kwargs) -> R:
        given = parameters.bind(*args, **kwargs)
        given.apply_defaults()
        return found(*given.args)
    return ask


class Drive(NamedTuple):
    """A drive of a profile. cached: its write cache is on, if it has one"""

    profile: str
    cached: bool = True

    @property
    def size(self) -> int:
        return profiles()[self.profile].capacity

    @property
    def boundary(self) -> int:
        return profiles()[self.profile].boundary

    @contextmanager
    def new(self) -> Iterator[ClockTarget]:
        """Make a drive that has been idle for a while, as large as it can be."""
        off = {} if self.cached else {"cache": "off"}
        with ClockTarget(profile=self.profile, size=self.size, **off) as target:
            target.pause(START_S)
            yield target


class Places:
    """Pseudo-random places, in an order that is always the same (splitmix64)."""

    def __init__(self) -> None:
        self._state = 1

    def draw(self, limit: int, size: int, step: int = BLOCK) -> int:
        """Return a random multiple of `step` at which `size` bytes fit below `limit`."""
        self._state = x = self._state + 0x9e3779b97f4a7c15 & MASK
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & MASK
        x = (x ^ x >> 27) * 0x94d049bb133111eb & MASK
        return (x ^ x >> 31) % ((limit - size) // step) * step


def seconds(drive: Drive, requests: Sequence[Request], flushed: bool = False) -> float:
    """Return the time of the requests, one at a time, on a new drive."""
    with drive.new() as target:
        return sum(target.each(requests, flushed)) / 1e6


# ---- part A: five workloads ----

class Played(NamedTuple):
    """What a workload took: the mean of each write of a round, and all rounds; then the media's counters, all being flushed."""

    mean_us: tuple[float, ...]
    wall_s: float
    rmws: int
    rmws_saved: int
    blocks_written: int


@kept
def played(drive: Drive, workload: str, host_us: float) -> Played:
    """Play a workload as published. host_us: the host's own time between an answer and its next write"""
    shape = BY_NAME[workload]
    count, steps = shape.published_count, shape.steps
    wait = f"wait {int(host_us * 1000)}"
    commands = [command for offset, length in shape.writes(count)
                for command in (line(Request(True, offset, length)), wait)]
    with drive.new() as target:
        times = target.ask(commands)
        wall_s = target.elapsed_s() - START_S
        target.flush()
        counters = target.ask([f"count {name}" for name in ("rmws", "rmws_saved_by_cache", "blocks_written")])
    return Played(tuple(sum(times[2 * part::2 * steps]) / 1000 / count for part in range(steps)), wall_s, *counters)


# ---- part B: 2 MiB writes, each as several requests at once ----

# How one write of 2 MiB reaches the drive.
EXISTING = (688128, 688128, 688128, 32768)
FRESH = (512, 687616, 688128, 688128, 33280)


@kept
def series_s(drive: Drive, count: int, offset: int = 0, split: tuple[int, ...] = EXISTING) -> float:
    """Return the time of so many writes of 2 MiB, one behind the other, from this offset on."""
    with drive.new() as target:
        for number in range(count):
            at = offset + number * 2 * MIB
            requests = []
            for length in split:
                requests.append(Request(True, at, length))
                at += length
            target.together(requests, len(split))
        return target.elapsed_s() - START_S


def series_ratio(drive: Drive, count: int, split: tuple[int, ...]) -> float:
    """Compare writes 512 bytes short of a block with aligned ones."""
    return series_s(drive, count, 3584, split) / series_s(drive, count)


# ---- part C: the study's methods ----

@kept
def random_s(drive: Drive, write: bool, count: int, size: int) -> float:
    """Return the mean time of random requests, one at a time."""
    places = Places()
    return seconds(drive, [Request(write, places.draw(drive.size, size), size) for _ in range(count)]) / count


def random_ms(drive: Drive, write: bool = False) -> float:
    return random_s(drive, write, 20000, BLOCK) * 1e3


def random_us(drive: Drive) -> float:
    return random_s(drive, False, 20000, BLOCK) * 1e6


class Turns(NamedTuple):
    """The times of accesses that differ in the angle only: the shortest, the mean, the longest."""

    least_ms: float
    mean_ms: float
    most_ms: float


TIMES = 5000


def turns(times: Sequence[float]) -> Turns:
    return Turns(min(times) / 1000, sum(times) / len(times) / 1000, max(times) / 1000)


@kept
def full_stroke(drive: Drive) -> Turns:
    """Read by turns in the first and in the last percent of the drive."""
    places = Places()
    percent = drive.size // 100 // BLOCK * BLOCK
    far = drive.size // BLOCK * BLOCK - percent
    requests = [Request(False, places.draw(percent, BLOCK) + number % 2 * far, BLOCK) for number in range(TIMES)]
    with drive.new() as target:
        return turns(target.each([Request(False, drive.size - BLOCK, BLOCK), *requests])[1:])


@kept
def next_track(drive: Drive, cylinder: int) -> Turns:
    """Read at random, and then, which is timed, at most two cylinders on. cylinder: bytes of one, or a little less"""
    places = Places()
    requests = []
    for _ in range(TIMES):
        at = places.draw(drive.size - 2 * cylinder, BLOCK)
        on = cylinder + places.draw(cylinder, BLOCK)
        requests += [Request(False, at, BLOCK), Request(False, at + on, BLOCK)]
    with drive.new() as target:
        return turns(target.each(requests)[1::2])


def full_stroke_seek_ms(drive: Drive) -> float:
    return full_stroke(drive).least_ms


def full_stroke_turn_ms(drive: Drive) -> float:
    found = full_stroke(drive)
    return found.most_ms - found.least_ms


def half_turn_ms(drive: Drive) -> float:
    found = full_stroke(drive)
    return found.mean_ms - found.least_ms


def next_track_seek_ms(drive: Drive, cylinder: int) -> float:
    return next_track(drive, cylinder).least_ms


def next_track_turn_ms(drive: Drive, cylinder: int) -> float:
    found = next_track(drive, cylinder)
    return found.most_ms - found.least_ms


def buffered_ms(drive: Drive) -> float:
    """Return what a read takes beside seek and rotation: a buffered one's time."""
    with drive.new() as target:
        return target.each([Request(False, 0, BLOCK)] * 2)[1] / 1000


PROBES = 100


@kept
def probe_mb_s(drive: Drive, number: int) -> float:
    """Read 128 MiB at one of the PROBES evenly spaced places, in pieces of 1 MiB."""
    size = 128 * MIB
    start = (drive.size - size) // (PROBES - 1) * number // BLOCK * BLOCK
    return size / seconds(drive, [Request(False, at, MIB) for at in range(start, start + size, MIB)]) / 1e6


def next_track_alone_ms(drive: Drive, cylinder: int) -> float:
    """Return the seek without command, block and interface, as data sheets do."""
    return next_track_seek_ms(drive, cylinder) - buffered_ms(drive) - BLOCK / probe_mb_s(drive, 0) / 1e3


def fastest_probe(drive: Drive) -> float:
    return max(probe_mb_s(drive, number) for number in range(PROBES))


def slowest_probe(drive: Drive) -> float:
    return min(probe_mb_s(drive, number) for number in range(PROBES))


# Sizes of the chunk-size curve.
CHUNKS = tuple(BLOCK << power for power in range(15))


def chunk_mb_s(drive: Drive, size: int) -> float:
    """Return the throughput of random reads of this size."""
    return size / random_s(drive, False, 1000, size) / 1e6


def saturates_mib(drive: Drive) -> float:
    """Find the smallest request with nine tenths of the best throughput."""
    best = chunk_mb_s(drive, CHUNKS[-1])
    return next(size for size in CHUNKS if chunk_mb_s(drive, size) >= 0.9 * best) / MIB


@kept
def sorted_s(drive: Drive, window: int, span: int) -> float:
    """Time 1000 random reads within a span, sorted in windows."""
    places = Places()
    drawn = [places.draw(span, BLOCK) for _ in range(1000)]
    ordered = [at for start in range(0, len(drawn), window) for at in sorted(drawn[start:start + window])]
    return seconds(drive, [Request(False, at, BLOCK) for at in ordered])


# ---- several at once ----

@kept
def random_iops(drive: Drive, depth: int, count: int) -> float:
    """Return the random reads a second with so many in flight."""
    places = Places()
    requests = [Request(False, places.draw(drive.size, BLOCK), BLOCK) for _ in range(count)]
    with drive.new() as target:
        target.together(requests, depth)
        return count / (target.elapsed_s() - START_S)


def jobs_iops(drive: Drive, jobs: int, requests: Sequence[Request]) -> float:
    """Return the requests a second of jobs with one in flight each, from rounds of a request for each job."""
    with drive.new() as target:
        target.jobs(requests, jobs)
        return len(requests) / (target.elapsed_s() - START_S)


@kept
def files_iops(drive: Drive, jobs: int, count: int, write: bool = False) -> float:
    """Let each job work on a file of its own of 1 GiB, 8 KiB after 8 KiB."""
    size = 8 * KIB
    return jobs_iops(drive, jobs, [Request(write, job * 1024 * MIB + at, size)
                                   for at in range(0, count // jobs * size, size) for job in range(jobs)])


@kept
def stream_mb_s(drive: Drive, jobs: int, count: int, write: bool = False) -> float:
    """Let the jobs work on one stream, 128 KiB after 128 KiB."""
    size = 128 * KIB
    return jobs_iops(drive, jobs, [Request(write, number * size, size) for number in range(count)]) * size / 1e6


def speedup(drive: Drive, depth: int) -> float:
    """Compare the random reads a second with so many in flight with those of one at a time."""
    return random_iops(drive, depth, 20000) / random_iops(drive, 1, 20000)


# ---- part E: commits ----

@kept
def commits_s(drive: Drive, places: int, apart: int = 0) -> float:
    """Time 100 rounds of a block written and flushed, at so many places."""
    once = [Request(True, MIB + number * apart, BLOCK) for number in range(places)]
    with drive.new() as target:
        target.each([Request(True, MIB, BLOCK)], flushed=True)
        return sum(target.each(once * 100, flushed=True)) / 1e6


def commits_ratio(drive: Drive, apart: int) -> float:
    """Compare two places with one."""
    return commits_s(drive, 2, apart) / commits_s(drive, 1)


def commit_turn_ms(drive: Drive, apart: int) -> float:
    """Return what a second place adds to each round of one."""
    return (commits_s(drive, 2, apart) - commits_s(drive, 1)) * 10


# ---- part F: aligned against misaligned ----

@kept
def strided_s(drive: Drive, count: int, size: int, offset: int = 0) -> float:
    """Return the time of writes of a size, four times that apart, this far into a block."""
    with drive.new() as target:
        start = drive.boundary + 4 * MIB + offset
        target.each([Request(True, start + number * 4 * size, size) for number in range(count)])
        target.flush()
        return target.elapsed_s() - START_S


def strided_ms(drive: Drive, count: int, size: int, offset: int = 0) -> float:
    return strided_s(drive, count, size, offset) / count * 1e3


def strided_us(drive: Drive, count: int, size: int, offset: int = 0) -> float:
    return strided_s(drive, count, size, offset) / count * 1e6


def strided_ratio(drive: Drive, count: int, size: int, offset: int) -> float:
    return strided_s(drive, count, size, offset) / strided_s(drive, count, size)


@kept
def durable_ms(drive: Drive, count: int, offset: int = 0) -> float:
    """Return the mean of random writes of a block in 4 GB, each durable before the next."""
    places = Places()
    with drive.new() as target:
        start = drive.boundary + offset
        target.each([Request(True, start + places.draw(4 * GB, BLOCK), BLOCK) for _ in range(count)], flushed=True)
        return (target.elapsed_s() - START_S) / count * 1e3


def durable_ratio(drive: Drive, count: int, offset: int) -> float:
    return durable_ms(drive, count, offset) / durable_ms(drive, count)


def rmw_adds_ms(drive: Drive, count: int, offset: int) -> float:
    """Return what the offset adds to a random write."""
    return durable_ms(drive, count, offset) - durable_ms(drive, count)


@kept
def copy_mb_s(drive: Drive, count: int, size: int, offset: int = 0) -> float:
    """Return the rate of writes of a size, one behind the other."""
    with drive.new() as target:
        start = drive.boundary + offset
        target.each([Request(True, start + number * size, size) for number in range(count)])
        return count * size / (target.elapsed_s() - START_S) / 1e6


def copy_ratio(drive: Drive, count: int, size: int) -> float:
    """Compare aligned writes with those a sector off."""
    return copy_mb_s(drive, count, size) / copy_mb_s(drive, count, size, 512)
