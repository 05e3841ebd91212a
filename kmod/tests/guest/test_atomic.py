# SPDX-License-Identifier: GPL-2.0
"""Atomic writes (RWF_ATOMIC) go down unmodified in every mode, and are ordered with all other writes."""

import contextlib
import threading

import pytest

from lab.plugins.extent import everything, only_usual
from rig.direct import SECTOR, Disk, Later, check, pattern
from rig.dm import Align, Device, queue, sectors_of, sysfs_folder
from rig.rig import STRESS_LIMIT
from rig.witness import Trace, eventually, writes

RWF_ATOMIC = 0x40
MODES = ["report", "pad", "coalesce"]
LIMITS = ["atomic_write_max_bytes", "atomic_write_unit_max_bytes", "atomic_write_unit_min_bytes",
          "atomic_write_boundary_bytes"]
LONG = 60000
# The smallest atomic write of scsi_debug's disk is two sectors, a quarter of a physical block.
SMALL, LARGE, BLOCK = 2, 16, 8


DISK = {"sector_size": 512, "physblk_exp": 3, "atomic_wr": 1}


@pytest.fixture(scope="module")
def passed_on(rig):
    """Skip all tests here if device-mapper does not support atomic writes; checked once, since making the disk takes seconds."""
    with rig.scsi_debug(**DISK) as path, Device(f"0 {sectors_of(path)} linear {path} 0") as linear:
        if not int(limits(linear).get("atomic_write_unit_max_bytes", 0)):
            pytest.skip("device-mapper of this kernel passes on no atomic writes")


@pytest.fixture
def disk(rig, passed_on):
    """Yield the path of a disk with atomic writes, which device-mapper passes on."""
    with rig.scsi_debug(**DISK) as path:
        yield path


def limits(device):
    """Return a device's limits of atomic writes: {name of the queue's file: bytes}, without missing files."""
    found = {}
    for name in LIMITS:
        with contextlib.suppress(FileNotFoundError):
            found[name] = queue(device.path, name)
    return found


@pytest.mark.each_kernel
@pytest.mark.parametrize("mode", MODES)
def test_the_limits_are_those_of_linear(disk, mode):
    with Device(f"0 {sectors_of(disk)} linear {disk} 0") as linear, Align(disk, mode=mode) as device, \
            Align(disk, mode=mode, physical_block_size=16384, alignment_offset=0) as overridden:
        assert limits(linear) == limits(device) == limits(overridden)
        assert len(limits(linear)) == len(LIMITS) and limits(linear)["atomic_write_unit_min_bytes"] == "1024"


@pytest.mark.each_kernel
@pytest.mark.parametrize("mode", [*(only_usual("in coalesce it passes by what is held", mode) for mode in ("report", "pad")),
                                  "coalesce"])
@pytest.mark.parametrize("sector, sectors, touches", [(10, SMALL, 1), (4, 4, 1), (64, LARGE, 0), (256, 64, 0)])
def test_an_atomic_write_reaches_the_drive_as_it_came(disk, mode, sector, sectors, touches):
    with Align(disk, mode=mode) as device, Disk(device.path) as upper:
        with Trace(disk) as trace:
            upper.write(sector, pattern(1, sector, sectors), flags=RWF_ATOMIC)
        assert [(request.sector, request.sectors) for request in writes(trace.requests)] == [(sector, sectors)]
        check(sector, pattern(1, sector, sectors), upper.read(sector, sectors), "through the target")
        ledger = device.balanced()
        reason = "rmw_drive_report" if mode == "report" else "rmw_drive_atomic"
        assert ledger["rmw_expected"] == ledger["rmw_drive"] == ledger[reason] == touches
        assert (ledger["writes"], ledger["cuts"], ledger["pad_reads"]) == (1, 0, 0)


