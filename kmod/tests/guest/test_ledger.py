# SPDX-License-Identifier: GPL-2.0
"""The ledger, compared with the drive's own counts and with an oracle; and its survival of reloads and mode changes."""

import errno
import itertools
import random
import time

import pytest

from lab.pace import Limit
from lab.plugins.extent import only_all
from rig.direct import RWF_DSYNC, Disk, pattern
from rig.dm import Align
from rig.oracle import Oracle
from rig.predictions import KNOWN_SECONDS
from rig.too_slow import too_slow


@pytest.mark.parametrize("mode", ["report", "pad", "coalesce"])
@pytest.mark.parametrize("physical,offset", [
    (4096, 1536), *(only_all("sim/test_sim.py: the ledger of lives, on blocks of all sizes", *geometry)
                    for geometry in ((512, 0), (4096, 0), (65536, 512)))])
def test_counters_and_histograms_are_those_of_an_oracle(rig, mode, physical, offset):
    """Random requests of every kind, one at a time and balanced after each few."""
    drive = rig.drive("p4096")
    choose = random.Random(f"{mode} {physical} {offset}")
    oracle = Oracle(physical, offset=offset, start=48)
    flushes = 0
    with Align(drive.path, start=48, length=60000, mode=mode, physical_block_size=max(physical, 512),
               alignment_offset=offset) as device, Disk(device.path) as upper:
        for i in range(150):
            length = choose.choice([choose.randint(1, 9), choose.randint(1, 300), 8 * choose.randint(1, 16)])
            sector = choose.randrange(0, 50000)
            what = choose.random()
            if what < 0.1:
                upper.read(sector, length)
                oracle.read(length)
            elif what < 0.15:
                upper.flush()
                flushes += 1
            elif what > 0.85:
                upper.zero(sector, length)
                oracle.zero(sector, length)
            else:
                fua = what < 0.3
                upper.write(sector, bytes(length * 512), flags=RWF_DSYNC if fua else 0)
                oracle.write(sector, length, fua=fua)
                # A flush follows each synchronous write to a disk.
                flushes += fua
            if i % 30 == 0:
                device.message("flush")		# leaves no block held
                device.balanced()
        device.message("flush")
        ledger = device.balanced()
        oracle.compare(ledger, device.histogram("phase"), device.histogram("size"))
        assert ledger["flushes"] == flushes
        aligned, misaligned = device.histogram("latency_aligned"), device.histogram("latency_misaligned")
        assert sum(misaligned) == ledger["writes_misaligned"]
        assert sum(aligned) + sum(misaligned) == ledger["writes"]


@pytest.mark.each_kernel
def test_status_and_sysfs_tell_the_same(rig):
    drive = rig.drive("p4096")
    with Align(drive.path, mode="pad") as device, Disk(device.path) as upper:
        for i in range(10):
            upper.write(i * 24 + 3, pattern(i, i, 5))
        mode, pairs = device.pairs()
        assert mode == device.attribute("target0_mode") == "pad"
        for name, value in pairs.items():
            files = [device.sysfs / name, device.sysfs / f"target0_{name}"]
            found = [path.read_text().strip() for path in files if path.exists()]
            assert found, f"status has {name}, sysfs has not"
            if name not in ("blocks", "memory_bytes"):
                assert found[0] == value, f"{name} is {value} in status and {found[0]} in sysfs"


def test_512_bytes_in_each_block_cost_one_read_and_one_write_a_block(rig):
    drive = rig.drive("p4096")
    with Align(drive.path, mode="pad") as device, Disk(device.path) as upper:
        drive.reset()
        for i in range(200):
            upper.write(i * 8, pattern(i, i * 8, 1))
        stats, ledger = drive.stats(), device.balanced()
        assert (stats["reads"], stats["writes"], stats["touches"]) == (200, 200, 0)
        assert ledger["rmw_host"] == ledger["pad_reads"] == 200
        assert ledger["pad_writes"] == stats["writes"]


def append(drive, offset):
    """Append 160 records of 512 bytes, each synced; return (the drive's counts, the ledger, most seconds between two)."""
    first = 8 * 16 + offset // 512
    with Align(drive.path, mode="pad", physical_block_size=4096, alignment_offset=offset) as device, \
            Disk(device.path) as upper:
        drive.reset()
        times = []
        for i in range(160):
            upper.write(first + i, pattern(i, first + i, 1), flags=RWF_DSYNC)
            times.append(time.monotonic())
        return drive.stats(), device.balanced(), max(late - early for early, late in itertools.pairwise(times))


@pytest.mark.parametrize("offset", [0, 3584])
def test_512_byte_appends_cost_one_read_per_4096_bytes(rig, offset):
    """A log that syncs every record: the block just written stays known for the next one."""
    drive = rig.drive("p4096" if offset == 0 else "offset3584")
    limit = Limit(60)
    stats, ledger, slowest = append(drive, offset)
    # If the machine pauses for too long, known blocks expire and are read again.
    while slowest >= KNOWN_SECONDS and not limit.over():
        stats, ledger, slowest = append(drive, offset)
    if slowest >= KNOWN_SECONDS:
        too_slow(f"{slowest} s passed between two writes")
    assert stats["reads"] == ledger["pad_reads"] == 20
    assert stats["touches"] == 0
    assert (ledger["rmw_host"], ledger["rmw_avoided_known"]) == (20, 140)


