# SPDX-License-Identifier: GPL-2.0
"""No allocation is needed: tables are refused or loaded, writes and reads go on, and there is no leak."""

import contextlib
import os

import pytest

from lab.plugins.extent import everything, only_all
from rig import control
from rig.direct import SECTOR, Disk, check, pattern
from rig.dm import Align, sectors_of
from rig.faults import allocations_fail, each_allocation, no_memory, no_new_per_cpu_memory
from rig.memdisk import memory_disk
from rig.rig import STRESS_LIMIT

GEOMETRY = {"physical_block_size": 4096, "alignment_offset": 0}

pytestmark = pytest.mark.timeout(STRESS_LIMIT)


def nobody_holds(path):
    os.close(os.open(path, os.O_RDWR | os.O_EXCL))


def devices():
    return [name for name in os.listdir("/sys/block") if name.startswith("dm-")]


@pytest.mark.parametrize("least,step,expected", [(0, 31, 300), (1024, 1, 3)])
def test_a_device_works_without_files_or_is_refused_when_its_memory_runs_out(rig, disk, least, step, expected):
    """Every 31st of the hundreds of allocations for a table and its files in sysfs fails in turn; and each large one."""
    refused = []

    def life(nth):
        with contextlib.ExitStack() as stack:
            try:
                device = stack.enter_context(Align(disk.path, mode="pad", **GEOMETRY))
            except control.Refused as error:
                refused.append(no_memory(error))
                return
            upper = stack.enter_context(Disk(device.path))
            upper.write(3, pattern(2, 3, 10))
            check(3, pattern(2, 3, 10), upper.read(3, 10), f"allocation {nth} failed")
            device.balanced()

    with rig.log() as log:
        total = each_allocation(life, step, least)
    assert total > expected, "too few allocations: the files in sysfs were not reached"
    assert "cannot create all sysfs files" in log.text
    assert not devices()
    nobody_holds(disk.path)


@pytest.mark.parametrize("mode", [only_all("sim/test_sim.py: --focus allocations", "pad"), "coalesce"])
def test_whichever_allocation_of_a_request_fails_its_content_is_right(rig, disk, mode):
    want = bytearray(pattern(1, 0, 64))
    with Align(disk.path, mode=mode, **GEOMETRY) as device, Disk(device.path) as upper:
        upper.write(0, bytes(want))

        def requests(nth):
            for sector, sectors in ((3, 10), (20, 2), (25, 30)):
                upper.write(sector, pattern(nth, sector, sectors))
                want[sector * SECTOR:(sector + sectors) * SECTOR] = pattern(nth, sector, sectors)
            check(0, bytes(want), upper.read(0, 64), f"allocation {nth} failed")
            upper.flush()
            check(0, bytes(want), upper.read(0, 64), f"flushed, allocation {nth} failed")
            # Flush, so that no block is cached in the next attempt.
            device.message("flush")

        assert each_allocation(requests) > 5
        assert device.balanced()["rmw_drive_no_memory"] > 1


@pytest.mark.parametrize("percent", [0, 100])
def test_held_blocks_go_with_the_write_behind_them_whatever_memory_there_is(rig, disk, percent):
    """A whole block waits for its stream; then a write completes the next block, and covers more."""
    with Align(disk.path, mode="coalesce", hold_ms=60000, **GEOMETRY) as device, \
            Disk(device.path) as upper, Disk(disk.path) as lower:
        for sector in (4, 12):
            upper.write(sector, pattern(1, sector, 8))
        assert device.counter("held_blocks") == 3
        with allocations_fail(percent):
            upper.write(20, pattern(1, 20, 20))
        assert device.counter("held_blocks") == 1
        check(8, pattern(1, 8, 32), lower.read(8, 32), "beneath the target")
        device.balanced(pending=1)
        upper.flush()
        device.balanced()
        check(4, pattern(1, 4, 36), lower.read(4, 36), "beneath the target, flushed")


def test_a_reload_without_memory_leaves_the_old_table_as_it_is(rig, disk):
    with Align(disk.path, mode="pad", **GEOMETRY) as device, \
            Disk(device.path) as upper:
        upper.write(3, pattern(2, 3, 10))
        refused = []

        def reload(nth):
            try:
                device.load(device.line(mode="pad", physical_block_size=8192, alignment_offset=0))
            except control.Refused as error:
                refused.append(no_memory(error))

        assert each_allocation(reload) >= len(refused) > 5
        check(3, pattern(2, 3, 10), upper.read(3, 10), "through the old table")
        assert device.balanced()["rmw_expected"] == 2


