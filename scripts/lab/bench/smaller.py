# SPDX-License-Identifier: GPL-2.0
"""Logical blocks of 512 bytes on a drive of 4096: dm-align, dm-ebs and a loop device, in a guest whose clock counts instructions.

The drive is null_blk with memory, a write cache, and a time for each request. With `-icount`
a nanosecond of the guest is an instruction, and time in which the guest only waits costs none. So the
drive is as slow as it is told to be, the guest is never too busy for it, and neither depends on
how busy the machine is. What is written is read back on the drive when the device is gone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from align_reports.checks import check_balance

from ..machines.remote import Guest
from ..pace import patience
from .arms import BLOCK, MODES, SECTOR, table

LOOP = "loop"
ARMS = ("ebs", LOOP, "pad", "coalesce")
FEATURES = {"logical_block_size": SECTOR}
DEPTH, DRIVE_MS = 32, 10
DISK, NAME = "/dev/nullb0", "smaller"
NULL_BLK = ("nr_devices=1", "gb=4", f"bs={BLOCK}", "queue_mode=2", "submit_queues=1", "irqmode=2",
            f"completion_nsec={DRIVE_MS * 1_000_000}", f"hw_queue_depth={8 * DEPTH}", "memory_backed=1", "cache_size=512")
# Of /sys/block/*/stat.
READS, WRITES, FLUSHES = 0, 4, 15
TRACE, STATE = "/run/smaller.csv", "/run/smaller.state"
# As the random workloads of alignctl.
START_BYTES, SPAN_BYTES = 65536, 1 << 30

Request = tuple[str, int, int]  # "read" or "write", offset, bytes
Requests = Callable[[int, int], Iterator[Request]]  # of a count and a seed


def scattered(reads: float, size: int) -> Requests:
    """Return the requests of a size at random multiples of it, of which a share are reads."""
    def requests(count: int, seed: int) -> Iterator[Request]:
        chance = random.Random(seed)
        for _ in range(count):
            operation = "read" if chance.random() < reads else "write"
            yield operation, START_BYTES + chance.randrange(SPAN_BYTES // size) * size, size
    return requests


def in_a_row(start: int, size: int) -> Requests:
    """Return the requests of writes one after the other."""
    def requests(count: int, _: int) -> Iterator[Request]:
        for number in range(count):
            yield "write", start + number * size, size
    return requests


@dataclass(frozen=True)
class Case:
    """Requests, how many are in flight, and how many are made: quick, full."""

    name: str
    about: str
    requests: Requests
    depth: int
    counts: tuple[int, int]


RANDOM = Case("write512-32", "512 B at random, 32 in flight", scattered(0, SECTOR), DEPTH, (2000, 8000))
CASES = (
    RANDOM,
    Case("read512-32", "512 B read at random, 32 in flight", scattered(1, SECTOR), DEPTH, (2000, 8000)),
    Case("mixed512-32", "512 B at random, 70 % reads, 32 in flight", scattered(0.7, SECTOR), DEPTH, (2000, 8000)),
    Case("write4k-32", "4096 B at random, aligned, 32 in flight", scattered(0, BLOCK), DEPTH, (2000, 8000)),
    Case("seq512", "512 B, one after the other", in_a_row(START_BYTES, SECTOR), 1, (400, 4000)),
    # Not longer: a whole block of it would go down in pieces of the writer's memory, and null_blk writes past a page then.
    Case("seq4k-off", "4096 B stream, one sector off", in_a_row(BLOCK - SECTOR, BLOCK), 1, (400, 4000)),
)


def lines(requests: Iterable[Request]) -> Iterator[str]:
    """Yield the lines of a trace in CSV."""
    yield "time_ns,op,offset,bytes\n"
    for number, (operation, offset, size) in enumerate(requests):
        yield f"{number},{operation},{offset},{size}\n"


def touches(requests: Iterable[Request]) -> int:
    """Return the partial touches: the blocks that each write covers in part."""
    return sum(len({at // BLOCK for at, edge in ((offset, offset), (offset + size - 1, offset + size)) if edge % BLOCK})
               for operation, offset, size in requests if operation == "write")


@dataclass(frozen=True)
class Result:
    """
    One run. flush_s: of the flush behind it; reads, writes, flushes: at the drive, among the reads those with
    which replay looks for signatures; written: requests that write; touches: theirs; compared, wrong: blocks on
    the drive, both 0 of a case that only reads; ledger: of dm-align; direct: whether a loop device passes the
    page cache.
    """

    case: str
    arm: str
    requests: int
    wall_s: float
    flush_s: float
    mean_us: float
    p99_us: float
    reads: int
    writes: int
    flushes: int
    written: int
    touches: int
    compared: int
    wrong: int
    ledger: dict[str, int] | None = None
    direct: bool | None = None

    @property
    def rate(self) -> float:
        """Return the requests a second until the end of the flush, as loop and coalesce acknowledge from memory."""
        return self.requests / (self.wall_s + self.flush_s)


class Smaller:
    """A guest with the drive, which makes the runs."""

    def __init__(self, guest: Guest, alignctl: Path, folder: Path) -> None:
        """Take a guest. folder: of the host, visible to the guest."""
        self._guest = guest
        self._built, self._alignctl = str(alignctl), "/run/alignctl"
        self._folder = folder

    def set_up(self, modules: list[Path]) -> None:
        """Load the targets, and make the drive."""
        self._guest.run("modprobe", "-a", "dm-mod", "dm-bufio", "loop")
        for module in modules:
            self._guest.run("insmod", str(module))
        self._guest.run("modprobe", "null_blk", *NULL_BLK)
        self._guest.run("sh", "-c", f"echo none >/sys/block/{Path(DISK).name}/queue/scheduler")
        self._guest.run("cp", self._built, self._alignctl)

    def _stat(self) -> list[int]:
        return [int(word) for word in self._guest.run("cat", f"/sys/block/{Path(DISK).name}/stat").split()]

    def _passes_cache(self, loop: str) -> bool:
        """Tell whether a loop device does direct I/O."""
        return self._guest.run("cat", f"/sys/block/{Path(loop).name}/loop/dio").strip() == "1"

    def run(self, case: Case, arm: str, count: int, seed: int) -> Result:
        """Make one run through a new device."""
        requests = list(case.requests(count, seed))
        # A name of its own: a guest may keep the content that a file of the host had.
        path = self._folder / f"{case.name}-{count}-{seed}.csv"
        with path.open("w") as file:
            file.writelines(lines(requests))
        self._guest.run("cp", str(path), TRACE)
        device, remove = make(self._guest, arm, DISK)
        try:
            before = self._stat()
            made = self._guest.json(self._alignctl, "replay", TRACE, "--on", device, "--state", STATE, "--no-check",
                                    "--timing", "fast", "--depth", str(case.depth), "--json", "--force", device,
                                    timeout=patience(300))
            spent = [now - then for now, then in zip(self._stat(), before)]
            # Status 1 means that the ledger does not balance, which is a finding.
            ledger = self._guest.json(self._alignctl, "stats", NAME, "--json", ok=(0, 1))["devices"][0]["counters"] \
                if arm in MODES else None
            direct = self._passes_cache(device) if arm == LOOP else None
        finally:
            self._guest.run(*remove)
        written = sum(operation == "write" for operation, _, _ in requests)
        compared, wrong = self._compare() if written else (0, 0)
        return Result(case.name, arm, made["requests"], made["wall_s"], made["flush_s"], made["service_us"]["mean"],
                      made["service_us"]["p99"], spent[READS], spent[WRITES], spent[FLUSHES], written, touches(requests),
                      compared, wrong, ledger, direct)

    def _compare(self) -> tuple[int, int]:
        """Return the blocks that were read on the drive, and the wrong ones: after a flush no write may be missing."""
        # Status 1 means that blocks are lost or torn, which is a finding.
        found = self._guest.json(self._alignctl, "replay", "--check", STATE, "--on", DISK, "--json", timeout=patience(300),
                                 ok=(0, 1))
        return judged(found)

    def measure(self, rounds: int, quick: bool, into: list[Result], progress: Callable[[int, int], None]) -> None:
        """Make rounds of all cases through all arms in turn. progress: called with the runs done and planned."""
        total, done = rounds * len(CASES) * len(ARMS), 0
        for number in range(rounds):
            for case in CASES:
                for arm in ARMS:
                    into.append(self.run(case, arm, case.counts[0 if quick else 1], number + 1))
                    done += 1
                    progress(done, total)


def judged(found: dict[str, Any]) -> tuple[int, int]:
    """Return the blocks that `replay --check` compared, and those that are wrong. Raises ValueError if it could not end."""
    if not found["done"]:
        raise ValueError("replay --check could not read everything")
    wrong = sum(found[state]["blocks"] for state in ("lost", "torn", "old"))
    return wrong + found["new"]["blocks"], wrong


def make(guest: Guest, arm: str, disk: str) -> tuple[str, tuple[str, ...]]:
    """Make the device of an arm; return its path, and the command that removes it."""
    if arm == LOOP:
        # It is asked for direct I/O, as the other arms are for each request.
        device = guest.run("losetup", "--find", "--show", f"--sector-size={SECTOR}", "--direct-io=on", disk).strip()
        return device, ("losetup", "--detach", device)
    line = table(arm, disk, int(guest.run("blockdev", "--getsz", disk)), FEATURES)
    if line is None:
        raise ValueError(f"{arm}: is no device above another")
    guest.run("dmsetup", "create", NAME, "--table", line)
    return f"/dev/mapper/{NAME}", ("dmsetup", "remove", NAME)


def of(results: list[Result], case: str, arm: str) -> list[Result]:
    return [each for each in results if (each.case, each.arm) == (case, arm)]


def check(results: list[Result]) -> Iterator[str]:
    """Yield every finding, apart from the figures: data, and the ledger."""
    for each in results:
        title = f"{each.case} {each.arm}"
        if each.wrong:
            yield f"{title}: {each.wrong} of {each.compared} blocks on the drive are lost, torn or old"
        if each.written and not each.compared:
            yield f"{title}: {each.written} requests wrote, and nothing was compared"
        if each.ledger is None:
            continue
        yield from check_balance(title, each.ledger)
        if each.ledger["rmw_expected"] != each.touches:
            yield f"{title}: rmw_expected is {each.ledger['rmw_expected']}, the requests have {each.touches} partial touches"
        if each.ledger["rmw_drive"]:
            yield f"{title}: rmw_drive is {each.ledger['rmw_drive']}, and nothing may go down that is not whole"