@pytest.mark.parametrize("mode", MODES)
def test_max_sectors_cuts_no_atomic_write(disk, mode):
    """An atomic write has a limit of its own. An ordinary write of that size is cut."""
    most = sysfs_folder(disk) / "queue" / "max_sectors_kb"
    before = most.read_text()
    most.write_text("16")
    try:
        with Align(disk, mode=mode) as device, Disk(device.path) as upper:
            with Trace(disk) as trace:
                upper.write(128, pattern(1, 128, 64), flags=RWF_ATOMIC)
            assert [(request.sector, request.sectors) for request in writes(trace.requests)] == [(128, 64)]
            ledger = device.balanced()
            assert (ledger["cuts"], ledger["writes_over_limits"]) == (0, 0)
            with Trace(disk) as trace:
                upper.write(128, pattern(2, 128, 64))
            assert len(writes(trace.requests)) == 2
    finally:
        most.write_text(before)


@pytest.mark.each_kernel
def test_an_atomic_write_over_held_bytes_keeps_the_rest_of_them(disk):
    with Align(disk, mode="coalesce", hold_ms=LONG) as device, Disk(device.path) as upper, Disk(disk) as lower:
        was = upper.read(0, BLOCK)
        upper.write(1, pattern(1, 1, 4))
        assert device.balanced(pending=1)["touches_held"] == 1
        upper.write(2, pattern(2, 2, SMALL), flags=RWF_ATOMIC)
        want = was[:SECTOR] + pattern(1, 1, 1) + pattern(2, 2, SMALL) + pattern(1, 4, 1) + was[5 * SECTOR:]
        check(0, want, upper.read(0, BLOCK), "through the target")
        upper.flush()
        check(0, want, upper.read(0, BLOCK), "through the target, after a flush")
        check(0, want, lower.read(0, BLOCK), "on the disk, after a flush")
        assert device.balanced()["rmw_drive_atomic"] == 1


class Load:
    """
    Writers and readers of one device. Each atomic unit has one writer, which numbers its writes: a read of a unit returns
    one write only, not older than the last one acknowledged before the read began. Beside the small units, in their
    blocks, an ordinary writer writes single sectors.
    """

    BLOCKS = 8

    def __init__(self, upper):
        self._upper, self._over = upper, threading.Event()
        self._acknowledged = {}
        self.written = 0
        small = [(block * BLOCK + first, SMALL) for block in range(self.BLOCKS) for first in (0, 4)]
        large = [(1024 + number * LARGE, LARGE) for number in range(self.BLOCKS)]
        for sector, sectors in small + large:
            self._write(sector, sectors, 1)
        self._jobs = [Later(self._write_units, units) for units in (small, large)]
        self._jobs += [Later(self._read_units, small + large), Later(self._write_beside)]

    def _write(self, sector, sectors, tag):
        self._upper.write(sector, pattern(tag, sector, sectors), flags=RWF_ATOMIC)
        self._acknowledged[sector] = tag
        self.written += 1

    def _write_units(self, units):
        tag = 1
        while not self._over.is_set():
            tag += 1
            for sector, sectors in units:
                self._write(sector, sectors, tag)

    def _write_beside(self):
        tag = 0
        while not self._over.is_set():
            tag += 1
            for block in range(self.BLOCKS):
                self._upper.write(block * BLOCK + 7, pattern(tag, block * BLOCK + 7, 1))

    def _read_units(self, units):
        while not self._over.is_set():
            for sector, sectors in units:
                least = self._acknowledged[sector]
                got = self._upper.read(sector, sectors)
                tag = int.from_bytes(got[:8], "little")
                check(sector, pattern(tag, sector, sectors), got, "a torn write")
                assert tag >= least, f"sector {sector}: write {tag} is read after {least} was acknowledged"

    def end(self):
        """End the threads. Raises the first error of any."""
        self._over.set()
        for job in self._jobs:
            job.result()


@pytest.mark.timeout(STRESS_LIMIT)
@pytest.mark.two_processors
def test_linear_becomes_align_and_back_under_atomic_writes(disk):
    with Align(disk) as device:
        device.reload(device.linear())
        with Disk(device.path) as upper:
            load = Load(upper)
            try:
                for mode in MODES * (3 if everything() else 1):
                    for line in (device.line(mode=mode), device.linear()):
                        device.reload(line)
                        some = load.written + 100
                        eventually(lambda some=some: load.written > some, "the writers stand still", timeout=60)
            finally:
                load.end()
