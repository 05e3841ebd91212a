# SPDX-License-Identifier: GPL-2.0
"""What a device costs that does nothing: its memory, and the time to make and remove it.

Memory: in guests of which most processors are offline, as the kernel has per-CPU memory for each
that might come online. Many devices are made at once, and what the kernel's own accounts of its
memory then have more is divided by their number.

Time: in a guest whose clock counts instructions, so that it does not depend on how busy the
machine is; waiting, as for RCU, passes on that clock as well.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..machines.remote import Guest
from .arms import BLOCK, MODES, table
from .overhead import DISK, FEATURES, Meter

ARMS = ("linear", "coalesce")
# Processors that there might be, and those that are online.
POSSIBLE = (2, 8, 64)
ONLINE = 2
SECTORS = 2048
# The program that makes devices, and the folder in memory for it.
DMSETUP, MEMORY = "/sbin/dmsetup", "/run/dmsetup"
# Devices of each arm before those that are measured.
FIRST = 20
# Of a line of dmsetup's, as an argument is limited to 128 KiB.
AT_ONCE = 500
# Runs in the guest: a command's time in seconds.
TIMED = """
import subprocess, sys, time
# The first start reads what Python itself needs.
subprocess.run([*sys.argv[1:5], "version"], check=True, stdout=subprocess.DEVNULL)
began = time.monotonic()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(time.monotonic() - began)
"""
# Fields of /proc/meminfo, in KiB, that are parts of a device's memory beside the slabs.
SLAB, LARGE = "slab", "kmalloc of more than 8k"
MEMINFO = {"Percpu": "per-CPU memory", "KernelStack": "stacks", "Slab": SLAB}
# Structures of the module, and those that there are of each for each processor.
STRUCTURES = ("align_target", "align_node", "align_io", "align_file")
PER_CPU = ("ledger_share", "quiet_counts")


@dataclass(frozen=True)
class Idle:
    """Devices of one arm in a guest. memory: bytes of one device by part, slabs by their cache's name."""

    possible: int
    arm: str
    devices: int
    memory: dict[str, float]


@dataclass(frozen=True)
class Made:
    """Devices of one arm that were made and removed. made_s, removed_s: seconds for all of them."""

    arm: str
    devices: int
    made_s: float
    removed_s: float

    @property
    def seconds(self) -> float:
        return self.made_s + self.removed_s


def parse_meminfo(text: str) -> dict[str, int]:
    """Return the bytes of the parts in MEMINFO."""
    found = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        if name in MEMINFO:
            found[MEMINFO[name]] = int(rest.split()[0]) * 1024
    return found


def parse_slabinfo(text: str) -> tuple[dict[str, int], int]:
    """Return the bytes of all objects in use of each cache, all that the cache takes for an object; and those of all slabs."""
    found, slabs = {}, 0
    for line in text.splitlines():
        words = line.split()
        if not line.startswith(("slabinfo", "#")):
            name, active, _, _, of_slab, pages = words[:6]
            found[name] = int(active) * int(pages) * BLOCK // int(of_slab)
            slabs += int(words[14]) * int(pages) * BLOCK
    return found, slabs


def structures(module: Path) -> dict[str, int]:
    """Return the sizes of the module's structures, from its debugging information, by pahole. Raises ValueError."""
    done = subprocess.run(["pahole", "--sizes", str(module)], capture_output=True, text=True, check=True)
    sizes = {words[0]: int(words[1]) for line in done.stdout.splitlines() if (words := line.split())}
    lacking = [name for name in STRUCTURES + PER_CPU if name not in sizes]
    if lacking:
        raise ValueError(f"{module}: no debugging information of {', '.join(lacking)}")
    return {name: sizes[name] for name in STRUCTURES + PER_CPU}


