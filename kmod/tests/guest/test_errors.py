# SPDX-License-Identifier: GPL-2.0
"""Errors below: which requests they reach, which touches are left to the drive, and that content is always old or new."""

import pytest

from lab.pace import Limit
from lab.plugins.extent import only_all
from rig.bad_blocks import BLOCK, faulty, with_bad_blocks
from rig.direct import SECTOR, Disk, Later, check, pattern
from rig.dm import Align, Device, sectors_of
from rig.rig import STRESS_LIMIT
from rig.witness import writes

pytestmark = pytest.mark.timeout(STRESS_LIMIT)


def fails(later):
    """Return whether the request ended in an I/O error. Raises AssertionError for any other error."""
    error = later.error
    if error is None:
        return False
    assert isinstance(error, OSError) and error.errno == 5, f"not an I/O error: {error!r}"
    return True


def test_a_write_into_a_block_that_cannot_be_read_goes_as_it_came(rig):
    drive = rig.drive("p4096")
    with Disk(drive.path) as lower, faulty(drive.path, bad_reads=[10, 11]) as (path, _), \
            Align(path, mode="pad") as device, Disk(device.path) as upper:
        before = pattern(1, 0, 256)
        lower.write(0, before)
        drive.reset()
        sent = [(82, 3), (93, 2), (78, 4)]		# inside 10, inside 11, across 9 and 10
        for tag, (sector, sectors) in enumerate(sent, 2):
            upper.write(sector, pattern(tag, sector, sectors))
        ledger, stats, log = device.balanced(), drive.stats(), drive.log()
        assert ledger["rmw_expected"] == 4
        assert ledger["rmw_drive_read_error"] == ledger["rmw_drive"] == 3
        assert ledger["rmw_host"] == 1, "block 9 could be read"
        assert ledger["rmw_lost"] == 0
        assert stats["touches"] == 3, f"the drive's own count: {log}"
        as_they_came = [(r.sector, r.sectors) for r in writes(log)]
        for want in ((82, 3), (93, 2), (80, 2), (72, 8)):
            assert want in as_they_came, f"{want} is not among the requests at the drive: {as_they_came}"
        want = bytearray(before)
        for tag, (sector, sectors) in enumerate(sent, 2):
            want[sector * SECTOR:(sector + sectors) * SECTOR] = pattern(tag, sector, sectors)
        check(0, bytes(want), lower.read(0, 256), "beneath the target")


def test_a_whole_write_needs_no_read_and_heals_a_block(rig):
    drive = rig.drive("p4096")
    with faulty(drive.path, bad_reads=[10]) as (path, _), Align(path, mode="pad") as device, \
            Disk(device.path) as upper, Disk(drive.path) as lower:
        upper.write(72, pattern(1, 72, 24))
        assert device.balanced()["pad_reads"] == 0
        check(72, pattern(1, 72, 24), lower.read(72, 24), "beneath the target")


@pytest.mark.each_kernel
def test_a_write_error_reaches_every_write_of_its_block_and_no_other(rig):
    """Block 10 cannot be written. All writes are in flight together: the pad reads take 400 ms."""
    drive = rig.drive("p4096")
    with Disk(drive.path) as lower:
        before = pattern(1, 0, 256)
        lower.write(0, before)
        with faulty(drive.path, bad_writes=[10], read_ms=400) as (path, heal), \
                Align(path, mode="pad") as device, Disk(device.path) as upper:
            doomed = [
                Later(upper.write, 81, pattern(2, 81, 2)),
                Later(upper.write, 84, pattern(3, 84, 3)),	# joins the one before
                Later(upper.write, 79, pattern(4, 79, 2)),	# tail in block 10, head in block 9
            ]
            fine = [
                Later(upper.write, 73, pattern(5, 73, 2)),	# block 9
                Later(upper.write, 90, pattern(6, 90, 2)),	# block 11
                Later(upper.write, 96, pattern(7, 96, 16)),	# whole blocks
            ]
            assert [fails(later) for later in doomed] == [True, True, True]
            assert [fails(later) for later in fine] == [False, False, False]
            ledger = device.balanced()
            assert ledger["rmw_lost"] == 3, "three touches of block 10"
            check(80, before[80 * SECTOR:88 * SECTOR], lower.read(80, 8), "the block that cannot be written")
            check(96, pattern(7, 96, 16), lower.read(96, 16), "a write that was acknowledged")
            check(90, pattern(6, 90, 2), lower.read(90, 2), "a write that was acknowledged")
            assert fails(Later(upper.write, 72, pattern(8, 72, 24))), "a run with block 10 in its middle"

            # The failed content must not count as known when the block can be written again.
            heal()
            upper.write(85, pattern(9, 85, 1))
            want = bytearray(before[80 * SECTOR:88 * SECTOR])
            want[5 * SECTOR:6 * SECTOR] = pattern(9, 85, 1)
            check(80, bytes(want), upper.read(80, 8), "through the target, healed")
            check(80, bytes(want), lower.read(80, 8), "beneath it, healed")


