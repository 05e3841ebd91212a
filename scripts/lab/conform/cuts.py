# SPDX-License-Identifier: GPL-2.0
"""
Cut the power of devices again and again under alignctl conform --prepare, judge them by --after, and print the verdicts.

    scripts/python -m lab.conform.cuts [--cuts N] [--series 6.12] [--only NAME...] [--update]

--update writes them into Documentation/admin/conform.rst, with kernel, cuts and date. Exit status 1 if a device could not be cut,
or dm-align has a fault.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import textwrap
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.table import Table

from ..linux import kernels, modules
from ..machines import drives, remote
from ..pace import patience
from ..paths import OUT, fail
from .__main__ import BOOT_S, DRIVE, FINDINGS, FINE, SECTORS, Subject, aligned, mapped, ruled, status_of, update

IO = 3
BLOCK = 4096
# The device whose finding the document shows.
FAULTY = "cache=unsafe"
# Seconds for a cut of a device, with making it before and after.
CUT_S = 30
NBD = "/run/conform.nbd"
# The content is in a file in memory, and lives on when nbdkit is killed.
MEDIUM = "/run/conform.medium"


@dataclass(frozen=True)
class Cut:
    """
    A device whose power is cut.

    before, after   the device while it is written to, and when its power is back
    kill            the command that cuts its power; "": the emulated drive below does, with a request
    """
    before: Subject
    after: Subject
    kill: str = ""


def nbdkit(cache: str) -> Cut:
    """A file of nbdkit's behind its cache; it is killed, and serves the file without the cache."""
    def served(first: str, filters: str, options: str) -> Subject:
        return Subject(f"nbdkit, {cache}", "/dev/nbd0", (
            "modprobe nbd nbds_max=1", first, f"rm -f {NBD}", f"nbdkit -U {NBD} {filters} file {MEDIUM} {options}",
            f"nbd-client -nonetlink -unix {NBD} /dev/nbd0"),
            ("timeout 9 nbd-client -nonetlink -d /dev/nbd0", "pkill nbdkit", "sleep 1", "modprobe -r nbd"))
    new = f"rm -f {MEDIUM}; truncate -s 64M {MEDIUM}"
    return Cut(served(new, "--filter=cache", cache), served("true", "", ""), "pkill -9 nbdkit")


CUTS = (
    Cut(Subject("drive512e, virtio-blk", DRIVE), Subject("drive512e, virtio-blk", DRIVE)),
    Cut(*2 * (mapped("dm-linear", f"0 {SECTORS} linear {DRIVE} 8"),)),
    *(Cut(*2 * (aligned(mode, DRIVE, BLOCK),)) for mode in ("report", "pad", "coalesce")),
    nbdkit("cache=writeback"), nbdkit(FAULTY),
)


@dataclass
class Found:
    """What the cuts of a device came to; why: it could not be cut, for that reason. shown: what --after printed of a fault."""
    name: str
    cuts: int = 0
    bad_cuts: int = 0
    durable: int = 0
    lost: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    shown: str = ""
    why: str = ""

    @property
    def words(self) -> str:
        if self.why:
            return self.why
        named = ", ".join(f"{name} {count}" for name, count in sorted((+self.faults).items()))
        return f"{named}, in {self.bad_cuts} cuts" if named else "none"

    @property
    def bad(self) -> bool:
        return self.bad_cuts > 0


def cut_once(guest: remote.Guest, drive: drives.Served, cut: Cut, number: int) -> tuple[dict[str, Any], str]:
    """Cut the power once; return the document, and what is printed for people if it has a fault."""
    state, choose = "/run/conform.state", random.Random(f"{cut.before.name} {number}")
    write = ["/run/alignctl", "conform", cut.before.path, "--block", str(BLOCK), "--write", "0+1M", "--seed", str(number),
             "--prepare", state]
    commands = {"before": (cut.before.make, cut.before.remove), "after": (cut.after.make, cut.after.remove)}
    try:
        for command in (f"rm -f {state}", *commands["before"][0]):
            guest.run("sh", "-c", command)
        if cut.kill:
            guest.run("sh", "-c", f"{' '.join(write)} & sleep {choose.uniform(1, 3):.2f}; {cut.kill}; wait $!", ok=(IO,),
                      timeout=patience(CUT_S))
        else:
            drive.control(f"power cut at={choose.randint(100, 1000)} tear={choose.choice(['none', 'sector'])} seed={number}")
            guest.run(*write, ok=(IO,), timeout=patience(CUT_S))
    finally:
        for command in commands["before"][1]:
            guest.run("sh", "-c", command, ok=tuple(range(256)))
        drive.control("power on")
    try:
        for command in commands["after"][0]:
            guest.run("sh", "-c", command)
        judge = ("/run/alignctl", "conform", cut.after.path, "--after", state)
        document = guest.json(*judge, "--json", timeout=patience(CUT_S), ok=(FINE, FINDINGS))
        shown = guest.run(*judge, timeout=patience(CUT_S), ok=(FINE, FINDINGS)) if document["faulty"] else ""
    finally:
        for command in commands["after"][1]:
            guest.run("sh", "-c", command, ok=tuple(range(256)))
    return document, shown


