# SPDX-License-Identifier: GPL-2.0
"""A machine that is about to sleep or to hibernate writes all held blocks, and holds nothing until it is back."""

import re
import time
from pathlib import Path

import pytest

from lab.plugins.extent import only_usual
from rig.direct import Disk, Later, check, pattern
from rig.dm import Align, Device, sectors_of
from rig.witness import writes

POWER = Path("/sys/power")
LONG = 600000
# The kernel stays in each of its power management tests for pm_test_delay seconds, 5 by default.
STAYS = Path("/sys/module/suspend/parameters/pm_test_delay")
# A program that makes the image itself begins the hibernation by opening this device, and ends it by closing it.
SNAPSHOT = Path("/dev/snapshot")


@pytest.fixture
def asleep():
    """Return a function that prepares for a sleep, "mem" or "disk", freezes all tasks, thaws them and ends the sleep."""
    if not (POWER / "pm_test").exists():
        pytest.skip("this kernel has no CONFIG_PM_DEBUG")
    (POWER / "pm_test").write_text("freezer")
    if STAYS.exists():
        STAYS.write_text("1")

    def sleep(kind):
        assert kind in (POWER / "state").read_text().split(), f"this machine has no {kind}"
        (POWER / "state").write_text(kind)
    yield sleep
    (POWER / "pm_test").write_text("none")


def holding(path, **options):
    return Align(path, mode="coalesce", hold_ms=LONG, **options)


@pytest.mark.each_kernel
@pytest.mark.parametrize("kind", [only_usual("a hibernation freezes, too", "freeze"), "disk"])
def test_what_is_held_is_on_the_drive_before_the_machine_sleeps(rig, asleep, kind):
    """Of all targets, also of one that lies on another; and afterwards they hold again."""
    drive = rig.drive("p4096")
    with holding(drive.path) as below, holding(below.path) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        for tag, sector in enumerate((1, 80, 801)):
            upper.write(sector, pattern(tag, sector, 2))
        with Disk(below.path) as middle:
            middle.write(4001, pattern(9, 4001, 2))
        assert device.ledger()["held_blocks"] == 3 and below.ledger()["held_blocks"] == 1
        drive.reset()
        asleep(kind)
        assert device.ledger()["held_blocks"] == below.ledger()["held_blocks"] == 0
        for tag, sector in ((0, 1), (1, 80), (2, 801), (9, 4001)):
            check(sector, pattern(tag, sector, 2), lower.read(sector, 2), "beneath both targets")
        assert writes(drive.log()), "the drive was sent no write"
        upper.write(1, pattern(7, 1, 2))
        assert device.ledger()["held_blocks"] == 1, "nothing is held after the sleep"
        upper.flush()
        device.balanced()
        below.balanced()


def test_nothing_is_held_or_known_while_the_machine_sleeps(rig, asleep):
    """Writes that come between the preparation and the freezer are acknowledged when they are on the drive."""
    drive = rig.drive("p4096")
    length = sectors_of(drive.path)
    # The sleep waits for this device's held block, which takes long; meanwhile its time is over for the other one.
    with Device(f"0 {length // 2} delay {drive.path} 0 0 {drive.path} 0 4000") as slow, holding(slow.path) as late, \
            holding(drive.path, start=length // 2, length=length // 2) as device, \
            Disk(late.path) as first, Disk(device.path) as upper:
        first.write(1, pattern(1, 1, 2))
        later = Later(asleep, "freeze")
        limit = time.monotonic() + 60
        while late.ledger()["rmw_pending"] and device.ledger()["held_blocks"] == 0 and not later.done():
            before = device.ledger()["touches_held"]
            upper.write(801, pattern(2, 801, 2))
            ledger = device.ledger()
            if ledger["touches_held"] == before:
                break
            upper.flush()
            assert time.monotonic() < limit
        else:
            pytest.fail("a write was held although the machine prepares to sleep, or the sleep was over before one was seen")
        known = device.ledger()["rmw_avoided_known"]
        upper.write(803, pattern(3, 803, 1))
        ledger = device.ledger()
        assert not later.done(), "the sleep was over too early for the test"
        assert (ledger["held_blocks"], ledger["rmw_avoided_known"]) == (0, known)
        later.result()
        assert late.ledger()["held_blocks"] == 0
        device.balanced()


def test_a_sleep_within_a_hibernation_does_not_end_it(rig, asleep):
    if not SNAPSHOT.exists():
        pytest.skip("this kernel has no CONFIG_HIBERNATION_SNAPSHOT_DEV")
    drive = rig.drive("p4096")
    with holding(drive.path) as device, Disk(device.path) as upper:
        with SNAPSHOT.open("rb", buffering=0):
            for sector, when in ((1, "before the sleep"), (81, "after it")):
                upper.write(sector, pattern(1, sector, 2))
                assert device.ledger()["held_blocks"] == 0, f"a write is held in the hibernation, {when}"
                asleep("freeze")
        upper.write(801, pattern(1, 801, 2))
        assert device.ledger()["held_blocks"] == 1, "nothing is held after the hibernation"
        upper.flush()
        device.balanced()


def test_what_cannot_be_written_keeps_no_machine_awake_and_stays_held(rig, asleep):
    drive = rig.drive("p4096")
    length = sectors_of(drive.path)
    with Device(f"0 {length} error") as bad:
        bad.load(f"0 {length} linear {drive.path} 0")
        bad.resume()
        with holding(bad.path) as device, Disk(device.path) as upper:
            upper.write(1, pattern(1, 1, 2))
            bad.reload(f"0 {length} error")
            with rig.log() as log:
                asleep("freeze")
            assert re.search(r"1 held blocks were not written before the sleep, and stay held", log.text), log.text
            assert device.ledger()["held_blocks"] == 1
            bad.reload(f"0 {length} linear {drive.path} 0")
            upper.flush()
            device.balanced()
        with Disk(drive.path) as lower:
            check(1, pattern(1, 1, 2), lower.read(1, 2), "on the drive, after the flush")