def test_a_failed_write_ends_what_is_known_of_its_block(rig):
    drive = rig.drive("p4096")
    length = sectors_of(drive.path)
    with Disk(drive.path) as lower, Device(f"0 {length} linear {drive.path} 0") as middle, \
            Align(middle.path, mode="pad") as device, Disk(device.path) as upper:
        lower.write(80, pattern(1, 80, 8))
        upper.write(82, pattern(2, 82, 1))		# block 10 is cached now
        middle.reload(*with_bad_blocks(drive.path, [10]))
        assert fails(Later(upper.write, 83, pattern(3, 83, 1)))
        middle.reload(f"0 {length} linear {drive.path} 0")
        was = device.counter("pad_reads")
        upper.write(84, pattern(4, 84, 1))
        assert device.counter("pad_reads") == was + 1, "the block must be read again after a failure"
        want = pattern(1, 80, 2) + pattern(2, 82, 1) + pattern(1, 83, 1) + pattern(4, 84, 1) + pattern(1, 85, 3)
        check(80, want, lower.read(80, 8), "beneath the target")


@pytest.mark.two_processors
@pytest.mark.parametrize("what,mode", [
    *(only_all("sim/test_sim.py: run-error-reaches-all; requests fail at random below", what, "pad")
      for what in ("reads", "writes", "both")),
    only_all("report makes no request of its own", "both", "report")])
def test_one_per_cent_of_the_blocks_fail_under_stress(rig, mode, what):
    """A bad block of each hundred: sectors of a failed write may be old or new, all others are right."""
    drive = rig.drive("p4096")
    with faulty(drive.path, bad_reads=[] if what == "writes" else [7, 107, 207],
                bad_writes=[] if what == "reads" else [57, 157],
                read_ms=1, write_ms=1) as (path, _), Align(path, mode=mode) as device:
        # A slow machine meets few bad blocks in this time.
        limit, met = Limit(60), {"reads": 0, "writes": 0, "touches": 0}
        must = {"reads", "writes"} if what == "both" else {what}
        if mode == "pad" and what != "writes":
            must.add("touches")
        while not all(met[each] for each in must) and not limit.over():
            load = rig.stress(device.path, beneath=drive.path, region=256 * BLOCK, seconds=rig.seconds / 2, flush=2, fua=5,
                              tolerate_errors=True)
            load.finish()
            ledger = device.balanced()
            met = {"reads": met["reads"] + load.read_errors, "writes": met["writes"] + load.write_errors,
                   "touches": ledger["rmw_drive_read_error"]}
        assert all(met[each] for each in must), f"no request of some kind failed, the test proves nothing: {met}"
        if what == "reads":
            assert not met["writes"], "a block that cannot be read can be written all the same"
            assert ledger["rmw_lost"] == 0


@pytest.mark.two_processors
@pytest.mark.parametrize("mode", [only_all("report makes no request of its own", "report"), "pad"])
def test_one_per_cent_of_the_requests_fail_at_random_under_stress(rig, mode):
    """The drive itself gives errors at random, one of each hundred reads and writes."""
    drive = rig.drive("errors")
    with Align(drive.path, mode=mode) as device:
        # A number, not a time: a slow machine makes too few in any time.
        load = rig.stress(device.path, beneath=drive.path, ops=100, tolerate_errors=True)
        load.finish()
        assert load.read_errors + load.write_errors > 0, "no request failed: the test proves nothing"
        device.balanced()
