# SPDX-License-Identifier: GPL-2.0
"""Held data that cannot be written: every flush fails until the data is written, overwritten, discarded or dropped."""

import contextlib
import re
import threading

import pytest

from rig import control
from rig.control import Refused
from rig.direct import SECTOR, Disk, Later, check, flush_fails, pattern
from rig.dm import Align, number_of
from rig.rig import STRESS_LIMIT
from rig.witness import eventually, reads, writes

BLOCK = 8
LONG = 60000
BAD = 10		# the block that cannot be written
FIRST = BAD * BLOCK


def holding(path, **options):
    return Align(path, mode="coalesce", hold_ms=LONG, **options)


@pytest.fixture
def drive(rig):
    drive = rig.drive("p4096")
    with Disk(drive.path) as lower:
        lower.write(0, pattern(1000, 0, 256))
    yield drive
    drive.heal()


class Degraded:
    """A device on `drive` that holds sectors 82 to 84, which cannot be written, with its disks above and below."""

    def __init__(self, drive, **options):
        self.drive, self.device = drive, holding(drive.path, **options)

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.device)
            upper, lower = (stack.enter_context(Disk(path)) for path in (self.device.path, self.drive.path))
            stack.callback(self.drive.heal)
            upper.write(82, pattern(1, 82, 3))
            self.drive.fail("write", FIRST, BLOCK)
            assert flush_fails(upper)
            self._stack = stack.pop_all()
        return self.device, upper, lower

    def __exit__(self, *error):
        self._stack.close()


HELD = pattern(1000, 80, 2) + pattern(1, 82, 3) + pattern(1000, 85, 3)


def is_well(device, upper):
    """Assert that flushes succeed, no block is held, and the ledger balances."""
    assert not flush_fails(upper), "a flush still fails"
    assert device.counter("degraded") == device.counter("held_blocks") == 0
    return device.balanced()


def test_every_flush_fails_while_held_data_cannot_be_written(rig, drive):
    with rig.log() as log, Degraded(drive) as (device, upper, lower):
        number, seen = number_of(device.path), control.events(device.name)
        assert flush_fails(upper) and flush_fails(upper), "later flushes fail, too"
        ledger = device.balanced(pending=1)
        assert ledger["degraded"] == ledger["held_blocks"] == 1
        assert device.counter("degraded") == 1
        assert (ledger["flushes_failed"], ledger["times_degraded"], ledger["rmw_lost"]) == (3, 1, 0)
        check(80, HELD, upper.read(80, 8), "the held data is there for readers")
        check(80, pattern(1000, 80, 8), lower.read(80, 8), "and not on the drive")

        # Other blocks are not affected, neither are their held touches.
        upper.write(163, pattern(2, 163, 2))
        upper.write(176, pattern(3, 176, 8))
        assert flush_fails(upper)
        check(163, pattern(2, 163, 2), lower.read(163, 2), "another block is written by the flush that fails")
        assert device.counter("held_blocks") == 1
        with pytest.raises(Refused) as refused:
            device.message("flush")
        assert refused.value.errno == 5

        wait = Later(control.wait, device.name, seen)
        drive.heal()
        assert is_well(device, upper)["times_degraded"] == 1
        check(80, HELD, lower.read(80, 8), "beneath, when the drive writes again")
        assert wait.wait().result() > seen, "no event"
    said = [line for line in log.text.splitlines() if "degraded" in line]
    assert len(said) == 2 and "no longer degraded" in said[1], log.text
    assert all(number in line for line in said), f"which device? {said}"


def test_becoming_degraded_is_an_event(rig, drive):
    with holding(drive.path) as device, Disk(device.path) as upper:
        number = control.events(device.name)
        wait = Later(control.wait, device.name, number)
        upper.write(82, pattern(1, 82, 3))
        drive.fail("write", FIRST, BLOCK)
        assert flush_fails(upper)
        assert wait.wait(10).result() == number + 1
        drive.heal()
        is_well(device, upper)


def test_held_data_is_tried_again_by_itself(drive):
    """Once the drive works again, no flush is needed."""
    with Degraded(drive) as (device, upper, lower):
        drive.heal()
        eventually(lambda: device.counter("degraded") == 0, "the block is not tried again", timeout=15)
        check(80, HELD, lower.read(80, 8), "beneath the target")
        is_well(device, upper)