@pytest.mark.check_all("sim/test_sim.py: --focus allocations, tables among them")
def test_devices_are_refused_whichever_allocation_of_their_tables_fails(rig, disk):
    """The kinds share caches, so each meets other allocations than the one before."""
    length = sectors_of(disk.path)
    names = [f"percpu{number}" for number in range(10 if everything() else 4)]
    refused = []
    for name in names:
        control.create(name)

        def load(nth, name=name):
            try:
                control.load(name, [f"0 {length} align {disk.path} 0"])
            except control.Refused as error:
                refused.append(no_memory(error))

        each_allocation(load)
    for name in names:
        control.remove(name)
    assert len(refused) > 5 * len(names)
    nobody_holds(disk.path)


@pytest.mark.parametrize("least", [0, 1])
def test_a_table_of_smaller_blocks_is_refused_whichever_allocation_fails(rig, least):
    """It takes more reserves than others. Every allocation fails in turn, and then those of objects, while pages can be had."""
    refused = []
    with memory_disk(blocksize=4096) as disk:
        line = f"0 {sectors_of(disk.path)} align {disk.path} 0 4 mode pad logical_block_size 512"
        control.create("smaller")

        def load(nth):
            try:
                control.load("smaller", [line])
            except control.Refused as error:
                refused.append(no_memory(error))

        each_allocation(load, least=least)
        control.load("smaller", [line])
        control.remove("smaller")
        assert len(refused) > 5
        nobody_holds(disk.path)


def test_devices_without_memory_for_their_counters_are_refused(rig, disk):
    """The counters of a device take some KiB for each processor, which soon exhaust the reserved per-CPU memory."""
    names = [f"counters{number}" for number in range(160)]
    refused = []
    for name in names:
        control.create(name)
    with no_new_per_cpu_memory():
        for name in names:
            try:
                control.load(name, [f"0 {sectors_of(disk.path)} align {disk.path} 0"])
            except control.Refused as error:
                refused.append(no_memory(error))
    for name in names:
        control.remove(name)
    assert 0 < len(refused) < len(names)
    nobody_holds(disk.path)


def test_a_write_in_many_pieces_goes_on_when_the_memory_for_one_comes_back(rig):
    """Each piece is a page, and there is reserved memory for two; the other pieces wait for it."""
    with memory_disk(max_sectors=8, completion_nsec=1000000) as disk, \
            Align(disk.path, mode="pad", **GEOMETRY) as device, Disk(device.path) as upper:
        with allocations_fail():
            upper.write(0, pattern(1, 0, 512))
        check(0, pattern(1, 0, 512), upper.read(0, 512), "through the target")
        assert device.balanced()["cuts"] == 63


# In make check each mode has one size and one share of failures.
ALSO = "sim/test_sim.py: --focus allocations, and memory that fails by chance in each mode"


@pytest.mark.parametrize("mode,physical,percent", [
    ("coalesce", 2048, 100), only_all(ALSO, "pad", 2048, 30),
    only_all(ALSO, "pad", 4096, 100), only_all(ALSO, "coalesce", 4096, 30),
    ("pad", 65536, 30),
    only_all(ALSO, "coalesce", 65536, 100), only_all(ALSO, "coalesce", 2048, 30), only_all(ALSO, "pad", 2048, 100),
    only_all(ALSO, "coalesce", 4096, 100), only_all(ALSO, "pad", 4096, 30), only_all(ALSO, "coalesce", 65536, 30),
    only_all(ALSO, "pad", 65536, 100)])
def test_every_sector_is_right_while_allocations_fail(rig, mode, physical, percent):
    """On a disk with allocated memory, so that only the target's allocations fail."""
    with rig.scsi_debug(physblk_exp=3) as path, \
            Align(path, mode=mode, physical_block_size=physical, alignment_offset=0) as device:
        with allocations_fail(percent):
            rig.stress(device.path, beneath=path, seconds=1, region=1024, flush=2, fua=3, zeroes=2).finish()
        ledger = device.balanced()
        assert ledger["rmw_drive_no_memory"] > 0, "no allocation failed: the test proves nothing"
        if percent < 100:
            assert ledger["rmw_host"] > 0, "some blocks must find memory"
