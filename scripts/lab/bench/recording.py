# SPDX-License-Identifier: GPL-2.0
"""The cost of recording for a writer, in instructions.

alignctl top, which keeps no request but counts each in the kernel, of one disk or of every one, is measured
beside the recorders.

A guest with one processor whose clock counts them (see overhead.py), null_blk, fio: the processor is
never idle, so the time of a write includes the recorder's work. alignctl record takes one event of
each request, its queueing; blktrace cannot record this event alone, so it records its class of
events.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from ..machines.remote import Guest
from .overhead import DISK, Meter, fio_command

NONE, ALIGNCTL, BLKTRACE, REQUESTS, TOP, TOP_DRIVE, METRICS = RECORDERS = (
    "none", "alignctl record", "blktrace", "alignctl record --requests", "alignctl top", "alignctl top --drive",
    "alignctl top --format prometheus")
FOLDER = "/run/recording"
OUTPUT = f"{FOLDER}/trace"
# KiB for the events of record --requests, which has three of each write.
REQUESTS_BUFFER = 65536
ENGINE = "psync"
# The share of a run's writes that a run of the first round has.
FIRST_SHARE = 10
# Of x86_64, as /proc/PID/syscall has it.
CLOCK_NANOSLEEP = "230 "
# Runs in the guest: a recorder around a load. The recorder has begun when a file has a text, or if that
# is empty exists, and prints its summary at the end.
AROUND = """
import json, os, signal, subprocess, sys, time
recorder, begun, load = map(json.loads, sys.argv[1:])
began, said = None, ""
if recorder:
    began = subprocess.Popen(recorder, stdout=subprocess.PIPE, text=True)
    until = time.monotonic() + 20
    path, text = begun[0].format(pid=began.pid), begun[1]
    while time.monotonic() < until and began.poll() is None:
        try:
            if open(path).read(len(text)) == text:
                break
        except OSError:
            pass
        time.sleep(0.1)
    time.sleep(1)
done = subprocess.run(load, stdout=subprocess.PIPE, check=True)
if began:
    began.send_signal(signal.SIGINT)
    said = began.communicate(timeout=60)[0]
print(json.dumps({"status": began.returncode if began else 0, "said": said,
                  "load": json.loads(done.stdout)}))
"""


@dataclass(frozen=True)
class Recorded:
    """
    A run: its recorder, instructions per write with all other work, writes made, and writes found in
    the recording.
    """

    recorder: str
    instructions: float
    writes: int
    found: int


class Recording:
    """The guest of a Meter, and a recorder for each run."""

    def __init__(self, guest: Guest, alignctl: Path, writes: int) -> None:
        self._guest = guest
        self._writes = writes
        self._commands = {
            NONE: None,
            ALIGNCTL: ["/run/alignctl", "record", DISK, "--output", OUTPUT, "--json"],
            REQUESTS: ["/run/alignctl", "record", DISK, "--requests", "--buffer", str(REQUESTS_BUFFER), "--output", OUTPUT,
                       "--json"],
            BLKTRACE: ["blktrace", "-d", DISK, "-a", "queue", "-D", FOLDER, "-o", "trace"],
            TOP: ["/run/alignctl", "top", DISK, "--interval", "3600", "--json"],
            TOP_DRIVE: ["/run/alignctl", "top", DISK, "--drive", "--interval", "3600", "--json"],
            METRICS: ["/run/alignctl", "top", "--format", "prometheus", "--interval", "3600", "--output", OUTPUT],
        }
        # The file that each recorder makes before its first event; blktrace makes one per processor.
        # alignctl top makes none: it counts once it waits for the end of the interval.
        waits = ["/proc/{pid}/syscall", CLOCK_NANOSLEEP]
        self._begun = {NONE: [], ALIGNCTL: [OUTPUT, ""], REQUESTS: [OUTPUT, ""], BLKTRACE: [f"{OUTPUT}.blktrace.0", ""],
                       TOP: waits, TOP_DRIVE: waits, METRICS: waits}
        self._alignctl = str(alignctl)

    def set_up(self) -> None:
        Meter(self._guest, self._writes).set_up([], ("raw",))
        self._guest.run("cp", self._alignctl, "/run/alignctl")
        self._guest.run("sh", "-c", "mountpoint -q /sys/kernel/debug || "
                                    "mount -t debugfs debugfs /sys/kernel/debug")

    def run(self, recorder: str, writes: int | None = None) -> Recorded:
        """Make one run. writes: their number, where not that of all runs."""
        self._guest.run("sh", "-c", f"rm -rf {FOLDER}; mkdir {FOLDER}")
        document = self._guest.json(
            "python3", "-c", AROUND, *map(json.dumps, (
                self._commands[recorder], self._begun[recorder],
                fio_command(DISK, ENGINE, writes or self._writes))), timeout=600)
        if document["status"]:
            raise ValueError(f"{recorder}: status {document['status']}: {document['said'].strip()}")
        job = document["load"]["jobs"][0]["write"]
        return Recorded(recorder, 1e9 / job["iops"], job["total_ios"],
                        self._found(recorder, job["total_ios"], document["said"]))

    def _found(self, recorder: str, writes: int, said: str) -> int:
        if recorder == NONE:
            return writes
        if recorder == TOP:
            return json.loads(said)["writes"]
        if recorder == TOP_DRIVE:
            return json.loads(said)["drive"]["requests"]
        if recorder == METRICS:
            name = f'alignctl_disk_writes_total{{device="{Path(DISK).name}"}} '
            return next(int(line.removeprefix(name)) for line in self._guest.run("cat", OUTPUT).splitlines()
                        if line.startswith(name))
        if recorder == REQUESTS:
            return json.loads(said)["followed"]["writes"]
        if recorder == ALIGNCTL:
            return json.loads(said)["operations"]["write"]["count"]
        dumped = self._guest.run("blkparse", "-q", "-D", FOLDER, "-i", "trace", "-f", "%a %d\\n",
                                 timeout=600)
        return sum(line.startswith("Q W") for line in dumped.splitlines())

    def measure(self, rounds: int, progress: Callable[[int, int], None]) -> list[Recorded]:
        """Run each recorder in turn; return the results. The first round, which fills caches, is short, and is dropped."""
        total, results = (rounds + 1) * len(RECORDERS), []
        for number in range(total):
            first = number < len(RECORDERS)
            result = self.run(RECORDERS[number % len(RECORDERS)], max(self._writes // FIRST_SHARE, 1) if first else None)
            if not first:
                results.append(result)
            progress(number + 1, total)
        return results


def added(results: list[Recorded], recorder: str) -> list[float]:
    """Return the instructions that a recorder adds to a write, relative to its round's run without one."""
    without, beside = ([each.instructions for each in results if each.recorder == name]
                       for name in (NONE, recorder))
    return [own - other for own, other in zip(beside, without, strict=True)]


def incomplete(results: list[Recorded]) -> list[str]:
    """Return each run with an incomplete recording, as a sentence."""
    return [f"{each.recorder}: has {each.found} of {each.writes} writes" for each in results
            if each.found < each.writes]


def instructions(results: list[Recorded], recorder: str) -> float:
    return median(each.instructions for each in results if each.recorder == recorder)