class Idlers:
    """A guest in which devices are made that do nothing."""

    def __init__(self, guest: Guest, devices: int) -> None:
        self._guest = guest
        self._devices = devices

    def set_up(self, modules: list[Path]) -> None:
        Meter(self._guest, 0).set_up(modules, ("raw",))
        # From memory: while a guest waits for its files, its clock runs, for as long as the host takes.
        self._guest.run("sh", "-c", f"mkdir {MEMORY} && cp -L $(ldd {DMSETUP} | grep -o '/[^ ]*') {DMSETUP} {MEMORY}")
        self._dmsetup = (self._guest.run("sh", "-c", f"ls {MEMORY}/ld-*").strip(), "--library-path", MEMORY,
                         f"{MEMORY}/{Path(DMSETUP).name}")

    def _timed(self, *command: str) -> float:
        return float(self._guest.run("python3", "-c", TIMED, *self._dmsetup, *command, timeout=600))

    def _accounts(self) -> dict[str, int]:
        """Return the kernel's memory by part, once what has been freed by RCU is free."""
        self._guest.run("sh", "-c", "sync; echo 3 >/proc/sys/vm/drop_caches; sleep 1")
        caches, slabs = parse_slabinfo(self._guest.run("cat", "/proc/slabinfo"))
        parts = parse_meminfo(self._guest.run("cat", "/proc/meminfo"))
        # Allocations larger than any cache's objects are in the sum of the slabs only.
        parts[LARGE] = parts.pop(SLAB) - slabs
        return {**parts, **caches}

    def _make(self, arm: str, names: list[str]) -> float:
        """Make devices; return the seconds that it took."""
        line = table(arm, DISK, SECTORS, FEATURES if arm in MODES else {})
        assert line is not None
        return sum(self._timed("create", "--concise", ";".join(f"{name},,,,{line}" for name in group))
                   for group in groups(names))

    def _remove(self, names: list[str]) -> float:
        return sum(self._timed("remove", *group) for group in groups(names))

    def _names(self, arm: str) -> list[str]:
        return [f"{arm}{number}" for number in range(self._devices)]

    def weigh(self, possible: int) -> list[Idle]:
        """
        Make devices of each arm, and let them be: memory that has been used is kept for its next use, and is in the
        accounts already. The first devices fill what is filled once. possible: processors of the guest
        """
        results = []
        for arm in ARMS:
            self._make(arm, [f"first-{arm}{number}" for number in range(FIRST)])
            before = self._accounts()
            self._make(arm, self._names(arm))
            after = self._accounts()
            results.append(Idle(possible, arm, self._devices,
                                {part: (size - before.get(part, 0)) / self._devices for part, size in after.items()
                                 if size != before.get(part, 0)}))
        return results

    def time(self, rounds: int, progress: Callable[[int, int], None]) -> list[Made]:
        """Make and remove devices of each arm in turn; the first round, which loads the programs, is dropped."""
        results = []
        for number in range((rounds + 1) * len(ARMS)):
            arm = ARMS[number % len(ARMS)]
            results.append(Made(arm, self._devices, self._make(arm, self._names(arm)), self._remove(self._names(arm))))
            progress(number + 1, (rounds + 1) * len(ARMS))
        return results[len(ARMS):]


def groups(names: list[str]) -> list[list[str]]:
    """Divide names into groups that fit into a line of dmsetup's."""
    return [names[at:at + AT_ONCE] for at in range(0, len(names), AT_ONCE)]


def beyond(own: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """Return what a device has more of each part than another, the largest part first."""
    more = {part: own.get(part, 0.0) - other.get(part, 0.0) for part in {**own, **other}}
    return dict(sorted(more.items(), key=lambda part: -abs(part[1])))


def memory(results: list[Idle], possible: int, arm: str) -> dict[str, float]:
    """Return the parts of a device's memory; empty without a run."""
    return next((each.memory for each in results if (each.possible, each.arm) == (possible, arm)), {})


def times(results: list[Made], arm: str) -> list[Made]:
    return [each for each in results if each.arm == arm]
