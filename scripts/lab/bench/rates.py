# SPDX-License-Identifier: GPL-2.0
"""Writes a second, in guests whose clock counts instructions.

With `-icount` a nanosecond of the guest is an instruction of any of its processors, which take
turns. So a rate is processors' work: writes for each 10^9 instructions of all processors, those
that wait for a lock included. It does not depend on how busy the machine is. It shows neither
what processors cost one another when they are on the same cache line at the same time, nor what
they gain by being many.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from ..machines.remote import Guest
from .arms import ARMS, BLOCK, SECTOR
from .overhead import NULL_BLK, Meter, fio_command

# Guest and program for the load of a row.
PROCESSORS, RANGE_BYTES = 8, 64 << 20
DEPTH, DRIVE_NS, MISALIGNED = 32, 100_000, 0.01
TRACE = "/run/rates.csv"
SPAN_BYTES = 1 << 30


@dataclass(frozen=True)
class Load:
    """
    The load of a row. processors: of the guest; arms: those compared; null_blk: what differs from
    the usual parameters of null_blk; writes: in a run, quick and full; run_s: seconds of such a run.
    """

    row: str
    about: str
    processors: int
    arms: tuple[str, ...]
    null_blk: tuple[str, ...]
    writes: tuple[int, int]
    run_s: tuple[float, float]


JOBS = Load("cpus-8", f"{PROCESSORS} processors, {PROCESSORS} jobs of aligned 4 KiB writes in {RANGE_BYTES >> 20} MiB",
            PROCESSORS, ("linear", "report", "pad", "coalesce"), (f"submit_queues={PROCESSORS}",),
            (80_000, 160_000), (6, 12))
MIXED = Load("one-percent", f"{MISALIGNED:.0%} misaligned writes among aligned ones, depth {DEPTH}",
             1, tuple(arm for arm in ARMS if arm != "ebs"),
             ("irqmode=2", f"completion_nsec={DRIVE_NS}", f"hw_queue_depth={4 * DEPTH}"),
             (20_000, 60_000), (6, 16))
LOADS = {load.row: load for load in (JOBS, MIXED)}


def trace_lines(writes: int) -> Iterator[str]:
    """Yield a trace in CSV, one seed: 4 KiB writes at random, MISALIGNED of them one sector off."""
    chance = random.Random(1)
    yield "time_ns,op,offset,bytes\n"
    for number in range(writes):
        off = SECTOR if chance.random() < MISALIGNED else 0
        place = chance.randrange(SPAN_BYTES // BLOCK - 1) * BLOCK + off
        yield f"{number},write,{place},{BLOCK}\n"


class Rates:
    """An icount guest with a device for each arm of a load, all over the same null_blk."""

    def __init__(self, guest: Guest, load: Load, alignctl: Path, folder: Path, writes: int) -> None:
        """Take a guest. folder: of the host, visible to the guest; writes: number in each run."""
        self._guest = guest
        self._load = load
        self._writes = writes
        self._alignctl = str(alignctl)
        self._trace = folder / Path(TRACE).name
        changed = {setting.partition("=")[0] for setting in load.null_blk}
        kept = (setting for setting in NULL_BLK if setting.partition("=")[0] not in changed)
        self._meter = Meter(guest, writes, (*kept, *load.null_blk))

    def set_up(self, modules: list[Path]) -> dict[str, str]:
        """Create the devices; return {arm: reason} for arms without one."""
        missing = self._meter.set_up(modules, self._load.arms)
        if self._load is MIXED:
            with self._trace.open("w") as file:
                file.writelines(trace_lines(self._writes))
            self._guest.run("cp", str(self._trace), TRACE)
            self._guest.run("cp", self._alignctl, "/run/alignctl")
        return missing

    def run(self, arm: str) -> float:
        """Make one run; return writes a second of the guest's clock."""
        device = self._meter.devices[arm]
        if self._load is MIXED:
            made = self._guest.json("/run/alignctl", "replay", TRACE, "--on", device, "--timing", "fast", "--depth",
                                    str(DEPTH), "--no-check", "--force", device, "--json", timeout=600)
            # Held blocks are written before the flush ends.
            return made["requests"] / (made["wall_s"] + made["flush_s"])
        command = fio_command(device, "psync", self._writes // PROCESSORS)
        job = self._guest.json(*command, f"--numjobs={PROCESSORS}", f"--size={RANGE_BYTES}", "--group_reporting",
                               timeout=600)["jobs"][0]
        if job["error"] or job["write"]["total_ios"] != self._writes:
            raise ValueError(f"fio made {job['write']['total_ios']} of {self._writes} writes, error {job['error']}")
        # Not by the latency of writes: a processor's turn is longer than many of them, and the others' turns lie in few.
        return job["write"]["iops"]

    def measure(self, rounds: int, into: dict[str, list[float]], progress: Callable[[int, int], None]) -> None:
        """
        Make `rounds` runs of each arm in turn; the first round, which fills caches, is dropped.

        into: {arm: [writes a second]}. progress: called with the runs done and planned.
        """
        devices = self._meter.devices
        total, done = (rounds + 1) * len(devices), 0
        for number in range(rounds + 1):
            for arm in devices:
                rate = self.run(arm)
                if number:
                    into.setdefault(arm, []).append(rate)
                done += 1
                progress(done, total)


def ratios(figures: dict[str, list[float]], over: str, under: str) -> list[float]:
    """Return the ratio of two arms in each round; empty where an arm is missing."""
    return [a / b for a, b in zip(figures.get(over, ()), figures.get(under, ()))]


def change(now: dict[str, list[float]], before: dict[str, list[float]], arm: str) -> float | None:
    """Return the rate of an arm as a multiple of that with another module, of the medians; None where one is missing."""
    if not now.get(arm) or not before.get(arm):
        return None
    return median(now[arm]) / median(before[arm])
