# SPDX-License-Identifier: GPL-2.0
"""Makes the runs of one drive in one guest, each through a device made for it alone.

The range is prepared and afterwards read back past the device that is measured, on the
drive itself: so that device has seen none of its blocks when the run begins, and what is read
back is what has reached the drive.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..demo.plan import patience
from ..demo.runner import COLD_READS
from ..machines.drives import Served
from ..machines.remote import Guest
from . import trace
from .arms import MODES, SECTOR, joined, table
from .noise import Usage, host_load
from .plan import Step
from .record import Run

NAME = "bench"
JOINED = "drive"
DEVICE = f"/dev/mapper/{NAME}"
STATE = "/tmp/bench.state"
QUEUE_LIMITS = ("max_sectors_kb", "max_segments", "max_segment_size", "logical_block_size",
                "physical_block_size", "nr_requests")
# Many times the buffers of a run. A guest that has just booted hands out memory in one piece, and
# then dm-ebs, which looks at each piece of a write, reads fewer blocks than it does in real life.
SCATTERED_BYTES = 256 << 20
MEMORY = ("memory_bytes", "memory_high_water_bytes", "max_blocks")


class Runner:
    """A guest with one drive: makes runs on it."""

    def __init__(self, guest: Guest, alignctl: Path, served: Served, disks: list[str]) -> None:
        """disks: the guest's names of the drive; if there are several, each is a connection."""
        self._guest = guest
        # A copy, so that a build on the host cannot change the program between two runs.
        self._built, self._alignctl = str(alignctl), "/tmp/alignctl"
        self._served = served
        self._disks = disks
        self._raw = f"/dev/{disks[0]}"

    def set_up(self, modules: list[Path]) -> dict[str, int]:
        """Loads the targets; returns the limits of the drive's queue."""
        self._guest.run("cp", self._built, self._alignctl)
        self._guest.run("modprobe", "-a", "dm-mod", "dm-bufio")
        for module in modules:
            self._guest.run("insmod", str(module))
        self._guest.scatter(SCATTERED_BYTES)
        for disk in self._disks:
            self._guest.run("sh", "-c", f"echo none >/sys/block/{disk}/queue/scheduler")
        if len(self._disks) > 1:
            sectors = self._served.control("stats")["size"] // SECTOR
            self._guest.run("dmsetup", "create", JOINED, "--table", joined(sectors, self._disks))
            self._raw = f"/dev/mapper/{JOINED}"
        queue = f"/sys/block/{self._disks[0]}/queue"
        return {name: int(self._guest.run("cat", f"{queue}/{name}")) for name in QUEUE_LIMITS}

    def _usage(self) -> Usage:
        return Usage.parse(self._guest.run("cat", "/proc/stat"))

    def _make_cold(self) -> None:
        """Fills the drive's buffer for reads with other places."""
        size = self._served.control("stats")["size"]
        step = size // 8 // COLD_READS
        self._guest.read(self._raw, [size - (i + 1) * step for i in range(COLD_READS)], 4096)

    def _create(self, step: Step) -> str:
        """The device of an arm, as a path."""
        sectors = self._served.control("stats")["size"] // SECTOR
        line = table(step.arm, self._raw, sectors, step.case.features)
        if line is None:
            return self._raw
        self._guest.run("dmsetup", "create", NAME, "--table", line)
        return DEVICE

    def _memory(self) -> dict[str, int]:
        disk = self._guest.run("dmsetup", "info", "-c", "--noheadings", "-o", "blkdevname", NAME)
        folder = f"/sys/block/{disk.strip()}/align"
        return {name: int(self._guest.run("cat", f"{folder}/target0_{name}"))
                for name in MEMORY}

    def clear(self) -> None:
        """Removes what a run that failed may have left."""
        self._guest.run("dmsetup", "remove", NAME, ok=(0, 1))

    def _replay(self, step: Step, phase: str, device: str, *argv: str,
                ok: tuple[int, ...] = (0,)) -> dict[str, Any]:
        return self._guest.json(
            self._alignctl, "replay", step.case.workload, "--on", device, "--state", STATE,
            "--json", *argv, "--phase", phase, timeout=patience(step.estimate_s), ok=ok)

    def _prepare(self, step: Step) -> str:
        """Everything before the first write; returns the device to write to."""
        seed = ("--seed", str(step.repeat + 1)) if step.case.random else ()
        self._replay(step, "prepare", self._raw, "--count", str(step.count), *step.case.extra,
                     *seed)
        self._make_cold()
        return self._create(step)

    def _run(self, step: Step, device: str) -> dict[str, Any]:
        return self._replay(step, "run", device, "--depth", str(step.case.depth))

    def _remove(self, device: str) -> None:
        if device != self._raw:
            self._guest.run("dmsetup", "remove", NAME)

    def trace(self, step: Step) -> str:
        """The requests of the last writes of a run that is not recorded."""
        device = self._prepare(step)
        trace.start(self._guest)
        self._run(step, device)
        lines = trace.stop(self._guest)
        self._remove(device)
        return trace.text(lines)

    def make(self, step: Step) -> Run:
        """Makes one run. Raises GuestError, or OSError of the drive, if it cannot be made."""
        device = self._prepare(step)
        self._served.control("reset")
        host, before = Usage.of_host(), self._usage()
        replayed = self._run(step, device)
        host, guest = Usage.of_host() - host, self._usage() - before
        counted = self._served.control("stats")
        ledger = memory = None
        if step.arm in MODES:
            # Status 1 says that it does not balance: that is for the checks to report.
            stats = self._guest.json(self._alignctl, "stats", NAME, "--json", ok=(0, 1))
            ledger, memory = stats["devices"][0]["counters"], self._memory()
        self._remove(device)
        # Status 1 says that bytes differ: likewise.
        checked = self._replay(step, "check", self._raw, ok=(0, 1))
        replayed["data_check"] = checked["data_check"]
        machine = {"guest_cpu": guest.busy_share, "host_load": host_load(),
                   "host_steal": host.steal_share}
        return Run(step.drive.name, step.case.name, step.arm, step.repeat, step.count,
                   without_histograms(replayed), counted, ledger, memory, machine)


def without_histograms(replayed: dict[str, Any]) -> dict[str, Any]:
    """Means and percentiles are enough here, and a full benchmark makes a thousand runs."""
    for times in ("service_us", "flush_us"):
        if replayed.get(times):
            replayed[times].pop("histogram", None)
    return replayed
