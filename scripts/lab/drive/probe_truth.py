# SPDX-License-Identifier: GPL-2.0
"""What the methods tell of each drive model on a virtual clock, beside what is true of it.

The methods know only what the drive says and how long its requests take. The truth is the models' parameters, written
down here once more, and the geometry that the drive model makes of them. As a program it prints the table.
"""

from __future__ import annotations

import functools
import json
import math
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from align_reports.probe.found import Found, Task
from align_reports.probe.methods import METHODS
from align_reports.probe.positions import Deltas, Pair
from align_reports.probe.rotation import FullStroke, Rotation, TrackToTrack
from align_reports.probe.target import Request, Target
from align_reports.progress import wide

from ..pace import patience
from ..paths import OUT
from . import documents
from .target import ClockTarget

ZONES = 16      # of a disk model
BLOCK = 4096


@dataclass(frozen=True)
class Disk:
    """
    bytes              capacity
    outer, inner       rates of the first and the last zone, bytes per second
    seeks_us           of reads: to the next track, mean, over all cylinders
    """

    bytes: int
    rpm: int
    outer: float
    inner: float
    heads: int
    seeks_us: tuple[float, float, float]

    def seek_us(self, share: float) -> float:
        """Return the seek over a share of all cylinders, as many as the capacity takes at these rates."""
        near, mean, full = self.seeks_us
        turn_s = 60 / self.rpm
        tracks = 0
        for zone in range(ZONES):
            rate = self.outer - zone * (self.outer - self.inner) / (ZONES - 1)
            tracks += self.bytes // ZONES // (int(rate * turn_s) // BLOCK * BLOCK) + 1
        n = tracks / self.heads
        # a + b sqrt(d) + c d, whose mean between cylinders at random is known: that of the root is 8/15 sqrt(n), of d n / 3
        root, line = (8 / 15 * math.sqrt(n) - 1, math.sqrt(n) - 1), (n / 3 - 1, n - 1)
        b = ((mean - near) * line[1] - (full - near) * line[0]) / (root[0] * line[1] - root[1] * line[0])
        c = (full - near - b * root[1]) / line[1]
        across = n * share
        return near - b - c + b * math.sqrt(across) + c * across


DESKTOP = 1953525168 * 512
GREEN = Disk(3907029168 * 512, 5400, 110e6, 52e6, 8, (1000, 12000, 20000))
DISKS = {
    "st1000dm003": Disk(DESKTOP, 7200, 220e6, 220e6 * 83 / 175, 2, (230, 7500, 17000)),
    "hdd-nocache": Disk(DESKTOP, 7200, 220e6, 220e6 * 83 / 175, 2, (230, 7500, 17000)),
    "hdd7200": Disk(DESKTOP, 7200, 220e6, 220e6 * 83 / 175, 2, (230, 7500, 17000)),
    "hdd5400": Disk(156301488 * 512, 5400, 51e6, 22e6, 2, (1400, 12200, 21900)),
    "wd20ears": GREEN,
    "usb-liar": GREEN,
}
FLASH = {"nvme-512e": 400 * 10 ** 9, "qlc-16k": 4 * 10 ** 12, "qlc-64k": 4 * 10 ** 12}


def size_of(profile: str) -> int:
    """Return the capacity of a drive in bytes, whole blocks."""
    return (DISKS[profile].bytes if profile in DISKS else FLASH[profile]) // BLOCK * BLOCK


def drive(profile: str, noise: float = 0, seed: int = 1) -> ClockTarget:
    """Return the model of a drive of its whole capacity."""
    return ClockTarget(profile=profile, size=size_of(profile), noise=noise, seed=seed)


@functools.cache
def counts() -> dict[str, int]:
    """Return the requests of each method by its name, as alignctl has them."""
    printed = subprocess.run([OUT / "bin" / "alignctl", "workloads", "--json"], capture_output=True, check=True,
                             timeout=patience(30)).stdout
    return {method["name"]: method["count"] for method in json.loads(printed)["methods"]}