@pytest.mark.parametrize("over", ["whole", "run", "discard", "zero"])
def test_it_ends_when_all_of_the_block_is_overwritten_or_discarded(drive, over):
    with Degraded(drive) as (device, upper, lower):
        if over != "discard":		# the drive takes discards even so
            drive.heal()
        if over in ("whole", "run"):
            first, sectors = (80, 8) if over == "whole" else (72, 24)
            upper.write(first, pattern(7, first, sectors))
            want = pattern(7, 80, 8)
        elif over == "discard":
            upper.discard(80, 8)
            want = bytes(8 * SECTOR)
        else:
            upper.zero(80, 8)
            want = bytes(8 * SECTOR)
        assert device.counter("degraded") == 0
        assert is_well(device, upper)["rmw_avoided_superseded"] == 1
        check(80, want, lower.read(80, 8), "beneath the target")
        check(80, want, upper.read(80, 8), "through the target")


def test_a_write_that_completes_a_degraded_block_needs_no_read(drive):
    """Later sectors join the held ones; the whole block is written once the drive works."""
    with Degraded(drive) as (device, upper, lower):
        drive.heal()
        upper.write(80, pattern(2, 80, 2))
        upper.write(85, pattern(3, 85, 3))
        is_well(device, upper)
        check(80, pattern(2, 80, 2) + pattern(1, 82, 3) + pattern(3, 85, 3), lower.read(80, 8), "beneath the target")


def test_a_write_into_a_degraded_block_shares_its_fate(drive):
    """A FUA write is not acknowledged early, so it fails if the block cannot be written, and is not held."""
    with Degraded(drive) as (device, upper, lower):
        with pytest.raises(OSError):
            upper.write(86, pattern(2, 86, 1))
        assert device.counter("degraded") == 1
        check(82, pattern(1, 82, 3), upper.read(82, 3), "the content acknowledged before")
        drive.heal()
        is_well(device, upper)
        check(82, pattern(1, 82, 3), lower.read(82, 3), "beneath the target")
        assert lower.read(86, 1) in (pattern(1000, 86, 1), pattern(2, 86, 1))


@pytest.mark.parametrize("bad", ["block", "run"])
def test_an_error_of_a_request_that_joins_block_and_run_reaches_only_what_it_concerns(drive, bad):
    """
    Sectors 80 to 84 are held; the write from 85 on completes their block and goes down with it as one request. The write's
    part of that block is acknowledged like any touch, and only its remainder can fail it.
    """
    with holding(drive.path) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        upper.write(80, pattern(1, 80, 5))
        drive.reset()
        drive.fail("write", *((FIRST, BLOCK) if bad == "block" else (FIRST + 2 * BLOCK, BLOCK)))
        with contextlib.nullcontext() if bad == "block" else pytest.raises(OSError, match="Input/output"):
            upper.write(85, pattern(2, 85, 19))
        assert (80, 24) in [(r.sector, r.sectors) for r in writes(drive.log())], "block and remainder were not one request"
        block = pattern(1, 80, 5) + pattern(2, 85, 3)
        check(80, block, upper.read(80, 8), "the acknowledged content")
        if bad == "block":
            assert device.counter("degraded") == 1 and flush_fails(upper)
            check(88, pattern(2, 88, 16), lower.read(88, 16), "the run can be written")
            drive.heal()
        else:
            assert not flush_fails(upper), "the error does not concern the block"
            assert device.counter("times_degraded") == 0
        is_well(device, upper)
        check(80, block, lower.read(80, 8), "beneath the target")


def test_giving_up_says_what_is_lost_and_leaves_the_drive_as_it_was(rig, drive):
    with Degraded(drive) as (device, upper, lower):
        with rig.log() as log:
            device.message("drop_failed")
        assert re.search(r"lost.*\b80\b", log.text), f"the log does not name the block: {log.text}"
        assert is_well(device, upper)["rmw_lost"] == 1
        for disk, where in ((upper, "through the target"), (lower, "beneath it")):
            check(80, pattern(1000, 80, 8), disk.read(80, 8), where)
        device.message("drop_failed")		# no block has failed: no touch is lost
        assert device.counter("rmw_lost") == 1


