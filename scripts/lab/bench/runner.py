# SPDX-License-Identifier: GPL-2.0
"""The runs of one drive in one guest, each through a newly created device.

The range is prepared and read back past the measured device, on the drive itself: so the device
has no cached block when the run begins, and the check reads the content that reached the drive.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..demo.runner import COLD_READS
from ..demo.schedule import patience
from ..machines.drives import Served
from ..machines.remote import Guest
from . import trace
from .arms import MODES, SECTOR, joined, table
from .noise import Usage, host_load
from .record import Run
from .schedule import Step

NAME = "bench"
JOINED = "drive"
DEVICE = f"/dev/mapper/{NAME}"
STATE = "/tmp/bench.state"
QUEUE_LIMITS = ("max_sectors_kb", "max_segments", "max_segment_size", "logical_block_size",
                "physical_block_size", "nr_requests")
# Many times the buffers of a run. A guest that has just booted has contiguous memory, so that
# dm-ebs, which handles each segment of a write, would read fewer blocks than on a real machine.
SCATTERED_BYTES = 256 << 20
MEMORY = ("memory_bytes", "memory_high_water_bytes", "max_blocks")


class Runner:
    """A guest with one drive, which makes the runs."""

    def __init__(self, guest: Guest, alignctl: Path, served: Served, disks: list[str]) -> None:
        """Take a guest and its drive. disks: the guest's names of the drive, one for each connection."""
        self._guest = guest
        # Use a copy, so that a build on the host cannot change the program between two runs.
        self._built, self._alignctl = str(alignctl), "/tmp/alignctl"
        self._served = served
        self._disks = disks
        self._raw = f"/dev/{disks[0]}"

    def set_up(self, modules: list[Path]) -> dict[str, int]:
        """Load the targets; return the limits of the drive's queue."""
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
        """Fill the drive's read buffer with other blocks."""
        size = self._served.control("stats")["size"]
        step = size // 8 // COLD_READS
        self._guest.read(self._raw, [size - (i + 1) * step for i in range(COLD_READS)], 4096)

    def _create(self, step: Step) -> str:
        """Create the device of an arm; return its path."""
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
        """Remove the devices that a failed run may have left."""
        self._guest.run("dmsetup", "remove", NAME, ok=(0, 1))

    def _replay(self, step: Step, phase: str, device: str, *argv: str,
                ok: tuple[int, ...] = (0,)) -> dict[str, Any]:
        return self._guest.json(
            self._alignctl, "replay", step.case.workload, "--on", device, "--state", STATE,
            "--json", *argv, "--phase", phase, timeout=patience(step.estimate_s), ok=ok)

    def _prepare(self, step: Step) -> str:
        """Do everything before the first write; return the device to write to."""
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
        """Make a run outside the record; return the requests of its last writes."""
        device = self._prepare(step)
        trace.start(self._guest)
        self._run(step, device)
        lines = trace.stop(self._guest)
        self._remove(device)
        return trace.text(lines)

    def make(self, step: Step) -> Run:
        """Make one run. Raises GuestError, or OSError of the drive, if the run cannot be made."""
        device = self._prepare(step)
        self._served.control("reset")
        host, before = Usage.of_host(), self._usage()
        replayed = self._run(step, device)
        host, guest = Usage.of_host() - host, self._usage() - before
        counted = self._served.control("stats")
        ledger = memory = None
        if step.arm in MODES:
            # Status 1 means that the ledger does not balance, which the checks report.
            stats = self._guest.json(self._alignctl, "stats", NAME, "--json", ok=(0, 1))
            ledger, memory = stats["devices"][0]["counters"], self._memory()
        self._remove(device)
        # Status 1 means that data differs: likewise.
        checked = self._replay(step, "check", self._raw, ok=(0, 1))
        replayed["data_check"] = checked["data_check"]
        machine = {"guest_cpu": guest.busy_share, "host_load": host_load(),
                   "host_steal": host.steal_share}
        return Run(step.drive.name, step.case.name, step.arm, step.repeat, step.count,
                   without_histograms(replayed), counted, ledger, memory, machine)


def without_histograms(replayed: dict[str, Any]) -> dict[str, Any]:
    """Drop the histograms: means and percentiles are enough for a thousand runs."""
    for times in ("service_us", "flush_us"):
        if replayed.get(times):
            replayed[times].pop("histogram", None)
    return replayed
