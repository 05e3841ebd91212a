# SPDX-License-Identifier: GPL-2.0
"""One run after the other: prepares, resets both counts, runs, reads both counts, checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from dmalign.drives import Served

from . import plan
from .guest import Guest
from .results import Run

# Twice the segments of the drive's read buffer (Documentation/drive512e.rst), each of which
# holds one place.
COLD_READS = 32


@dataclass
class Arm:
    """One way to one drive: the drive's own, with a device in the guest to write to.

    Each mode of each profile has a drive to itself, so that no run finds what another one
    left in a cache or under the head.
    """

    profile: str
    mode: str
    drive: Served
    disk: str                          # the drive in the guest, "vda"
    device: str = field(init=False)    # what replay writes to

    def __post_init__(self) -> None:
        self.device = f"/dev/{self.disk}"

    @property
    def name(self) -> str:
        return f"demo-{self.profile}-{self.mode}"


class Laboratory:
    """The guest with its arms: makes runs of them."""

    def __init__(self, guest: Guest, alignctl: Path, arms: list[Arm]) -> None:
        self._guest = guest
        # A copy, so that a build on the host cannot change the program between two runs.
        self._built, self._alignctl = str(alignctl), "/tmp/alignctl"
        self._arms = {(arm.profile, arm.mode): arm for arm in arms}

    def _align(self, *argv: str, **options) -> str:
        return self._guest.run(self._alignctl, *argv, **options)

    def set_up(self, module: Path) -> None:
        """Loads the target; makes the drives' queues pass every request as it is; attaches."""
        self._guest.run("cp", self._built, self._alignctl)
        self._guest.run("modprobe", "dm-mod")
        self._guest.run("insmod", str(module))
        for arm in self._arms.values():
            queue = f"/sys/block/{arm.disk}/queue"
            self._guest.run("sh", "-c", f"echo none >{queue}/scheduler && "
                                        f"echo 2 >{queue}/nomerges")
            if arm.mode != "raw":
                self._align("attach", arm.device, "--name", arm.name)
                self._align("set", arm.name, "--mode", arm.mode)
                arm.device = f"/dev/mapper/{arm.name}"

    def tear_down(self) -> None:
        for arm in self._arms.values():
            if arm.mode != "raw":
                self._align("detach", arm.name)

    def _ledger(self, arm: Arm) -> dict[str, int] | None:
        if arm.mode == "raw":
            return None
        # Status 1 says that it does not balance: that too is for the checks to report.
        document = self._guest.json(self._alignctl, "stats", arm.name, "--json", ok=(0, 1))
        return document["devices"][0]["counters"]

    def _make_cold(self, arm: Arm) -> None:
        """Fills the drive's buffer with other places, so that it knows nothing of the range.

        Without this, what the preparation wrote last would spare the drive some of its reads.
        The reads go to the drive itself, also where it is attached: no mode sees them.
        """
        size = arm.drive.control("stats")["size"]
        far = 3 * size // 4  # behind the widest workload
        step = (size - far) // COLD_READS
        self._guest.read(f"/dev/{arm.disk}", [far + i * step for i in range(COLD_READS)], 4096)

    def make(self, step: plan.Step) -> Run:
        """Makes one run. Raises GuestError, or OSError of the drive, if it cannot be made."""
        arm = self._arms[step.profile, step.mode]
        replay = (self._alignctl, "replay", step.workload.name, "--on", arm.device,
                  "--state", f"/tmp/{arm.name}", "--json")
        limit = plan.patience(step.estimate_s)
        self._guest.run(*replay, "--count", str(step.count), "--phase", "prepare", timeout=limit)
        self._make_cold(arm)
        if arm.mode != "raw":
            self._align("set", arm.name, "--reset-stats")
        arm.drive.control("reset")
        replayed = self._guest.json(*replay, "--phase", "run", timeout=limit)
        counted = arm.drive.control("stats")
        ledger = self._ledger(arm)
        # Status 1 says that bytes differ: that is for the checks to report.
        checked = self._guest.json(*replay, "--phase", "check", timeout=limit, ok=(0, 1))
        replayed["data_check"] = checked["data_check"]
        expected = step.workload.touches_expected(step.count)
        return Run(step.profile, step.workload.name, step.mode, step.count, expected,
                   replayed, counted, ledger)
