# SPDX-License-Identifier: GPL-2.0
"""
Examine devices of the kernel by alignctl conform, in one guest on an emulated drive, and print the verdicts.

    scripts/python -m lab.conform [--seconds N] [--series 6.12] [--only NAME...] [--json FILE] [--update]
    scripts/python -m lab.conform --clean ROUNDS [--update]

--clean makes so many rounds on loop devices of this machine, in memory, which keep their word: a fault is a false alarm.
That needs root. --update writes what was found into Documentation/admin/conform.rst, with kernel, rounds and date.
Exit status 1 if a device could not be examined, or dm-align has a fault; 2 if the guest ended before all were examined.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from rich.console import Console
from rich.table import Table

from ..linux import kernels, modules, peer
from ..machines import drives, remote
from ..pace import patience
from ..paths import OUT, REPO, fail
from . import clean

PAGE = REPO / "Documentation" / "admin" / "conform.rst"
MARKS = ".. {}: begin\n", ".. {}: end\n"
# Of the device whose faults the document shows, and of those that must have none.
FAULTY, TARGET = "dm-ebs", "dm-align"
DRIVE = "/dev/vda"
# Another one, with logical blocks of 4096 bytes and physical ones of 16384.
LARGE = "/dev/vdb"
FILE = "/run/conform/file"
SECTORS = 131072
FINE, FINDINGS = 0, 1
# Seconds for the boot, and to make and remove each device.
BOOT_S, MAKE_S = 120, 20
KEY = "00112233445566778899aabbccddeeff" * 2
# Of a line of the document.
WIDTH = 88


@dataclass(frozen=True)
class Subject:
    """A device: the commands that make it and remove it. lacking: why a kernel may be unable to make it."""
    name: str
    path: str
    make: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    lacking: str = ""


def mapped(name: str, table: str) -> Subject:
    return Subject(name, "/dev/mapper/subject", (f"dmsetup create subject --table '{table}'",),
                   ("dmsetup remove --retry subject",))


def aligned(mode: str, drive: str, block: int, of: str = "") -> Subject:
    return mapped(f"dm-align, {mode}{of}",
                  f"0 {SECTORS} align {drive} 0 6 mode {mode} physical_block_size {block} alignment_offset 0")


def smaller(mode: str) -> Subject:
    """Offer logical blocks of 512 bytes; the last physical block lies in the device only in part."""
    return mapped(f"dm-align, {mode}, 512 on 4096 in 16384",
                  f"0 {SECTORS - 8} align {LARGE} 0 4 mode {mode} logical_block_size 512")


def loop(name: str, direct: str, logical: int = 512, lacking: str = "") -> Subject:
    """Make a loop device of a file on ext4; its number is the kernel's first.

    With smaller blocks of ext4 the file can lie so that a logical block of the loop device is two writes for the drive.
    """
    return Subject(name, "/dev/loop0", (
        "modprobe loop", f"mkfs.ext4 -q -F -b 4096 {DRIVE} 50000", "mkdir -p /run/conform", f"mount {DRIVE} /run/conform",
        f"truncate -s 64M {FILE}", f"losetup --direct-io={direct} --sector-size {logical} /dev/loop0 {FILE}"),
        ("losetup -d /dev/loop0", "umount /run/conform", f"wipefs -qa {DRIVE}"), lacking)


SUBJECTS = (
    Subject("drive512e, virtio-blk", DRIVE),
    mapped("dm-linear", f"0 {SECTORS} linear {DRIVE} 8"),
    mapped("dm-crypt", f"0 {SECTORS} crypt aes-xts-plain64 {KEY} 0 {DRIVE} 8"),
    loop("loop, buffered", "off"),
    loop("loop, direct", "on"),
    Subject("nbd, nbdkit memory", "/dev/nbd0", (
        "modprobe nbd nbds_max=1", "nbdkit -U /run/conform.nbd memory 64M", "nbd-client -unix /run/conform.nbd /dev/nbd0"),
        ("nbd-client -d /dev/nbd0", "pkill nbdkit", "sleep 1", "modprobe -r nbd")),
    *(aligned(mode, DRIVE, 4096) for mode in ("report", "pad", "coalesce")),
    Subject("drive512e, 4096 in 16384", LARGE),
    *(aligned(mode, LARGE, 16384, ", 4096 in 16384") for mode in ("pad", "coalesce")),
    *(smaller(mode) for mode in ("pad", "coalesce")),
    loop("loop, 4096 in 4096", "on", 4096),
    loop("loop, 16384 in 16384", "off", 16384, "this kernel has no such blocks"),
    mapped("dm-ebs, 512 on 4096", f"0 {SECTORS} ebs {DRIVE} 0 1 8"),
)


@dataclass(frozen=True)
class Verdict:
    """What conform found of a subject; why: it could not be examined, for that reason; lacking: the kernel cannot make it."""
    name: str
    rounds: int = 0
    faulty: int = 0
    faults: str = ""
    bound: int | None = None
    untried: str = ""
    why: str = ""
    lacking: str = ""

    @property
    def words(self) -> str:
        if self.why or self.lacking:
            return self.why or self.lacking
        if self.faulty:
            return self.faults
        return f"none; fewer than 1 in {self.bound}" if self.bound else "none"

    @property
    def bad(self) -> bool:
        return self.faulty > 0


class Judged(Protocol):
    """What was found of a device: why it could not be examined, or whether it has a fault."""

    @property
    def name(self) -> str: ...

    @property
    def why(self) -> str: ...

    @property
    def bad(self) -> bool: ...


def status_of(every: Iterable[Judged]) -> int:
    """Return the exit status: a device of the kernel may have faults, the target none."""
    return int(any(each.why or each.bad and each.name.startswith(TARGET) for each in every))


def examine(guest: remote.Guest, subject: Subject, seconds: int) -> Verdict:
    made = False
    try:
        for command in subject.make:
            guest.run("sh", "-c", command)
        made = True
        document = guest.json("/run/alignctl", "conform", subject.path, "--time", str(seconds), "--json",
                              "--force", subject.path, timeout=patience(seconds + 120), ok=(FINE, FINDINGS))
    except remote.GuestError as error:
        guest.run("true", timeout=30)
        if subject.lacking and not made:
            return Verdict(subject.name, lacking=subject.lacking)
        return Verdict(subject.name, why=str(error).split("\n", maxsplit=1)[0])
    finally:
        for command in subject.remove:
            guest.run("sh", "-c", command, ok=tuple(range(256)))
    faults = ", ".join(f"{name} {count}" for name, count in document["faults"].items() if count)
    return Verdict(subject.name, document["rounds"], document["faulty"], faults, document["fewer_than_one_in"],
                   ", ".join(document["cannot_tell"]))


def ruled(rows: Sequence[tuple[str, ...]]) -> str:
    """Return the rows as a table of reStructuredText; the first one is the heading."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = " ".join("=" * width for width in widths)
    lines = [" ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule, ""])


def page(verdicts: list[Verdict], release: str, seconds: int) -> str:
    """Return the table for the document."""
    rows = [("Device", "Rounds", "Faulty", "Faults")] + [
        (each.name, str(each.rounds), str(each.faulty),
         each.words + (f"; not tried: {each.untried}" if each.untried else ""))
        for each in verdicts]
    return f"Linux {release}, {datetime.now(UTC).date()}, {seconds} s each, ``make conform``:\n\n{ruled(rows)}"


def example(guest: remote.Guest, subject: Subject, seconds: int) -> str:
    """Return what conform prints of a faulty device, with its first fault only, as a literal block."""
    for command in subject.make:
        guest.run("sh", "-c", command)
    said = guest.run("/run/alignctl", "conform", subject.path, "--time", str(seconds), timeout=patience(seconds + 120),
                     ok=(FINE, FINDINGS))
    for command in subject.remove:
        guest.run("sh", "-c", command)
    heading, *faults, kinds, methods, total = said.strip().split("\n\n")
    parts = [heading, *faults[:1], *([f"({len(faults) - 1} more faults)"] if len(faults) > 1 else []), kinds, methods, total]
    return "::\n\n" + textwrap.indent("\n\n".join(parts), "    ") + "\n"


def update(name: str, text: str) -> None:
    """Replace the text between the marks of that name in the document."""
    begin, end = (mark.format(name) for mark in MARKS)
    before, rest = PAGE.read_text().split(begin)
    _, after = rest.split(end)
    PAGE.write_text(f"{before}{begin}\n{text}\n{end}{after}")


def shown(verdicts: list[Verdict]) -> Table:
    table = Table("device", "rounds", "faulty", "faults", "not tried", title="Verdicts")
    for each in verdicts:
        table.add_row(each.name, str(each.rounds), str(each.faulty), each.words, each.untried)
    return table


def main() -> int:
    parser = argparse.ArgumentParser(prog="lab.conform", description="Examine devices of the kernel by alignctl conform.")
    parser.add_argument("--seconds", type=int, default=60, help="for each device (default: 60)")
    parser.add_argument("--series", default=kernels.USUAL, help=f"of Debian's kernels (default: {kernels.USUAL})")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="devices with one of these words in their names")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the verdicts to FILE, too")
    parser.add_argument("--clean", type=int, metavar="ROUNDS", help="make so many on memory disks of this machine instead")
    parser.add_argument("--update", action="store_true", help="write what was found into Documentation/admin/conform.rst")
    given = parser.parse_args()
    if given.clean:
        found = clean.run(given.clean, OUT / "bin" / "alignctl")
        print(found.words)
        if given.update:
            update("alarms", f"{textwrap.fill(found.words, WIDTH)}\n")
        return 1 if found.faulty else 0
    subjects = [each for each in SUBJECTS if not given.only or any(word in each.name for word in given.only)]
    if not subjects or (given.update and given.only):
        fail("--only names no device" if not subjects else "--update is for all devices; leave out --only")
    console = Console()
    release = kernels.release(given.series)
    built, _ = modules.build_for(release)
    ebs = peer.dm_ebs(given.series)
    folder = OUT / "conform"
    folder.mkdir(parents=True, exist_ok=True)
    limit = patience(BOOT_S + len(subjects) * (given.seconds + MAKE_S))
    verdicts, shows, broken = [], "", ""
    servers = {"d0": drives.Server(size="256M"),
               "d1": drives.Server(size="256M", physical=16384, presented={"logical": 4096})}
    try:
        with (drives.serve(servers, folder) as served,
              remote.boot(folder, timeout=limit, name=f"conform-{os.getpid()}", series=given.series, memory="1G",
                          drives=[each.attached() for each in served.values()]) as guest):
            for path in (built / "dm-align.ko", ebs):
                for command in ("modprobe dm-mod", "modprobe dm-bufio", "modprobe dm-crypt", f"insmod {path}"):
                    guest.run("sh", "-c", command)
            guest.run("cp", str(OUT / "bin" / "alignctl"), "/run/alignctl")
            with console.status("") as status:
                for number, subject in enumerate(subjects):
                    status.update(f"{subject.name}: {number + 1} of {len(subjects)}, {given.seconds} s each")
                    verdicts.append(examine(guest, subject, given.seconds))
                    if given.update and FAULTY in subject.name:
                        shows = example(guest, subject, given.seconds)
    except remote.GuestError as error:
        # What was examined before stays.
        broken = str(error)
    console.print(shown(verdicts))
    if given.json:
        given.json.write_text(json.dumps([asdict(each) for each in verdicts], indent=1) + "\n")
    if broken:
        fail(f"the guest ended after {len(verdicts)} of {len(subjects)} devices: {broken}")
    if given.update:
        update("verdicts", page(verdicts, release, given.seconds))
        update("faults", shows)
    return status_of(verdicts)


if __name__ == "__main__":
    sys.exit(main())