def test_leaving_coalesce_is_refused_until_it_is_given_up(rig, drive):
    with Degraded(drive) as (device, upper, lower):
        with pytest.raises(Refused) as refused:
            device.set_mode("pad")
        assert refused.value.errno == 5
        assert device.attribute("target0_mode") == "coalesce"
        check(80, HELD, upper.read(80, 8), "still held")
        upper.write(163, pattern(2, 163, 2))
        assert device.counter("held_blocks") == 2, "the device goes on holding"
        device.message("drop_failed")
        device.set_mode("pad")
        is_well(device, upper)


def test_the_same_table_resumed_still_holds_it(drive):
    with Degraded(drive) as (device, upper, lower):
        device.suspend()
        check(80, pattern(1000, 80, 8), lower.read(80, 8), "beneath the suspended target")
        device.resume()
        assert device.counter("degraded") == 1
        check(80, HELD, upper.read(80, 8), "through the target")
        assert flush_fails(upper)
        drive.heal()
        is_well(device, upper)
        check(80, HELD, lower.read(80, 8), "beneath the target")


def test_what_a_failed_block_knew_does_not_outlive_a_suspend(drive):
    """Another program may write beneath meanwhile, so the block is read anew before it is written again."""
    with Degraded(drive) as (device, upper, lower):
        device.suspend()
        drive.heal()
        lower.write(86, pattern(9, 86, 1))
        device.resume()
        is_well(device, upper)
        want = HELD[:6 * SECTOR] + pattern(9, 86, 1) + HELD[7 * SECTOR:]
        for disk in (upper, lower):
            check(80, want, disk.read(80, 8), disk.path)


def test_other_blocks_keep_their_time_while_one_is_degraded(drive):
    with Degraded(drive) as (device, upper, lower):
        device.message("hold_ms 200")
        upper.write(163, pattern(2, 163, 2))
        eventually(lambda: device.counter("held_blocks") == 1, "the other block waits for the failed one", timeout=3)
        check(163, pattern(2, 163, 2), lower.read(163, 2), "beneath the target")
        drive.heal()
        is_well(device, upper)


def test_flushes_beside_suspends_of_a_degraded_device_all_end(drive):
    with Degraded(drive) as (device, upper, lower):
        stop = threading.Event()

        def flush():
            while not stop.is_set():
                with contextlib.suppress(Refused):
                    device.message("flush")

        flushes = [Later(flush) for _ in range(4)]
        for _ in range(30):
            device.suspend()
            device.resume()
        stop.set()
        for each in flushes:
            each.wait(20).result()
        drive.heal()
        is_well(device, upper)
        check(80, HELD, lower.read(80, 8), "beneath the target")


@pytest.mark.parametrize("how", ["another table", "removal"])
def test_a_replaced_table_logs_what_is_lost_block_by_block(rig, drive, how):
    with holding(drive.path) as device:
        with Disk(device.path) as upper:
            for tag, sector in enumerate((82, 161, 165)):
                upper.write(sector, pattern(tag, sector, 1))
            drive.fail("write", FIRST, BLOCK)
            drive.fail("write", 160, 8)
            assert flush_fails(upper)
            assert device.balanced(pending=3)["degraded"] == 2
        with rig.log() as log:
            if how == "removal":
                device.remove()
            else:
                device.reload(device.line(mode="pad"))
                ledger = device.balanced()
                assert (ledger["rmw_lost"], ledger["degraded"], ledger["held_blocks"]) == (3, 0, 0)
                with Disk(device.path) as upper:
                    assert not flush_fails(upper), "the new table has no held block"
    lost = [line for line in log.text.splitlines() if "lost" in line]
    assert len(lost) == 2, log.text
    for sector in (80, 160):
        assert any(re.search(rf"\b{sector}\b", line) for line in lost), f"block at {sector}: {lost}"


def test_a_block_that_heals_before_the_table_goes_is_not_lost(drive):
    """A suspend retries."""
    with Degraded(drive) as (device, upper, lower):
        drive.heal()
        device.reload(device.linear())
        check(80, HELD, lower.read(80, 8), "beneath the target")