def pairs(target: Target, seed: int, count: int) -> list[Pair]:
    """Make the reads of the workload rnddeltaread."""
    draw = random.Random(seed)
    places = [sorted(draw.randrange(target.says.size // BLOCK) * BLOCK for _ in range(2)) for _ in range(count)]
    times = target.each([Request(False, place, BLOCK) for pair in places for place in pair])[1::2]
    return [Pair(second - first, us) for (first, second), us in zip(places, times, strict=True)]


def found(method: str, target: Target, seed: int = 1) -> Found:
    """Return the results of a method on a target."""
    task, results = Task("model", counts()[method], None, seed, None), list[Any]()
    one = METHODS[method]
    if isinstance(one, (FullStroke, TrackToTrack, Rotation)):
        one.measure(target, task, lambda _: None, results)
    else:
        assert isinstance(one, Deltas)
        results += pairs(target, seed, task.requests)
    return one.found(task, results)


def told(method: str, target: Target, seed: int = 1) -> dict:
    """Return the document of a method on a target, and the drive's time that it took as took_s."""
    before = target.elapsed_s()
    return {**found(method, target, seed).document, "took_s": target.elapsed_s() - before}


def true_seek_us(profile: str, method: str, found: dict) -> float | None:
    """Return the seek that a method measures; None: it does not measure one that has a name."""
    disk = DISKS[profile]
    if method == "rnddeltaread":
        return disk.seek_us(max(pair["distance"] for pair in found["pairs"]) / disk.bytes)
    return {"fullstroke": disk.seek_us(1), "tracktotrack": disk.seeks_us[0]}.get(method)


COMPARED = ("rotation", "fullstroke", "tracktotrack", "rnddeltaread")


def holds(profile: str, method: str, found: dict) -> bool:
    """Check that nothing told is wrong: the speed within 1 %, revolution and seek within 5 %; that an SSD does not rotate."""
    if profile in FLASH:
        return found["rotates"] is False
    turn = 60e6 / DISKS[profile].rpm
    seek = true_seek_us(profile, method, found)
    return found["rotates"] is not False and all(
        estimate is None or abs(estimate["value"] / true - 1) <= most for estimate, true, most in
        ((found["rpm"], DISKS[profile].rpm, 0.01), (found["revolution_us"], turn, 0.05),
         (found["seek_us"] if seek else None, seek or 1, 0.05)))


def table() -> tuple[Table, int]:
    """Return what each method tells of each drive, and the truth; and the exit status: 1 if something told is wrong."""
    made = Table(title="Methods on models of drives, without noise", title_justify="left")
    status = 0
    for heading in ("drive", "method", "drive's time", "rpm", "told", "revolution", "told ", "seek", "told  "):
        made.add_column(heading, justify="left" if heading in ("drive", "method") else "right")
    for profile in (*DISKS, *FLASH):
        for method in COMPARED:
            with drive(profile) as target:
                found = told(method, target)
            status |= not holds(profile, method, found)
            cells = [profile, method if holds(profile, method, found) else f"{method} FAILED", f"{found['took_s']:.0f} s"]
            if profile in FLASH:
                made.add_row(*cells, "none", {False: "does not rotate"}.get(found["rotates"], "cannot tell"))
                continue
            turn = 60e6 / DISKS[profile].rpm
            seek = true_seek_us(profile, method, found)
            made.add_row(*cells, str(DISKS[profile].rpm), beside(found["rpm"], DISKS[profile].rpm, 1, 1),
                         f"{turn / 1000:.2f} ms", beside(found["revolution_us"], turn, 1000, 2),
                         *([f"{seek / 1000:.2f} ms", beside(found["seek_us"], seek, 1000, 2)] if seek else ["", ""]))
    return made, status


def beside(found: dict | None, true: float, unit: float, digits: int) -> str:
    """Format an estimate, its interval, and how far it is from the truth."""
    if not found:
        return "cannot tell"
    value, low, high = (f"{found[name] / unit:.{digits}f}" for name in ("value", "low", "high"))
    return f"{value} [{low} to {high}] {found['value'] / true - 1:+.1%}"


def main(argv: Sequence[str]) -> int:
    """Print the table, with --document into the document, too; return the exit status."""
    arguments = documents.parser(__doc__).parse_args(argv)
    made, status = table()
    wide().print(made)
    if arguments.document:
        documents.write(documents.PROBE, "probe_truth", documents.plain(made))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
