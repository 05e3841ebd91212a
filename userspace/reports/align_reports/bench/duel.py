# SPDX-License-Identifier: GPL-2.0
"""alignctl replay against fio: the same requests at the same depth, in turn, in one guest.

Two places: null_blk without memory, which costs the least that a request can cost, and a
regular file on ext4 over null_blk with memory. Both programs use io_uring.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from ..guest import Guest
from .arms import BLOCK

DEPTH = 32
FILE_BYTES = 256 << 20
DISK = "/dev/nullb0"
FOLDER, FILE = "/run/duel", "/run/duel/file"
NULL_BLK = ("nr_devices=1", "gb=4", "bs=4096", "queue_mode=2", "irqmode=0", "submit_queues=2")
# A disk that keeps what is written, for the file system.
KEEPING = ("size=320", "memory_backed=1", "blocksize=4096", "power=1")
PLACES = {"null_blk": DISK, "file": FILE}
PROGRAMS = ("fio", "alignctl")


@dataclass(frozen=True)
class Result:
    """One run. Latencies in microseconds, from issue to completion."""

    place: str
    program: str
    iops: float
    mean_us: float
    p99_us: float


def trace_lines(requests: int) -> Iterator[str]:
    """A trace in CSV: whole blocks at random in the size of the file, from a fixed seed."""
    places = random.Random(1)
    yield "op,offset,bytes\n"
    for _ in range(requests):
        yield f"write,{places.randrange(FILE_BYTES // BLOCK) * BLOCK},{BLOCK}\n"


class Duel:
    """A guest with both places, and a trace that it can read."""

    def __init__(self, guest: Guest, alignctl: Path, folder: Path, requests: int) -> None:
        """folder: on the host, which the guest sees; requests: of each run."""
        self._guest = guest
        self._alignctl = str(alignctl)
        self._trace = folder / "duel.csv"
        self._requests = requests
        with self._trace.open("w") as file:
            file.writelines(trace_lines(requests))

    def set_up(self) -> None:
        # What is read from the host costs the emulated processors more than a request does.
        self._guest.run("cp", str(self._trace), "/run/duel.csv")
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

    def fio(self, place: str) -> Result:
        document = self._guest.json(
            "fio", "--name=duel", "--thread", f"--filename={PLACES[place]}", "--direct=1",
            "--rw=randwrite", f"--bs={BLOCK}", f"--size={FILE_BYTES}", "--norandommap",
            "--randseed=1", f"--number_ios={self._requests}", "--ioengine=io_uring",
            f"--iodepth={DEPTH}", "--lat_percentiles=1", "--output-format=json", timeout=600)
        return fio_result(place, document)

    def alignctl(self, place: str) -> Result:
        document = self._guest.json(
            "/run/alignctl", "replay", "/run/duel.csv", "--on", PLACES[place], "--timing", "fast",
            "--depth", str(DEPTH), "--no-check", "--force", PLACES[place], "--json", timeout=600)
        service = document["service_us"]
        return Result(place, "alignctl", document["iops"], service["mean"], service["p99"])

    def measure(self, rounds: int, progress: Callable[[int, int], None]) -> list[Result]:
        """Both programs in turn, in each place; the first round, which fills caches, is dropped."""
        results = []
        total = (rounds + 1) * len(PLACES) * len(PROGRAMS)
        done = 0
        for number in range(rounds + 1):
            for place in PLACES:
                for program in PROGRAMS:
                    result = self.fio(place) if program == "fio" else self.alignctl(place)
                    if number:
                        results.append(result)
                    done += 1
                    progress(done, total)
        return results


def fio_result(place: str, document: dict[str, Any]) -> Result:
    """A fio report's figures. Raises ValueError if it made no writes."""
    job = document["jobs"][0]
    if job["error"] or not job["write"]["total_ios"]:
        raise ValueError(f"fio made {job['write']['total_ios']} writes, error {job['error']}")
    latency = job["write"]["lat_ns"]
    return Result(place, "fio", job["write"]["iops"], latency["mean"] / 1000,
                  latency["percentile"]["99.000000"] / 1000)


def of(results: list[Result], place: str, program: str,
       quantity: Callable[[Result], float]) -> list[float]:
    return [quantity(each) for each in results if (each.place, each.program) == (place, program)]


def rate_ratio(results: list[Result], place: str) -> float:
    """Requests a second of alignctl as a multiple of fio's, of the medians."""
    rates = {program: median(of(results, place, program, lambda r: r.iops))
             for program in PROGRAMS}
    return rates["alignctl"] / rates["fio"]


def agreement(results: list[Result], place: str,
              quantity: Callable[[Result], float]) -> tuple[float, float, float]:
    """Medians of alignctl and of fio, and how far fio's own runs lie apart."""
    own, theirs = (of(results, place, program, quantity) for program in ("alignctl", "fio"))
    return median(own), median(theirs), max(theirs) - min(theirs)