def test_a_held_touch_whose_block_cannot_be_read_goes_as_it_came(drive):
    with holding(drive.path) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        upper.write(82, pattern(1, 82, 3))
        upper.write(86, pattern(2, 86, 1))
        upper.write(93, pattern(3, 93, 1))		# block 11, which can be read
        drive.fail("read", FIRST, BLOCK)
        drive.reset()
        assert not flush_fails(upper)
        ledger, log, stats = device.balanced(), drive.log(), drive.stats()
        drive.heal()
        sent = [(r.sector, r.sectors) for r in writes(log)]
        assert (82, 3) in sent and (86, 1) in sent and (88, 8) in sent, log
        assert (ledger["rmw_drive_read_error"], ledger["rmw_host"], ledger["degraded"]) == (2, 1, 0)
        assert stats["touches"] == ledger["rmw_drive"] == 2
        check(80, pattern(1000, 80, 2) + pattern(1, 82, 3) + pattern(1000, 85, 1) + pattern(2, 86, 1) +
              pattern(1000, 87, 1), lower.read(80, 8), "beneath the target")


def test_a_block_that_can_neither_be_read_nor_written_stays_held(drive):
    with holding(drive.path) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        upper.write(82, pattern(1, 82, 3))
        for what in ("read", "write"):
            drive.fail(what, FIRST, BLOCK)
        assert flush_fails(upper) and flush_fails(upper)
        assert device.balanced(pending=1)["degraded"] == 1
        check(82, pattern(1, 82, 3), upper.read(82, 3), "held sectors need no drive")
        drive.heal()
        is_well(device, upper)
        check(80, HELD, lower.read(80, 8), "beneath the target")


@pytest.mark.parametrize("what", ["read", "write"])
def test_a_failing_block_in_a_run_concerns_no_other(drive, what):
    """Five held neighbours are drained by one request; the middle one fails."""
    with holding(drive.path) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        for block in range(BAD - 2, BAD + 3):
            upper.write(block * BLOCK + 1, pattern(block, block * BLOCK + 1, 2))
        drive.fail(what, FIRST, BLOCK)
        assert flush_fails(upper) == (what == "write")
        for block in range(BAD - 2, BAD + 3):
            at = block * BLOCK
            want = pattern(1000, at, 1) + pattern(block, at + 1, 2) + pattern(1000, at + 3, 5)
            check(at, want, upper.read(at, 8) if what == "write" else lower_read(drive, lower, at), "each block")
            if block != BAD:
                check(at, want, lower.read(at, 8), "beneath the target")
        ledger = device.ledger()
        if what == "write":
            assert ledger["degraded"] == ledger["held_blocks"] == ledger["rmw_pending"] == 1
        else:
            assert ledger["rmw_drive_read_error"] == 1 and ledger["degraded"] == 0
        drive.heal()
        is_well(device, upper)


def lower_read(drive, lower, at):
    """Return the block at `at`, although the drive fails reads of it."""
    drive.heal()
    return lower.read(at, 8)


def test_in_pad_a_failing_block_of_two_concerns_its_own_touch_only(drive):
    """Both blocks of a write are read with one request; if the request fails, each is read separately."""
    with Align(drive.path, mode="pad") as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        drive.fail("read", FIRST, BLOCK)
        drive.reset()
        upper.write(FIRST - 3, pattern(1, FIRST - 3, 7))
        ledger, log = device.balanced(), drive.log()
        assert (ledger["rmw_host"], ledger["rmw_drive_read_error"]) == (1, 1)
        assert {(r.sector, r.sectors) for r in writes(log)} == {(FIRST - 8, 8), (FIRST, 4)}
        assert len(reads(log)) == 3, f"not one read for both, then one for each: {log}"
        drive.heal()
        check(FIRST - 8, pattern(1000, FIRST - 8, 5) + pattern(1, FIRST - 3, 7) + pattern(1000, FIRST + 4, 4),
              lower.read(FIRST - 8, 16), "beneath the target")


@pytest.mark.two_processors
@pytest.mark.timeout(STRESS_LIMIT)
def test_one_per_cent_of_the_requests_fail_at_random_under_stress(rig):
    """An acknowledged write is never lost: the target retries until the drive has it."""
    drive = rig.drive("errors")
    with Align(drive.path, mode="coalesce", hold_ms=20) as device:
        # A number, not a time: a slow machine makes too few in any time.
        load = rig.stress(device.path, beneath=drive.path, ops=100, flush=2, fua=2, tolerate_errors=True)
        load.finish()
        assert load.read_errors + load.write_errors > 0, "no request failed: the test proves nothing"
        with Disk(device.path) as upper:
            eventually(lambda: not flush_fails(upper), "the device stays degraded")
        device.balanced()
