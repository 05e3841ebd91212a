# SPDX-License-Identifier: GPL-2.0
"""Three guests, each with a disk and a load of its own, whose metrics Prometheus scrapes.

In each guest, the commands of align-check-metrics.service and align-disk-metrics.service write into a folder that is shared
with this machine, where a node_exporter for each guest, and Prometheus, run: see run.py. The drives are emulated in real time.
A host that is mended gets its partition anew, at a boundary, and its load goes on.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..demo.schedule import patience
from ..linux import kernels
from ..machines import drives, remote
from ..pace import Limit
from ..paths import OUT, REPO
from .monitors import Monitors, watching
from .run import ALIGNCTL, service

UNITS = REPO / "scripts/packaging/systemd"
CHECK, COUNT = UNITS / "align-check-metrics.service.in", UNITS / "align-disk-metrics.service.in"
DISK, ALIGNED = "sda", 2048
MEMORY = "384M"


def drive(profile: str, physical: int, rotational: str) -> drives.Server:
    return drives.Server(size="1G", profile=profile, physical=physical,
                         presented={"bus": "scsi", "rotational": rotational, "product": profile})


@dataclass(frozen=True)
class Host:
    """A guest. start: sector at which its partition begins; load: options of fio, for writes in equal intervals."""

    name: str
    server: drives.Server
    start: int
    load: tuple[str, ...]


# Each load is less than its drive can do with the touches that it costs. Of a range of sizes, fio takes the least for its rate:
# log1 makes 12 writes a second.
HOSTS = (
    Host("db1", drive("hdd7200", 4096, "on"), 63, ("--rw=randwrite", "--bs=4k", "--rate_iops=20")),
    Host("log1", drive("hdd7200", 4096, "on"), ALIGNED, ("--rw=write", "--bsrange=512-8k", "--rate_iops=100")),
    Host("ssd1", drive("qlc-16k", 16384, "off"), ALIGNED, ("--rw=randwrite", "--bs=4k", "--rate_iops=50")),
)


def interval() -> int:
    """Return the seconds between two times that align-disk-metrics.service writes."""
    [found] = re.findall(r"^ExecStart=.* --interval (\d+) ", COUNT.read_text(), re.MULTILINE)
    return int(found)


@dataclass
class Machine:
    """A running guest of a host; texts: the folder of its metrics."""

    host: Host
    guest: remote.Guest
    drive: drives.Served
    texts: Path

    def partition(self, start: int) -> None:
        self.guest.run("sh", "-c", f"echo start={start},type=83 | sfdisk --quiet --label dos /dev/{DISK}")

    def check(self) -> None:
        """Do what align-check-metrics.timer does every hour."""
        self.guest.run(*service(self.texts, CHECK))

    def count(self, every: int) -> None:
        """Start what align-disk-metrics.service runs, and wait for its first metrics."""
        command = service(self.texts, COUNT)
        command[command.index("--interval") + 1] = str(every)
        self.guest.run("sh", "-c", f"{shlex.join(command)} >/dev/null 2>/tmp/top.log &")
        limit = Limit(120)
        while not (self.texts / "align-disks.prom").exists():
            if limit.over():
                raise RuntimeError(f"{self.host.name}: no metrics of top: {self.guest.run('cat', '/tmp/top.log')}")
            time.sleep(0.2)

    def begin(self, seconds: float) -> None:
        """Start the load, which ends after that time, or by end()."""
        words = ["fio", "--name=load", f"--filename=/dev/{DISK}1", "--direct=1", "--ioengine=psync", "--randseed=1",
                 "--time_based", f"--runtime={round(seconds)}", *self.host.load]
        self.guest.run("sh", "-c", f"{shlex.join(words)} >/tmp/fio.log 2>&1 & echo $! >/tmp/fio.pid")

    def end(self) -> None:
        """End the load, and wait until its last write is done."""
        self.guest.run("sh", "-c", "kill -INT $(cat /tmp/fio.pid) 2>/dev/null; "
                                   "while kill -0 $(cat /tmp/fio.pid) 2>/dev/null; do sleep 0.1; done", timeout=patience(60))


def scraped(monitors: Monitors, since: float) -> float:
    """Wait for counters of all hosts that were written and scraped after `since`; return the time, in seconds."""
    limit = Limit(60 + 4 * monitors.scraped)
    query = 'node_textfile_mtime_seconds{file=~".*align-disks.prom"}'
    while True:
        now = time.time()
        if sum(written >= since for _, written in monitors.at(query, now)) == len(monitors.exporters):
            return now
        if limit.over():
            raise RuntimeError(f"the counters are not scraped {limit.over()}: {monitors.at(query, now)}, since {since}")
        time.sleep(0.2)


@contextlib.contextmanager
def started(folder: Path, *, seconds: float, every: int, name: str = "fleet") -> Iterator[tuple[dict[str, Machine], Monitors]]:
    """Boot the guests, one after another, with their partitions; let their metrics be written and scraped.

    folder    for logs and files, and Prometheus' data
    seconds   that all loads take
    every     seconds between two times that the counters are written, and between two scrapes
    name      beginning of the guests' names
    Raises GuestError, or RuntimeError if a program does not start.
    """
    texts = {host.name: folder / "textfiles" / host.name for host in HOSTS}
    for each in texts.values():
        each.mkdir(parents=True)
    machines = {}
    with contextlib.ExitStack() as stack:
        served = stack.enter_context(drives.serve({host.name: host.server for host in HOSTS}, folder / "log"))
        monitors = stack.enter_context(watching(folder, texts, every))
        for host in HOSTS:
            log = folder / "log" / host.name
            log.mkdir()
            guest = stack.enter_context(remote.boot(
                log, timeout=patience(seconds + 300), name=f"{name}-{host.name}", series=kernels.USUAL, memory=MEMORY, cpus=1,
                drives=[served[host.name].attached()], rwdirs=[texts[host.name]]))
            # A copy, so that a build on the host cannot change the program.
            guest.run("cp", str(OUT / "bin/alignctl"), ALIGNCTL)
            machine = machines[host.name] = Machine(host, guest, served[host.name], texts[host.name])
            machine.partition(host.start)
            machine.check()
            machine.count(every)
        yield machines, monitors
