# SPDX-License-Identifier: GPL-2.0
"""Count false alarms: make rounds of alignctl conform on loop devices in memory, which keep their word."""

from __future__ import annotations

import contextlib
import json
import platform
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from ..paths import fail

# Files of this folder are in memory.
MEMORY = Path("/dev/shm")
# Logical blocks of the devices, and the places at work at a time, which take turns.
LOGICAL, DEPTHS = (512, 4096), (32, 8)
# Rounds of a call, each with its own seed.
CALL = 20000
FINDINGS = 1


@dataclass
class Found:
    """Rounds made, by method, and those with a fault; the least bound is that of the kinds' least tried."""
    rounds: int = 0
    faulty: int = 0
    bound: int | None = None

    @property
    def words(self) -> str:
        """Return what was found as a sentence."""
        bound = f", so that fewer than 1 in {self.bound} has one at 95 %" if self.bound else ""
        return (f"{self.rounds} rounds on loop devices in memory, with logical blocks of "
                f"{' and '.join(map(str, LOGICAL))} bytes, by io_uring and by threads (Linux {platform.release()}, "
                f"{datetime.now(UTC).date()}): {self.faulty} with a false alarm{bound}.")


@contextlib.contextmanager
def loop(logical: int, file: Path) -> Iterator[str]:
    """Make a loop device with logical blocks of that size; yield its path."""
    done = subprocess.run(["losetup", "--find", "--show", "--sector-size", str(logical), file], capture_output=True, text=True)
    if done.returncode:
        fail(f"--clean: {done.stderr.strip()}; a loop device needs root")
    try:
        yield done.stdout.strip()
    finally:
        subprocess.run(["losetup", "--detach", done.stdout.strip()], check=True)


def examine(alignctl: Path, device: str, rounds: int, depth: int, seed: int) -> dict:
    """Make rounds on a device; return conform's document."""
    done = subprocess.run([alignctl, "conform", device, "--rounds", str(rounds), "--depth", str(depth), "--seed", str(seed),
                           "--force", device, "--json"], capture_output=True, text=True)
    if done.returncode not in (0, FINDINGS):
        fail(f"conform {device}: {done.stderr.strip()}", 1)
    return json.loads(done.stdout)


def run(rounds: int, alignctl: Path) -> Found:
    """Make rounds until there are as many; print a round with a false alarm, and end with it."""
    found = Found()
    with contextlib.ExitStack() as stack, Console(stderr=True).status("") as status:
        devices = []
        for logical in LOGICAL:
            file = Path(stack.enter_context(tempfile.NamedTemporaryFile(dir=MEMORY)).name)
            with file.open("r+b") as opened:
                opened.truncate(64 << 20)
            devices.append(stack.enter_context(loop(logical, file)))
        call = 0
        while found.rounds < rounds and not found.faulty:
            depth = DEPTHS[call // len(devices) % len(DEPTHS)]
            document = examine(alignctl, devices[call % len(devices)], min(CALL, rounds - found.rounds), depth, call + 1)
            call += 1
            found.rounds += document["rounds"]
            found.faulty += document["faulty"]
            status.update(f"{found.rounds} of {rounds} rounds, {found.faulty} with a false alarm")
            if document["faulty"]:
                print(json.dumps(document["examples"], indent=1))
    # As alignctl has it: (1 - 1 / n) ** rounds <= 5 %.
    found.bound = None if found.faulty else int(1 / (1 - 0.05 ** (1 / found.rounds)))
    return found
