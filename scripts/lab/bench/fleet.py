# SPDX-License-Identifier: GPL-2.0
"""How long `alignctl fleet` takes over thousands of hosts: `make bench-fleet`.

    scripts/python -m lab.bench.fleet [--hosts N]

Each host has a document of check, about 12 images of disks with a partition, and one of plan, about a trace, both as
alignctl prints them; every second host has its partitions shifted. Files are in the page cache, as after they were
fetched. Prints seconds of wall time and memory of each kind of answer.
Exit status: 0 all hosts answered for within SECONDS each, 1 not, 2 it could not run.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ..paths import OUT, fail

ALIGNCTL = OUT / "bin/alignctl"
HOSTS, DISKS, SECONDS = 5000, 12, 5
DISK_BYTES = 64 << 20
FINE, FINDINGS = 0, 1


def image(path: Path, start: int) -> Path:
    """Make an image of a disk whose partition starts at that sector."""
    entry = bytes([0, 0, 0, 0, 0x83, 0, 0, 0]) + start.to_bytes(4, "little") + (65536).to_bytes(4, "little")
    with path.open("wb") as file:
        file.write(bytes(446) + entry + bytes(48) + b"\x55\xaa")
        file.truncate(DISK_BYTES)
    return path


def printed(*arguments: object) -> bytes:
    done = subprocess.run([ALIGNCTL, *map(str, arguments), "--json"], capture_output=True)
    if done.returncode not in (FINE, FINDINGS):
        fail(f"alignctl {arguments[0]}: {done.stderr.decode().strip()}")
    return done.stdout


def make(folder: Path, hosts: int) -> int:
    """Write the documents of all hosts; return their bytes."""
    documents = []
    for start in (2048, 63):
        disks = [image(folder / f"sd{chr(ord('a') + index)}", start) for index in range(DISKS)]
        documents.append(printed("check", *disks))
    trace = folder / "trace.csv"
    trace.write_text("time_s,op,offset,bytes,comm\n" + "".join(f"{i},write,{4096 * i},{512 * (1 + i % 9)},app\n"
                                                               for i in range(3600)))
    forecast = printed("plan", trace)
    total = 0
    for number in range(hosts):
        host = folder / "answers" / f"host{number:05}"
        host.mkdir(parents=True)
        total += (host / "check.json").write_bytes(documents[number % 2])
        total += (host / "plan-sda.json").write_bytes(forecast)
    return total


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
            began = time.perf_counter()
            done = subprocess.run([ALIGNCTL, "fleet", f"{name}/answers", *options], capture_output=True)
            seconds = time.perf_counter() - began
            # two lines of totals and an empty one follow the rows, and headings go before
            answered = (len(json.loads(done.stdout)["hosts"]) if "--json" in options else
                        len(done.stdout.splitlines()) - 4)
            whole = done.returncode == FINDINGS and answered == given.hosts
            print(f"  {' '.join(options[:1]) or 'table':<7} {seconds:5.2f} s  {answered} hosts answered for"
                  f"{'' if whole and seconds <= SECONDS else '  NOT MET'}")
            status = status if whole and seconds <= SECONDS else 1
    print(f"  memory  {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3:.0f} MB")
    return status


if __name__ == "__main__":
    sys.exit(main())
