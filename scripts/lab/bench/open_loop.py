# SPDX-License-Identifier: GPL-2.0
"""A long recording in an open loop: alignctl replay's start, memory and timing.

On null_blk, which is never behind, so that every delay is the program's.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from ..machines.remote import Guest
from .duel import DISK, NULL_BLK, trace_lines

# Requests a second: half of the emulated processors' capacity.
RATE = 25_000
TRACE = "/run/open-loop.rec"
# Runs in the guest: prints a program's report, with its time and its peak memory.
MEASURED = """
import json, resource, subprocess, sys, time
began = time.monotonic()
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True)
elapsed = time.monotonic() - began
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"elapsed_s": elapsed, "max_rss_kib": usage.ru_maxrss,
                  "replay": json.loads(done.stdout)}))
"""


@dataclass(frozen=True)
class OpenLoop:
    """
    A run. elapsed_s: from the program's start to its end; wall_s: from the first request to the end
    of the last one; drift: lateness of the last request, as a share of the trace's length.
    """

    requests: int
    elapsed_s: float
    wall_s: float
    flush_s: float
    max_rss_kib: int
    drift: float

    @property
    def start_s(self) -> float:
        """Return the time of start and end together, an upper bound for the time of the first request."""
        return self.elapsed_s - self.wall_s - self.flush_s


def make_trace(alignctl: Path, folder: Path, requests: int) -> Path:
    """Make a recording of whole blocks at random, RATE a second, from CSV; return its path."""
    table, recording = folder / "open-loop.csv", folder / Path(TRACE).name
    with table.open("w") as file:
        file.writelines(trace_lines(requests, RATE))
    done = subprocess.run([alignctl, "convert", table, "--output", recording],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{table}: cannot make a recording: {done.stderr.strip()}")
    table.unlink()
    return recording


def measure(guest: Guest, alignctl: Path, trace: Path, requests: int) -> OpenLoop:
    # Copy the trace: reading from the host costs the emulated processors more than a request.
    guest.run("cp", str(trace), TRACE, timeout=300)
    guest.run("cp", str(alignctl), "/run/alignctl")
    guest.run("modprobe", "null_blk", *NULL_BLK)
    document = guest.json(
        "python3", "-c", MEASURED, "/run/alignctl", "replay", TRACE, "--on", DISK,
        "--timing", "open", "--no-check", "--force", DISK, "--json",
        timeout=60 + 3 * requests / RATE)
    replay = document["replay"]
    return OpenLoop(replay["requests"], document["elapsed_s"], replay["wall_s"], replay["flush_s"],
                    document["max_rss_kib"], replay["drift"])
