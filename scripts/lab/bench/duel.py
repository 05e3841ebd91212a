# SPDX-License-Identifier: GPL-2.0
"""alignctl replay against fio: the same requests at the same depth, in turn, in one guest.

Two places: null_blk without memory, which has the least cost of a request, and a regular file on
ext4 over null_blk with memory. Both programs use io_uring. And two loads: full, where latency is a
measure of the program's speed (requests in flight / rate), and paced, with the same rate for both
and far from full, where latency shows how precisely the program measures.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from ..machines.remote import Guest
from .arms import BLOCK

DEPTH = 32
FILE_BYTES = 256 << 20
DISK = "/dev/nullb0"
FOLDER, FILE = "/run/duel", "/run/duel/file"
TRACE, PACED_TRACE = "/run/duel.csv", "/run/paced.csv"
NULL_BLK = ("nr_devices=1", "gb=4", "bs=4096", "queue_mode=2", "irqmode=0", "submit_queues=2")
# A disk with memory, for the file system.
KEEPING = ("size=320", "memory_backed=1", "blocksize=4096", "power=1")
PLACES = {"null_blk": DISK, "file": FILE}
PROGRAMS = ("fio", "alignctl")
FULL, PACED = LOADS = ("full", "paced")
# Requests a second of the paced load, and their number.
PACE, PACED_REQUESTS = 1000, 3000


@dataclass(frozen=True)
class Result:
    """One run. Latencies in microseconds, from issue to completion."""

    place: str
    program: str
    iops: float
    mean_us: float
    p99_us: float
    load: str = FULL

    @property
    def in_flight(self) -> float:
        """Return the mean number of requests in flight, by Little's law."""
        return self.iops * self.mean_us / 1e6


def trace_lines(requests: int, pace: int = PACE) -> Iterator[str]:
    """Yield a trace in CSV: whole blocks at random in the size of the file, `pace` a second, one seed."""
    places = random.Random(1)
    yield "time_ns,op,offset,bytes\n"
    for number in range(requests):
        place = places.randrange(FILE_BYTES // BLOCK) * BLOCK
        yield f"{number * 10**9 // pace},write,{place},{BLOCK}\n"


class Duel:
    """A guest with both places, and a trace that it can read."""

    def __init__(self, guest: Guest, alignctl: Path, folder: Path, requests: int) -> None:
        """Take a guest. folder: of the host, visible to the guest; requests: number in each run."""
        self._guest = guest
        self._alignctl = str(alignctl)
        self._folder = folder
        self._requests = requests
        for path, lines in (TRACE, requests), (PACED_TRACE, PACED_REQUESTS):
            with (folder / Path(path).name).open("w") as file:
                file.writelines(trace_lines(lines))

    def set_up(self) -> None:
        # Copy the traces: reading from the host costs the emulated processors more than a request.
        for path in TRACE, PACED_TRACE:
            self._guest.run("cp", str(self._folder / Path(path).name), path)
        self._guest.run("cp", self._alignctl, "/run/alignctl")
        self._guest.run("modprobe", "null_blk", *NULL_BLK)
        config = "/sys/kernel/config/nullb/duel"
        self._guest.run("sh", "-c", "modprobe configfs; mountpoint -q /sys/kernel/config || "
                        f"mount -t configfs configfs /sys/kernel/config; mkdir {config}")
        for setting in KEEPING:
            name, _, value = setting.partition("=")
            self._guest.run("sh", "-c", f"echo {value} >{config}/{name}")
        disk = self._guest.run("sh", "-c", "ls -d /dev/duel /dev/nullb1 2>/dev/null | head -1").strip()
        self._guest.run("mkfs.ext4", "-q", "-b", str(BLOCK), disk)
        self._guest.run("sh", "-c", f"mkdir {FOLDER} && mount {disk} {FOLDER} && "
                        f"dd if=/dev/zero of={FILE} bs=1M count={FILE_BYTES >> 20} status=none "
                        "conv=fsync", timeout=300)
        self._guest.run("sh", "-c", "echo none | tee /sys/block/nullb*/queue/scheduler")

    def fio(self, place: str, load: str) -> Result:
        requests, pace = self._requests, []
        if load == PACED:
            requests, pace = PACED_REQUESTS, [f"--rate_iops={PACE}"]
        document = self._guest.json(
            "fio", "--name=duel", "--thread", f"--filename={PLACES[place]}", "--direct=1",
            "--rw=randwrite", f"--bs={BLOCK}", f"--size={FILE_BYTES}", "--norandommap",
            "--randseed=1", f"--number_ios={requests}", "--ioengine=io_uring",
            f"--iodepth={DEPTH}", *pace, "--lat_percentiles=1", "--output-format=json", timeout=600)
        return fio_result(place, load, document)

    def alignctl(self, place: str, load: str) -> Result:
        trace, timing = (TRACE, "fast") if load == FULL else (PACED_TRACE, "open")
        document = self._guest.json(
            "/run/alignctl", "replay", trace, "--on", PLACES[place], "--timing", timing,
            "--depth", str(DEPTH), "--no-check", "--force", PLACES[place], "--json", timeout=600)
        service = document["service_us"]
        return Result(place, "alignctl", document["iops"], service["mean"], service["p99"], load)

    def measure(self, rounds: int, progress: Callable[[int, int], None]) -> list[Result]:
        """
        Run both programs in turn, in each place, under each load; return the results. The programs
        alternate in being first, so that a drift of the machine affects both. The first round,
        which fills caches, is dropped.
        """
        results = []
        steps = [step for turn in range(rounds + 1)
                 for step in product(PLACES, LOADS, PROGRAMS[::-1] if turn % 2 else PROGRAMS)]
        for number, (place, load, program) in enumerate(steps, 1):
            result = (self.fio if program == "fio" else self.alignctl)(place, load)
            if number > len(steps) // (rounds + 1):
                results.append(result)
            progress(number, len(steps))
        return results


def fio_result(place: str, load: str, document: dict[str, Any]) -> Result:
    """Return a fio report's figures. Raises ValueError if fio made no writes."""
    job = document["jobs"][0]
    if job["error"] or not job["write"]["total_ios"]:
        raise ValueError(f"fio made {job['write']['total_ios']} writes, error {job['error']}")
    latency = job["write"]["lat_ns"]
    return Result(place, "fio", job["write"]["iops"], latency["mean"] / 1000,
                  latency["percentile"]["99.000000"] / 1000, load)


def of(results: list[Result], place: str, load: str, program: str,
       quantity: Callable[[Result], float]) -> list[float]:
    return [quantity(each) for each in results
            if (each.place, each.load, each.program) == (place, load, program)]


def rate_ratio(results: list[Result], place: str) -> float:
    """
    Return the rate of alignctl as a multiple of fio's, at full load: the median of the rounds'
    ratios, as the two adjacent runs of a round have the same conditions.
    """
    own, theirs = (of(results, place, FULL, program, lambda r: r.iops)
                   for program in ("alignctl", "fio"))
    return median(mine / other for mine, other in zip(own, theirs, strict=True))


def agreement(results: list[Result], place: str, load: str,
              quantity: Callable[[Result], float]) -> tuple[float, float, float]:
    """Return the medians of alignctl and of fio, and the spread of fio's own runs."""
    own, theirs = (of(results, place, load, program, quantity) for program in ("alignctl", "fio"))
    return median(own), median(theirs), max(theirs) - min(theirs)
