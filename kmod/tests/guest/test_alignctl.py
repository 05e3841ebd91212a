# SPDX-License-Identifier: GPL-2.0
"""alignctl on real devices: the requirements of holding, and alignctl's messages."""

import contextlib
import json
import subprocess
import time

import pytest

from lab.paths import OUT
from rig.direct import Disk, check, pattern
from rig.dm import run

ALIGNCTL = OUT / "bin" / "alignctl"
FINE, FINDINGS, USAGE, IO, BUSY = range(5)


def alignctl(*arguments, status=FINE):
    done = run(ALIGNCTL, *arguments, ok=False)
    assert done.returncode == status, f"alignctl {arguments}: exit status {done.returncode}: {done.stdout}{done.stderr}"
    return done


class Attached:
    """An align device that alignctl attaches and, if the test has not, detaches."""

    name = "held"
    path = f"/dev/mapper/{name}"

    def __init__(self, below, *options):
        self.said = alignctl("attach", below, "--name", self.name, *options).stdout

    def listed(self):
        [device] = json.loads(alignctl("list", "--json").stdout)["devices"]
        return device

    def target(self):
        return self.listed()["targets"][0]

    def state(self):
        return alignctl("list").stdout.splitlines()[1].split()[-1]


@contextlib.contextmanager
def attached(*arguments):
    device = Attached(*arguments)
    try:
        yield device
    finally:
        run(ALIGNCTL, "detach", device.name, "--force", ok=False)


def test_a_live_device_without_a_write_cache_is_told_both_ways_to_coalesce(rig):
    with rig.brd() as ram:
        with attached(ram) as device:
            assert "no volatile write cache" in device.said and "--write-cache on" in device.said
            refused = alignctl("set", device.name, "--mode", "coalesce", status=USAGE).stderr
            assert "the kernel refused" in refused
            assert "--mode coalesce" in refused and "--write-cache on" in refused
            assert device.target()["mode"] == "report"
        with attached(ram, "--write-cache", "on") as device:
            assert "no volatile write cache" not in device.said
            said = alignctl("set", device.name, "--mode", "coalesce", "--hold-ms", 70).stdout
            assert "volatile" in said and "70 ms" in said and "fsync" in said
            assert (device.target()["mode"], device.target()["hold_ms"]) == ("coalesce", 70)
        with attached(ram, "--mode", "coalesce", "--hold-ms", 80) as device:
            assert "volatile" in device.said and "80 ms" in device.said
            assert (device.target()["mode"], device.target()["hold_ms"]) == ("coalesce", 80)


def test_detach_waits_a_moment_for_a_program_that_only_looks(rig):
    """As udev does after a write; one that stays is said to have the device open."""
    with rig.brd() as ram:
        with attached(ram) as device:
            with Disk(device.path):
                assert "a program has the device open" in alignctl("detach", device.name, status=BUSY).stderr
                looked_at = subprocess.Popen([ALIGNCTL, "detach", device.name])
                time.sleep(0.5)
            assert looked_at.wait() == FINE


@pytest.mark.parametrize("table, name, said", [
    (False, "held", None), (True, "held", "kpartx -a /dev/mapper/held\n"),
    (True, "held by me", "kpartx -a '/dev/mapper/held\\x20by\\x20me'\n")])
def test_kpartx_is_named_only_where_there_are_partitions(rig, monkeypatch, table, name, said):
    monkeypatch.setattr(Attached, "name", name)
    with rig.brd() as ram:
        if table:
            with open(ram, "r+b", buffering=0) as disk:
                disk.write(bytes(446) + bytes([0, 0, 2, 0, 0x83, 0, 3, 0, 8, 0, 0, 0, 0, 16, 0, 0]) + bytes(48) +
                           b"\x55\xaa")
        with attached(ram) as device:
            assert said in device.said if said else "kpartx" not in device.said


def test_what_is_held_is_shown_and_written_on_demand(rig):
    drive = rig.drive("p4096")
    with Disk(drive.path) as lower, attached(drive.path, "--mode", "coalesce", "--hold-ms", 60000) as device:
        with Disk(device.path) as upper:
            for start in (81, 161, 241):
                upper.write(start, pattern(start, start, 2))
            listed = device.listed()
            assert (listed["held_blocks"], listed["held_bytes"]) == (3, 3 * 1024) and device.state() == "live"
            assert listed["held_oldest_ms"] > 0
            alignctl("set", device.name, "--flush")
            listed = device.listed()
            assert (listed["held_blocks"], listed["held_bytes"], listed["held_oldest_ms"]) == (0, 0, 0)
            for start in (81, 161, 241):
                check(start, pattern(start, start, 2), lower.read(start, 2), "after --flush")

            upper.write(81, pattern(5, 81, 2))
            alignctl("set", device.name, "--hold-ms", 1)
            [counted] = json.loads(alignctl("stats", device.name, "--json").stdout)["devices"]
            assert counted["counters"]["touches_held"] == 4
            target = counted["targets"][0]
            assert target["hold_ms"] == 1 and target["memory_high_water_bytes"] >= 3 * 4096
            alignctl("set", device.name, "--hold-ms", 60000)
            upper.write(161, pattern(6, 161, 2))
        alignctl("detach", device.name)
        check(161, pattern(6, 161, 2), lower.read(161, 2), "after detach")


@pytest.fixture
def degraded(rig):
    """Yield a device that holds sectors 82 to 84 and cannot write them, and its drive."""
    drive = rig.drive("p4096")
    with attached(drive.path, "--mode", "coalesce", "--hold-ms", 60000) as device:
        with Disk(device.path) as upper:
            upper.write(82, pattern(1, 82, 3))
            drive.fail("write", 80, 8)
            alignctl("set", device.name, "--flush", status=IO)
        yield device, drive
        drive.heal()


def test_a_degraded_device_is_seen_everywhere_and_not_left_unless_forced(degraded):
    device, _ = degraded
    assert device.state() == "degraded" and device.listed()["degraded"] == 1
    stats = alignctl("stats", device.name, status=FINDINGS)
    assert "1 block " in stats.stderr and "--drop-failed" in stats.stderr
    refused = alignctl("set", device.name, "--mode", "pad", status=IO).stderr
    assert "1 block " in refused and "--drop-failed" in refused
    refused = alignctl("detach", device.name, status=BUSY).stderr
    assert "1 block " in refused and "--force" in refused
    assert device.state() == "degraded", "the device stays"
    assert "--force" in alignctl("detach", device.name, "--force").stderr


def test_what_failed_can_be_given_up(degraded):
    device, drive = degraded
    said = alignctl("set", device.name, "--drop-failed", "--mode", "pad", "--flush").stdout
    assert "1 held block dropped" in said
    assert device.state() == "live" and device.listed()["held_blocks"] == 0
    alignctl("stats", device.name)
    drive.heal()
    alignctl("detach", device.name)


def test_a_repaired_device_can_be_detached_and_nothing_is_lost(degraded):
    device, drive = degraded
    drive.heal()
    alignctl("detach", device.name)
    with Disk(drive.path) as lower:
        check(82, pattern(1, 82, 3), lower.read(82, 3), "after detach")
