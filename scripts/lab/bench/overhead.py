# SPDX-License-Identifier: GPL-2.0
"""The cost of an aligned write in instructions, in a guest whose clock counts them.

With `-icount shift=0` a nanosecond of the guest is an instruction, so fio's latency is the
number of a write's instructions from the system call to its return. null_blk without memory,
which completes a request in its submission, adds the least.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from ..machines.remote import Guest, GuestError
from .arms import ARMS, BLOCK, MODES, table

ENGINES = ("psync", "io_uring")
# Runs of an arm lie less than 0.2 % apart.
FEWEST_RUNS = 3
DISK = "/dev/nullb0"
NULL_BLK = ("nr_devices=1", "gb=4", "bs=512", "queue_mode=2", "irqmode=0", "submit_queues=1")
# null_blk has physical blocks of the size of logical ones, so no touches; override that.
FEATURES = {"physical_block_size": BLOCK, "alignment_offset": 0}


class Meter:
    """An icount guest with one device for each arm, all over the same null_blk."""

    def __init__(self, guest: Guest, writes: int, null_blk: tuple[str, ...] = NULL_BLK) -> None:
        """Take a guest. writes: number in each run; null_blk: the module's parameters."""
        self._guest = guest
        self._writes = writes
        self._null_blk = null_blk
        self.devices: dict[str, str] = {}

    def set_up(self, modules: list[Path], arms: tuple[str, ...] = ARMS) -> dict[str, str]:
        """Create the devices; return {arm: reason} for arms without one."""
        self._guest.run("modprobe", "-a", "dm-mod", "dm-bufio")
        for module in modules:
            self._guest.run("insmod", str(module))
        self._guest.run("modprobe", "null_blk", *self._null_blk)
        self._guest.run("sh", "-c", "echo none >/sys/block/nullb0/queue/scheduler")
        sectors = int(self._guest.run("blockdev", "--getsz", DISK))
        missing = {}
        for arm in arms:
            line = table(arm, DISK, sectors, FEATURES if arm in MODES else {})
            if line is None:
                self.devices[arm] = DISK
                continue
            try:
                self._guest.run("dmsetup", "create", arm, "--table", line)
                self.devices[arm] = f"/dev/mapper/{arm}"
            except GuestError as error:
                missing[arm] = str(error)
        return missing

    def run(self, engine: str, arm: str) -> float:
        """Make one run; return the mean instructions of a write."""
        return fio_mean_ns(self._guest.json(
            *fio_command(self.devices[arm], engine, self._writes), timeout=600))

    def measure(self, runs: int, into: dict[str, dict[str, list[float]]],
                progress: Callable[[int, int], None]) -> None:
        """Make `runs` runs of each engine and arm, with interleaved arms.

        into: {engine: {arm: [instructions]}}. progress: called with the runs done and planned.
        """
        total = len(ENGINES) * (runs + 1) * len(self.devices)
        done = 0
        for engine in ENGINES:
            figures = into.setdefault(engine, {arm: [] for arm in self.devices})
            for number in range(runs + 1):
                for arm in self.devices:
                    value = self.run(engine, arm)
                    # The first one loads fio and fills the caches of the allocators.
                    if number:
                        figures[arm].append(value)
                    done += 1
                    progress(done, total)


def fio_command(device: str, engine: str, writes: int) -> tuple[str, ...]:
    """Return fio's command for writes of whole blocks at random, one at a time."""
    return ("fio", "--name=overhead", "--thread", f"--filename={device}", "--direct=1",
            "--rw=randwrite", f"--bs={BLOCK}", "--norandommap", "--randseed=1",
            f"--number_ios={writes}", f"--ioengine={engine}", "--iodepth=1", "--disable_slat=1",
            "--disable_clat=1", "--output-format=json")


def fio_mean_ns(document: dict[str, Any]) -> float:
    """Return the mean latency of the writes in a fio report."""
    job = document["jobs"][0]
    if job["error"] or not job["write"]["total_ios"]:
        raise ValueError(f"fio made {job['write']['total_ios']} writes, error {job['error']}")
    return job["write"]["lat_ns"]["mean"]


def ratio(figures: dict[str, list[float]], arm: str) -> float | None:
    """Return (arm - raw) / (linear - raw), of the medians; None where a part is missing."""
    if not all(figures.get(name) for name in ("raw", "linear", arm)):
        return None
    raw, linear, own = (median(figures[name]) for name in ("raw", "linear", arm))
    return (own - raw) / (linear - raw)


def ratio_spread(figures: dict[str, list[float]], arm: str) -> tuple[float, float]:
    """Return the least and the largest ratio, of each run with raw and linear of its own round."""
    rounds = zip(figures["raw"], figures["linear"], figures[arm])
    ratios = [(own - raw) / (linear - raw) for raw, linear, own in rounds]
    return min(ratios), max(ratios)
