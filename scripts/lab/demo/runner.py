# SPDX-License-Identifier: GPL-2.0
"""The demo's runs: the experiment of `alignctl verify` in a guest, with the drive as the witness."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from align_reports import steps
from align_reports.results import Run
from align_reports.verify import experiment

from ..machines.drives import Served
from ..machines.remote import Guest
from .schedule import Step, patience

# Twice the number of segments in the drive's read buffer (Documentation/develop/drive512e.rst).
COLD_READS = 32
# More than the blocks that the widest workload touches (40000): with fewer blocks, touches of a
# burst go to the drive unmodified, as the drive is slower than the writer.
MAX_BLOCKS = 65536


@dataclass
class Arm:
    """One way to one drive, used by no other arm.

    Each mode of each profile has a separate drive, so that no run profits from another run's
    cache or head position.
    """

    profile: str
    mode: str
    drive: Served
    disk: str                          # the drive in the guest, "vda"


class Runner:
    """The guest with its arms, which makes the runs."""

    def __init__(self, guest: Guest, alignctl: Path, arms: list[Arm]) -> None:
        self._guest = guest
        # Use a copy, so that a build on the host cannot change the program between two runs.
        self._built, self._alignctl = str(alignctl), "/tmp/alignctl"
        self._arms = {(arm.profile, arm.mode): arm for arm in arms}

    def set_up(self, module: Path) -> None:
        """Load the target; make the drives' queues pass every request unmodified."""
        self._guest.run("cp", self._built, self._alignctl)
        self._guest.run("modprobe", "dm-mod")
        self._guest.run("insmod", str(module))
        for arm in self._arms.values():
            queue = f"/sys/block/{arm.disk}/queue"
            self._guest.run("sh", "-c", f"echo none >{queue}/scheduler && "
                                        f"echo 2 >{queue}/nomerges")

    def _make_cold(self, arm: Arm) -> None:
        """Fill the drive's read buffer with other blocks, to evict the blocks of the range.

        Otherwise the blocks that the preparation wrote last would spare the drive some reads. The
        reads go to the drive itself, even where it is attached, so no mode counts them.
        """
        size = arm.drive.control("stats")["size"]
        far = 3 * size // 4  # behind the widest workload
        step = (size - far) // COLD_READS
        self._guest.read(f"/dev/{arm.disk}", [far + i * step for i in range(COLD_READS)], 4096)

    def make(self, step: Step) -> Run:
        """Make one run. Raises GuestError, or OSError of the drive, if the run cannot be made."""
        arm = self._arms[step.profile, step.mode]
        verify = experiment.Experiment(
            self._guest, self._alignctl, f"/dev/{arm.disk}", PurePosixPath("/tmp"), step.count,
            attach=("--max-blocks", str(MAX_BLOCKS)), control=arm.drive.control, before=lambda: self._make_cold(arm),
            timeout=patience(step.estimate_s))
        run = verify.make(steps.Step(step.repetition, step.workload.name, step.mode))
        # By independent arithmetic, not alignctl's.
        return replace(run, profile=step.profile, count=step.count,
                       touches_expected=step.workload.touches_expected(step.count))
