# SPDX-License-Identifier: GPL-2.0
"""Requests that meet in a block: what `alignctl conform` finds of each way to smaller logical blocks.

On a drive that takes no time of its own, which is where dm-ebs loses writes: it lets a write of
whole blocks pass by its cache while a part of the same block is read, changed and written back.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..machines.drives import Server
from ..machines.remote import Guest, GuestError
from ..pace import patience
from .arms import BLOCK
from .smaller import make

SERVER = Server(size="256M", presented={"logical": BLOCK})
DISK = "/dev/vda"
# For the limit of a guest only: a round through the slowest arm.
ROUND_S = 0.05


@dataclass(frozen=True)
class Races:
    """
    What conform found of an arm. kinds: kinds of rounds, kinds_faulty: those with a fault; bound: at 95 % fewer
    than one round in so many has a fault, None with faults; why: conform could not go on, for that reason.
    """

    arm: str
    rounds: int
    faulty: int
    faults: dict[str, int]
    kinds: int
    kinds_faulty: int
    bound: int | None
    why: str = ""

    @property
    def words(self) -> str:
        if self.why:
            return f"cannot be examined: {self.why}"
        if not self.faulty:
            return f"none in {self.rounds} rounds, fewer than 1 in {self.bound}"
        names = ", ".join(f"{name} {count}" for name, count in self.faults.items() if count)
        return f"{self.faulty} in {self.rounds} rounds, of {self.kinds_faulty} of {self.kinds} kinds: {names}"


def set_up(guest: Guest, alignctl: Path, modules: list[Path]) -> None:
    """Load the targets."""
    guest.run("modprobe", "-a", "dm-mod", "dm-bufio", "loop")
    for module in modules:
        guest.run("insmod", str(module))
    guest.run("cp", str(alignctl), "/run/alignctl")


def examine(guest: Guest, arm: str, rounds: int) -> Races:
    """Make the device of an arm, rounds of conform on it, and remove it. Raises GuestError."""
    device, remove = make(guest, arm, DISK)
    try:
        # Status 1 means that faults were found.
        return read(arm, guest.json("/run/alignctl", "conform", device, "--block", str(BLOCK), "--rounds", str(rounds), "--json",
                                    "--force", device, timeout=patience(60 + rounds * ROUND_S), ok=(0, 1)))
    except GuestError as error:
        # Not without a guest.
        guest.run("true", timeout=30)
        return Races(arm, 0, 0, {}, 0, 0, None, str(error).rpartition("alignctl: ")[2])
    finally:
        guest.run(*remove)


def read(arm: str, found: dict) -> Races:
    """Return the figures of a report of conform."""
    return Races(arm, found["rounds"], found["faulty"], found["faults"], len(found["kinds"]),
                 sum(bool(kind["faulty"]) for kind in found["kinds"]), found["fewer_than_one_in"])