def test_discards_and_write_zeroes_are_counted_as_the_drive_counts_them(rig):
    drive = rig.drive("p4096")
    with Align(drive.path, mode="pad") as device, Disk(device.path) as upper:
        drive.reset()
        upper.discard(2048, 256)
        upper.zero(4096, 512)
        ledger, stats = device.balanced(), drive.stats()
        assert ledger["discards"] == stats["trims"] > 0
        assert ledger["discard_bytes"] == stats["trim_bytes"] == 256 * 512
        assert ledger["write_zeroes"] == stats["zeroes"] > 0
        assert ledger["write_zeroes_bytes"] == stats["zero_bytes"] == 512 * 512


def test_report_agrees_with_the_drive_over_everything_it_sends(rig):
    drive = rig.drive("p16384")
    with Align(drive.path, mode="report") as device:
        drive.reset()
        load = rig.stress(device.path, beneath=drive.path, physical=16384, ops=60)
        load.finish()
        ledger, stats = device.balanced(), drive.stats()
        assert ledger["writes_over_limits"] == 0
        assert ledger["rmw_expected"] == ledger["rmw_drive"] == stats["touches"] == load.touches
        assert ledger["writes"] == stats["writes"] and ledger["write_bytes"] == stats["write_bytes"]


def test_counters_survive_a_reload_and_a_mode_change(rig):
    drive = rig.drive("p4096")
    with Align(drive.path, mode="report") as device, Disk(device.path) as upper:
        upper.write(3, pattern(1, 3, 10))
        before = device.balanced()
        device.set_mode("pad")
        assert device.ledger() == {**before, **levels(device)}
        device.reload(device.line(mode="pad"))
        assert device.ledger() == {**before, **levels(device)}
        upper.write(3, pattern(2, 3, 10))
        after = device.balanced()
        assert after["rmw_expected"] == 2 * before["rmw_expected"]
        assert (after["rmw_drive"], after["rmw_host"]) == (2, 2)
        assert device.counter("epoch") == before["epoch"], "the same P: the same epoch"


def levels(device):
    """Return the current gauges of the status line."""
    ledger = device.ledger()
    return {name: ledger[name] for name in ("blocks", "memory_bytes", "rmw_pending")}


def test_reset_stats_stores_a_baseline_and_subtracts_nothing(rig):
    drive = rig.drive("p4096")
    with Align(drive.path, mode="pad") as device, Disk(device.path) as upper:
        names = [path.name.removeprefix("baseline_") for path in device.sysfs.glob("baseline_*")]
        assert "rmw_expected" in names and "phase_histogram" in names and "rmw_pending" not in names
        assert all(device.attribute(f"baseline_{name}").strip("0 ") == "" for name in names)
        upper.write(5, pattern(1, 5, 2))
        before = {name: device.attribute(name) for name in names}
        device.message("reset_stats")
        assert {name: device.attribute(f"baseline_{name}") for name in names} == before
        assert {name: device.attribute(name) for name in names} == before
        upper.write(21, pattern(1, 21, 2))
        assert device.counter("rmw_expected") - device.counter("baseline_rmw_expected") == 1


def test_another_block_size_starts_a_new_epoch(rig):
    drive = rig.drive("p4096")
    with Align(drive.path, mode="report") as device, Disk(device.path) as upper:
        upper.write(5, pattern(1, 5, 2))
        epoch = device.counter("epoch")
        device.reload(device.line(mode="report", physical_block_size=16384, alignment_offset=0))
        assert device.counter("epoch") == epoch + 1
        assert device.counter("baseline_rmw_expected") == device.counter("rmw_expected") == 1
        device.reload(device.line(mode="pad", physical_block_size=16384, alignment_offset=0))
        assert device.counter("epoch") == epoch + 1


def test_two_targets_of_one_table_share_the_accounts(rig):
    drive = rig.drive("p4096")
    with Align(drive.path, mode="report") as device, Disk(device.path) as upper:
        half = device.length // 2 // 8 * 8
        device.reload(f"0 {half} align {drive.path} 0 2 mode pad",
                      f"{half} {half} align {drive.path} {half} 2 mode report")
        assert (device.attribute("target0_mode"), device.attribute("target1_mode")) == ("pad", "report")
        upper.write(1, pattern(1, 1, 1))
        upper.write(half + 1, pattern(1, half + 1, 1))
        assert device.counter("rmw_expected") == 2
        assert device.counter("rmw_host") == device.counter("rmw_drive") == 1
        device.reload(device.line(mode="report"))
        with pytest.raises(OSError) as caught:
            device.attribute("target1_mode")
        assert caught.value.errno == errno.ENODEV, "the new table has no such target"
        assert device.counter("rmw_expected") == 2