def cut_often(guest: remote.Guest, drive: drives.Served, cut: Cut, cuts: int) -> Found:
    found = Found(cut.before.name)
    try:
        for number in range(cuts):
            document, shown = cut_once(guest, drive, cut, number)
            found.cuts += 1
            found.bad_cuts += bool(document["faulty"])
            found.durable += document["durable"]
            found.lost += document["not_durable_lost"]
            found.faults.update(document["faults"])
            found.shown = found.shown or shown
    except remote.GuestError as error:
        guest.run("true", timeout=30)
        # Warnings come first.
        found.why = str(error).strip().rsplit("\n", maxsplit=1)[-1]
    return found


def page(every: list[Found], release: str, cuts: int) -> str:
    """Return the table for the document."""
    rows = [("Device", "Cuts", "Durable", "Taken", "Faults"),
            *((each.name, str(each.cuts), str(each.durable), str(each.lost), each.words) for each in every)]
    heading = f"Linux {release}, {datetime.now(UTC).date()}, {cuts} cuts each, ``make conform-cuts``:"
    return f"{heading}\n\n{ruled(rows)}"


def example(found: Found) -> str:
    """Return what --after prints of a faulty device, with its first fault that has a flush only, as a literal block."""
    heading, *faults, totals = found.shown.strip().split("\n\n")
    first = next((each for each in faults if "made it durable" in each), faults[0])
    parts = [heading, first, *([f"({len(faults) - 1} more findings)"] if len(faults) > 1 else []), totals]
    return "::\n\n" + textwrap.indent("\n\n".join(parts), "    ") + "\n"


def table(every: list[Found]) -> Table:
    made = Table("device", "cuts", "durable", "taken", "faults", title="Power cuts")
    for each in every:
        made.add_row(each.name, str(each.cuts), str(each.durable), str(each.lost), each.words)
    return made


def main() -> int:
    parser = argparse.ArgumentParser(prog="lab.conform.cuts", description="Cut the power of devices under alignctl conform.")
    parser.add_argument("--cuts", type=int, default=60, help="of each device (default: 60)")
    parser.add_argument("--series", default=kernels.USUAL, help=f"of Debian's kernels (default: {kernels.USUAL})")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="devices with one of these words in their names")
    parser.add_argument("--update", action="store_true", help="write them into Documentation/admin/conform.rst")
    given = parser.parse_args()
    wanted = [cut for cut in CUTS if not given.only or any(word in cut.before.name for word in given.only)]
    if not wanted or (given.update and given.only):
        fail("--only names no device" if not wanted else "--update is for all devices; leave out --only")
    release = kernels.release(given.series)
    built, _ = modules.build_for(release)
    folder = OUT / "conform"
    folder.mkdir(parents=True, exist_ok=True)
    console, every = Console(), []
    with (drives.serve({"d0": drives.Server(size="256M", profile="fixed", options=("latency_us=1000",))}, folder) as served,
          remote.boot(folder, timeout=patience(BOOT_S + len(wanted) * given.cuts * CUT_S), name=f"cuts-{os.getpid()}",
                      series=given.series, memory="1G", drives=[served["d0"].attached()]) as guest):
        for command in ("modprobe dm-mod", "modprobe dm-bufio", f"insmod {built / 'dm-align.ko'}"):
            guest.run("sh", "-c", command)
        guest.run("cp", str(OUT / "bin" / "alignctl"), "/run/alignctl")
        with console.status("") as status:
            for number, cut in enumerate(wanted):
                status.update(f"{cut.before.name}: {number + 1} of {len(wanted)}, {given.cuts} cuts each")
                every.append(cut_often(guest, served["d0"], cut, given.cuts))
    console.print(table(every))
    for each in every:
        if each.shown and not given.update:
            console.print(each.shown, markup=False, highlight=False)
    if given.update:
        update("cuts", page(every, release, given.cuts))
        update("cut-fault", example(next(each for each in every if FAULTY in each.name)))
    return status_of(every)


if __name__ == "__main__":
    sys.exit(main())
