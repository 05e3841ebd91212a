# SPDX-License-Identifier: GPL-2.0
"""How long `alignctl fleet` takes over thousands of hosts: `make bench-fleet`.

    scripts/python -m lab.bench.fleet [--hosts N]

Each host has a document of check, about 12 disks with a partition, and one of plan, about a trace of one of them, both as
alignctl prints them. The disks, of machines made up as sysfs and /dev are, differ in model, rotation and in which partitions
are shifted, half of all; the traces in size and place of their writes; and the recordings of all hosts in length, so that no
two hosts cost the same. Files are in the page cache, as after they were fetched. Prints seconds of wall time and of processor
time of each kind of answer, and the memory of the largest process.
Exit status: 0 all hosts answered for within SECONDS each, 1 not, 2 it could not run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ..paths import OUT, fail
from .check import ALIGNED, DISK_BYTES, PART_SECTORS, SECTOR, SHIFTED, device, disk_name, node, queue, table, write

ALIGNCTL = OUT / "bin/alignctl"
HOSTS, DISKS, SECONDS = 5000, 12, 5
# Documents of check and of plan that are made; the numbers have no common factor, so that hosts have most pairs of them.
MACHINES, TRACES = 40, 31
WRITES = 3600
# Models of disks, and their rotation rate; 0: of SSDs.
MODELS = {"ST16000NM001G": 7200, "WDC WD40EFRX-68W": 5400, "HGST HUS726040AL": 7200, "INTEL SSDSC2KB96": 0}
FINE, FINDINGS = 0, 1


def machine(root: Path, source: random.Random, shifted: float) -> None:
    """Make a machine up; shifted: probability of each partition to be."""
    for index in range(DISKS):
        name, start = disk_name(index), SHIFTED if source.random() < shifted else ALIGNED
        model, rpm = source.choice([*MODELS.items()])
        folder = device(root, f"pci0/host{index}/{name}", f"8:{16 * index}", DISK_BYTES, **queue(rotational=int(rpm > 0)),
                        device__model=model, device__rev="SN03", device__wwid=f"naa.5000c500{index:08x}", device__scsi_level=5)
        if rpm:
            # the page that has the rotation rate
            (folder / "device/vpd_pgb1").write_bytes(bytes([0, 0xb1, 0, 60]) + rpm.to_bytes(2, "big") + bytes(58))
        device(root, f"pci0/host{index}/{name}/{name}1", f"8:{16 * index + 1}", PART_SECTORS * SECTOR, partition=1, start=start)
        node(root, name, DISK_BYTES, table(start))
        node(root, f"{name}1", PART_SECTORS * SECTOR, b"")
    write(root / "proc", swaps="Filename\tType\tSize\tUsed\tPriority", self__mountinfo="")


def trace(path: Path, source: random.Random) -> None:
    """Write a trace of an hour, of writes of up to a largest size in random order."""
    sectors, most = [*range(8 * WRITES)], source.randrange(2, 64)
    path.write_text("time_s,op,offset,bytes,comm\n" + "".join(
        f"{second},write,{SECTOR * source.choice(sectors)},{SECTOR * source.randrange(1, most)},app{source.randrange(4)}\n"
        for second in range(WRITES)))


def printed(*arguments: object, root: Path | None = None) -> bytes:
    """Return what alignctl prints as JSON, of the machine below root, if any is given."""
    done = subprocess.run([ALIGNCTL, *map(str, arguments), "--json"], capture_output=True,
                          env=os.environ | ({"ALIGNCTL_SYSROOT": str(root)} if root else {}))
    if done.returncode not in (FINE, FINDINGS):
        fail(f"alignctl {arguments[0]}: {done.stderr.decode().strip()}")
    return done.stdout


def make(folder: Path, hosts: int) -> int:
    """Write the documents of all hosts; return their bytes."""
    source = random.Random(1)
    checks, plans = [], []
    for index in range(min(MACHINES, hosts)):
        machine(folder / f"machine{index}", source, index % 5 / 4)
        checks.append(printed("check", root=folder / f"machine{index}"))
    for index in range(min(TRACES, hosts)):
        trace(folder / f"{index}.csv", source)
        plans.append(printed("plan", folder / f"{index}.csv"))
    total = 0
    for number in range(hosts):
        host = folder / "answers" / f"host{number:05}"
        host.mkdir(parents=True)
        plan, times = re.subn(rb'"seconds": \S+,', b'"seconds": %.6f,' % (WRITES + number / 997), plans[number % len(plans)],
                              count=1)
        if not times:
            fail("alignctl plan: prints no seconds")
        total += (host / "check.json").write_bytes(checks[number % len(checks)])
        total += (host / f"plan-{disk_name(number % DISKS)}.json").write_bytes(plan)
    return total


def used() -> float:
    """Return the seconds of processor time that all programs took that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench-fleet", description="Measure alignctl fleet over many hosts.")
    parser.add_argument("--hosts", type=int, default=HOSTS)
    given = parser.parse_args()
    # alignctl's Python programs run with the first python3 of PATH
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    status = FINE
    with tempfile.TemporaryDirectory(prefix="bench-fleet-") as name:
        total = make(Path(name), given.hosts)
        print(f"{given.hosts} hosts of {DISKS} disks, {total / given.hosts / 1e3:.0f} kB each")
        for options in ([], ["--json"], ["--html", f"{name}/page.html"]):
            began, before = time.perf_counter(), used()
            done = subprocess.run([ALIGNCTL, "fleet", f"{name}/answers", *options], capture_output=True)
            seconds, processor = time.perf_counter() - began, used() - before
            # headings go before the rows, and an empty line and totals follow
            answered = (len(json.loads(done.stdout)["hosts"]) if "--json" in options else
                        done.stdout.partition(b"\n\n")[0].count(b"\n"))
            whole = done.returncode == FINDINGS and answered == given.hosts
            print(f"  {' '.join(options[:1]) or 'table':<7} {seconds:5.2f} s, {processor:5.2f} s of processors  "
                  f"{answered} hosts answered for{'' if whole and seconds <= SECONDS else '  NOT MET'}")
            status = status if whole and seconds <= SECONDS else 1
    print(f"  memory  {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3:.0f} MB, of the largest process")
    return status


if __name__ == "__main__":
    sys.exit(main())
