# SPDX-License-Identifier: GPL-2.0
"""A guest with an align device on an emulated drive under load, whose metrics Prometheus scrapes.

In the guest, the command of align-metrics.service is executed again and again, as its timer would do it, and writes into a
folder that is shared with this machine. node_exporter and Prometheus run on this machine: an emulated processor is too slow
for them, and would measure them instead of the device. So the metrics and their way are those of a user, and the times are
those at which they were scraped; only the file's last step, from one machine to another, is not.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..demo.schedule import patience
from ..linux import kernels, modules
from ..machines import drives, remote
from ..pace import Limit
from ..paths import OUT, REPO
from .load import KINDS
from .monitors import Monitors, watching

MODES = ("report", "pad", "coalesce")
# A disk without a write cache, which does each read-modify-write before it answers. coalesce needs the cache that the
# target advertises.
DRIVE = drives.Server(size="1G", profile="hdd-nocache", cache="off")
HOST, DISK, NAME = "guest", "vda", "align-vda"
DEVICE = f"/dev/mapper/{NAME}"
SERVICE = REPO / "scripts/packaging/systemd/align-metrics.service.in"
ALIGNCTL = "/tmp/alignctl"
# What the control socket counts and a phase takes the difference of.
COUNTED = ("touches", "writes", "reads", "read_bytes")


def service(folder: Path, unit: Path = SERVICE) -> list[str]:
    """Return the command of a service, for a program and a folder that are elsewhere."""
    [command] = re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.MULTILINE)
    return shlex.split(command.replace("@SBINDIR@/alignctl", ALIGNCTL).replace("@TEXTFILE_DIR@", str(folder)))


@dataclass(frozen=True)
class Phase:
    """The load in one mode.

    before, after   times of two scrapes, in seconds: the last one before the load, the first one after it
    wrote           totals of the load by kind: see load.py
    ledger          what the ledger counted in between
    latency         the ledger's histograms of that, by kind: {upper end of a bin in us: count}
    drive           what the drive counted in between
    alerts          {alert: state} after the load
    """

    mode: str
    before: float
    after: float
    wrote: dict[str, Counter[str]]
    ledger: Counter[str]
    latency: dict[str, Counter[float]]
    drive: Counter[str]
    alerts: dict[str, str]


class Run:
    """A running guest; started() makes one."""

    def __init__(self, guest: remote.Guest, drive: drives.Served, monitors: Monitors) -> None:
        self.guest, self.drive, self.monitors = guest, drive, monitors

    def alignctl(self, *arguments: str, ok: tuple[int, ...] = (0,)) -> str:
        return self.guest.run(ALIGNCTL, *arguments, ok=ok)

    def ledger(self) -> tuple[Counter[str], dict[str, Counter[float]]]:
        """Return the counters, of which none has been reset, and the bins of the latencies by kind."""
        [device] = json.loads(self.alignctl("stats", NAME, "--json", ok=(0, 1)))["devices"]
        histograms = device["histograms"]
        return Counter(device["counters"]), {kind: Counter(dict(histograms[f"latency_{kind}"]["bins"])) for kind in KINDS}

    def counted(self) -> Counter[str]:
        """Return the drive's counts."""
        counts = self.drive.control("stats")
        return Counter({name: counts[name] for name in COUNTED})

    def scraped(self, ledger: dict[str, int], since: float) -> float:
        """Wait for a scrape after `since` that has all counters of the ledger; return its time, in seconds."""
        limit = Limit(30 + 4 * self.monitors.scraped)
        while True:
            now = time.time()
            times = [at for _, at in self.monitors.at("timestamp(dm_align_writes_total)", now)]
            found = counters(self.monitors.at('{__name__=~"dm_align_.+"}', now))
            different = {name: found.get(name) for name, value in ledger.items() if found.get(name) != value}
            if times and times[0] >= since and not different:
                return times[0]
            if limit.over():
                raise RuntimeError(f"the ledger is not scraped {limit.over()}: {different} differ from {ledger}")
            time.sleep(0.1)

    def at_rest(self) -> float:
        """Write back what is held; return the time of a scrape since then that has the ledger."""
        self.alignctl("set", NAME, "--flush")
        began = time.time()
        return self.scraped(self.ledger()[0], began)

    def phase(self, mode: str, seconds: float, *settings: str) -> Phase:
        """Set a mode, and further options of `alignctl set`; let the load run for some seconds."""
        self.alignctl("set", NAME, "--mode", mode, *settings)
        before = self.at_rest()
        (ledger, latency), drive = self.ledger(), self.counted()
        said = self.guest.json("env", f"PYTHONPATH={REPO / 'scripts'}", "PYTHONDONTWRITEBYTECODE=1", "python3", "-m",
                               "lab.dashboard.load", DEVICE, str(seconds), timeout=patience(seconds))
        after = self.at_rest()
        (ledger_after, latency_after), drive_after = self.ledger(), self.counted()
        ledger_after.subtract(ledger)
        drive_after.subtract(drive)
        return Phase(mode, before, after, {kind: Counter(said[kind]) for kind in KINDS}, ledger_after,
                     {kind: latency_after[kind] - latency[kind] for kind in KINDS}, drive_after, self.monitors.alerts())


def counters(samples: list[tuple[dict[str, str], float]]) -> dict[str, float]:
    """Return {name in the ledger: value} of the samples of one device; the sums of reasons are added."""
    found: Counter[str] = Counter()
    for labels, value in samples:
        name = labels["__name__"].removeprefix("dm_align_").removesuffix("_total")
        found[name] += value  # type: ignore[assignment]
        if "reason" in labels:
            found[f"{name}_{labels['reason']}"] += value  # type: ignore[assignment]
    return dict(found)


@contextlib.contextmanager
def started(folder: Path, *, seconds: float, every: float, name: str = "dashboard") -> Iterator[Run]:
    """Boot the guest, attach the device in mode report, and let the metrics be written and scraped.

    folder    for logs and files, and Prometheus' data
    seconds   that the load takes, all together
    every     seconds between two times that the metrics are written, and between two scrapes
    name      of the guest
    Raises GuestError, or RuntimeError if a program does not start.
    """
    texts = folder / "textfiles"
    texts.mkdir(parents=True)
    built, _ = modules.build_for(kernels.release(kernels.USUAL))
    with (drives.serve({"drive": DRIVE}, folder / "log") as served,
          watching(folder, {HOST: texts}, every) as monitors,
          remote.boot(folder / "log", timeout=patience(seconds), name=name, series=kernels.USUAL,
                      drives=[served["drive"].attached()], rwdirs=[texts]) as guest):
        queue = f"/sys/block/{DISK}/queue"
        # A copy, so that a build on the host cannot change the program.
        guest.run("cp", str(OUT / "bin/alignctl"), ALIGNCTL)
        guest.run("modprobe", "dm-mod")
        guest.run("insmod", str(built / "dm-align.ko"))
        guest.run("sh", "-c", f"echo none >{queue}/scheduler && echo 2 >{queue}/nomerges")
        guest.run(ALIGNCTL, "attach", f"/dev/{DISK}", "--write-cache", "on")
        guest.run("sh", "-c", f"while {shlex.join(service(texts))}; do sleep {every:g}; done >/dev/null 2>/tmp/timer.log &")
        yield Run(guest, served["drive"], monitors)
