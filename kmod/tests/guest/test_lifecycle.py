# SPDX-License-Identifier: GPL-2.0
"""
Administration of a device in use, again and again, without a hang, a leak or a lost touch. All rounds run in User Mode
Linux, on scsi_debug's disk; fewer run on the emulated drive, which counts its requests, and with a second processor. User
Mode Linux has no network block devices, so these have all rounds in the guests. As many rounds as in the proof:

    DM_ALIGN_LIFECYCLE_ROUNDS=1000 scripts/python -m pytest kmod/tests/guest -rP -k "lifecycle"
"""

import contextlib
import itertools
from pathlib import Path
from typing import NamedTuple

import pytest

from lab.plugins.extent import only_all
from rig import nbd
from rig.control import SKIP_LOCKFS_FLAG
from rig.direct import Disk, check, describe, pattern
from rig.dm import Align, Device, sectors_of
from rig.filesystem import fsck, make, mounted
from rig.rig import LIFECYCLE_LIMIT, LIFECYCLE_ROUNDS
from rig.witness import eventually
from rig.writers import Files, Writer

pytestmark = [pytest.mark.timeout(LIFECYCLE_LIMIT), pytest.mark.two_processors]

FIXING = ["pad", "coalesce"]
# As parameters.
EACH_FIXING = [only_all("coalesce has more to forget", "pad"), "coalesce"]
# Gauges, which may fall, unlike counters.
GAUGES = {"rmw_pending", "held_blocks", "held_bytes", "degraded", "blocks", "memory_bytes"}


# Rounds after which a file system is checked and made anew, before its growing files fill it.
REFILLED = 50


@pytest.fixture
def drive(rig):
    """Yield an emulated drive, or in User Mode Linux, which has none, a disk without counts."""
    if rig.has_drives:
        drive = rig.drive("p4096")
        drive.reset()
        yield drive
    else:
        # With a longer delay a flush takes 50 ms, and a file system sends many.
        with rig.scsi_debug(megabytes=200, sector_size=512, physblk_exp=3, ndelay=10000) as path:
            yield Uncounted(path)


class Uncounted(NamedTuple):
    path: str


def arrived(drive):
    """Return the expected count of touches left to the drive, from the drive's own counts."""
    return {} if isinstance(drive, Uncounted) else {"rmw_drive": drive.stats()["touches"]}


@contextlib.contextmanager
def under_load(rig, device, threads=4, **options):
    """
    Run the stress on a device during the `with` block; fail if it makes no progress. A few threads give enough requests in
    flight; more would make a suspend wait longer.
    """
    # The stress is stopped at the end; the time is a limit in case that fails.
    load = rig.stress(device.path, seconds=LIFECYCLE_LIMIT, threads=threads, flush=1, fua=2, **options)
    eventually(lambda: device.counter("rmw_expected") > 0, "the load does not begin", 60)
    began = device.counter("writes")
    yield load
    if not load.running():
        load.finish()
        raise AssertionError("the load has ended before the last round")
    eventually(lambda: device.counter("writes") > began, "no write came through in all rounds", 60)
    load.stop()


def say(rig, rounds, what, touches):
    """Print the figures of a test, for promises.rst."""
    print(f"lifecycle: {what}: {rounds} rounds on {rig.where}, {touches} touches, none forgotten")


def settled(device, **more):
    """Assert that no block is in flight, held or in memory, and that the ledger balances; return the ledger."""
    device.message("flush")
    ledger = device.balanced()
    left = {name: ledger[name] for name in GAUGES}
    assert not any(left.values()), f"left behind: {left}"
    for name, value in more.items():
        assert ledger[name] == value, f"{name} is {ledger[name]}, must be {value}"
    return ledger


def kept(before, after):
    """Assert that no counter has fallen."""
    fallen = {name: (before[name], after[name]) for name in before.keys() - GAUGES if after[name] < before[name]}
    assert not fallen, f"counts were lost: {fallen}"


@pytest.mark.uml_too
@pytest.mark.parametrize("mode", EACH_FIXING)
def test_suspend_and_resume_forget_nothing(rig, drive, mode):
    with Align(drive.path, mode=mode) as device:
        with under_load(rig, device, beneath=drive.path) as load:
            for _ in rig.progress(range(rig.rounds)):
                before = device.ledger()
                device.suspend()
                device.resume()
                kept(before, device.ledger())
        ledger = settled(device, rmw_expected=load.touches, rmw_lost=0, **arrived(drive))
        assert (ledger["touches_held"] > 0) == (mode == "coalesce")
    say(rig, rig.rounds, f"suspend and resume in {mode}", load.touches)


@pytest.mark.uml_too
def test_mode_changes_forget_nothing(rig, drive):
    with Align(drive.path, mode="report") as device:
        with under_load(rig, device, beneath=drive.path) as load:
            modes = itertools.cycle(["pad", "coalesce", "report", "coalesce"])
            for _, mode in zip(rig.progress(range(rig.rounds)), modes):
                before = device.ledger()
                device.set_mode(mode)
                now, _ = device.pairs()
                assert now == mode
                kept(before, device.ledger())
        # The drive's counts agree with the ledger.
        settled(device, rmw_expected=load.touches, rmw_lost=0, **arrived(drive))
    say(rig, rig.rounds, "mode changes", load.touches)


@pytest.mark.uml_too
@pytest.mark.parametrize("mode", EACH_FIXING)
def test_reloads_beneath_a_mounted_file_system_forget_nothing(rig, drive, mode):
    """
    From align to linear and back, and at times from align to align, which keeps the counts; on a partition that starts
    5 sectors behind a boundary, while a process writes and syncs files.
    """
    with rig.partition(drive.path, 2048 + 5, 1 << 18) as path, Align(path, mode=mode) as device:
        for first in range(0, rig.rounds, REFILLED):
            make("ext4", device.path)
            files = Files(f"reload {mode} {first}")
            with mounted("ext4", device.path) as root:
                files.setup(root / "files")
                writer = Writer(files, root / "files")
                for number in rig.progress(range(first, min(first + REFILLED, rig.rounds))):
                    seen = writer.acknowledged
                    # Alternate between a frozen file system and none.
                    flags = SKIP_LOCKFS_FLAG if number % 2 else 0
                    device.reload(device.linear(), flags=flags)
                    assert not device.sysfs.exists()
                    device.reload(device.line(mode=mode), flags=flags)
                    if number % 10 == 0:
                        eventually(lambda: device.counter("rmw_expected") > 0, "no misaligned write comes", 60)
                        before = device.ledger()
                        device.reload(device.line(mode=mode))
                        kept(before, device.ledger())
                    eventually(lambda writer=writer, seen=seen: writer.acknowledged > seen,
                               f"no file is synced any more, after {seen}", 60)
                writer.stop()
            fsck("ext4", device.path)
            with mounted("ext4", device.path, read_only=True) as root:
                files.check(root / "files", writer.acknowledged, writer.begun)
        ledger = settled(device, rmw_lost=0)
    # Touches since the last table of linear, which ends the counts.
    say(rig, rig.rounds, f"reloads of {mode}, linear and back beneath ext4", ledger["rmw_expected"])


@pytest.mark.uml_too
def test_devices_come_and_go_and_leave_all_on_the_drive(rig, drive):
    """
    Each device is removed directly after its last write, with blocks known, held, and in flight behind the
    acknowledgement; another device on the same drive is under load and must not be affected.
    """
    with Align(drive.path, start=1 << 17, length=8192, mode="coalesce") as other, Disk(drive.path) as lower:
        references = refcount()
        with under_load(rig, other) as load:
            for number, mode in zip(rig.progress(range(rig.rounds)), itertools.cycle(["coalesce", "pad", "report"])):
                with Align(drive.path, length=1 << 16, mode=mode, hold_ms=60000) as device:
                    assert refcount() == references + 1
                    assert device.balanced()["rmw_expected"] == 0, "the device has counts of an earlier one"
                    at = 800 * (number % 50)
                    with Disk(device.path) as upper:
                        for sector, sectors in ((3, 2), (8, 13), (21, 3), (407, 300)):
                            upper.write(at + sector, pattern(number, at + sector, sectors))
                    assert device.counter("rmw_expected") == 1 + 1 + 1 + 2
                    block = device.block
                assert not Path("/sys/block", block).exists()
                for sector, sectors in ((3, 2), (8, 16), (407, 300)):
                    check(at + sector, pattern(number, at + sector, sectors), lower.read(at + sector, sectors),
                          f"beneath the device removed in round {number}")
                assert refcount() == references
        settled(other, rmw_expected=load.touches, rmw_lost=0)
    say(rig, rig.rounds, "devices made and removed beside a load", load.touches)


def refcount():
    return int(Path("/sys/module/dm_align/refcnt").read_text())


@pytest.mark.each_kernel
@pytest.mark.uml_too
def test_the_module_comes_and_goes(rig, drive):
    """The module is loaded, used, cannot be unloaded while in use, and can be unloaded directly afterwards."""
    with Disk(drive.path) as lower:
        for number, mode in zip(rig.progress(range(rig.rounds)), itertools.cycle(FIXING)):
            rig.load_module()
            with Align(drive.path, mode=mode, hold_ms=60000) as device:
                with Disk(device.path) as upper:
                    for sector, sectors in ((3, 2), (21, 30)):
                        upper.write(sector, pattern(number, sector, sectors))
                    assert device.balanced(pending=3 if mode == "coalesce" else 0)["rmw_expected"] == 3
                with pytest.raises(BlockingIOError):
                    rig.unload_module()
            rig.unload_module()
            for sector, sectors in ((3, 2), (21, 30)):
                check(sector, pattern(number, sector, sectors), lower.read(sector, sectors), f"round {number}")
    rig.load_module()
    say(rig, rig.rounds, "module loaded and unloaded", 3 * rig.rounds)


@pytest.mark.uml_too
@pytest.mark.parametrize("mode", EACH_FIXING)
def test_a_drive_that_fails_under_load_and_comes_back_loses_nothing_acknowledged(rig, drive, mode):
    """Every request fails while the table below is of the target error; held blocks wait for the drive."""
    length = sectors_of(drive.path)
    with Device(f"0 {length} linear {drive.path} 0") as below, Align(below.path, mode=mode, hold_ms=20) as device:
        # Two threads only: one whose requests fail at once never sleeps, and keeps the processor from the reload.
        with under_load(rig, device, threads=2, beneath=drive.path, tolerate_errors=True) as load:
            for _ in rig.progress(range(rig.rounds)):
                before = device.ledger()
                below.reload(f"0 {length} error")
                eventually(lambda before=before: device.counter("rmw_lost") > before["rmw_lost"] or
                           device.counter("degraded") or not load.running(), "nothing fails", 60)
                below.reload(*below.lines)
                kept(before, device.ledger())
            # The last check needs a flush that succeeds.
            eventually(lambda: not device.counter("degraded"), "the device stays degraded", 60)
        assert load.write_errors > 0, "no request failed: the test proves nothing"
        settled(device, rmw_expected=load.touches)
    say(rig, rig.rounds, f"drive failing and back in {mode}", load.touches)


@pytest.mark.each_kernel
def test_a_drive_that_is_gone_for_good_under_load_lets_the_device_go(rig, tmp_path):
    """
    The server of a network block device is killed with requests in flight. The requests fail, the device is removed with
    its unwritten blocks, and synced content is on the medium.
    """
    medium = tmp_path / "medium"
    touches = 0
    with nbd.module():
        for number, mode in zip(rig.progress(range(LIFECYCLE_ROUNDS)), itertools.cycle(FIXING)):
            medium.write_bytes(bytes(Sectors.SPAN))
            with nbd.served(medium) as disk, \
                    Align(disk.path, mode=mode, physical_block_size=4096, alignment_offset=0, write_cache="on",
                          hold_ms=60000) as device:
                files = [Sectors(device.path, f"{mode} {number}", thread) for thread in range(3)]
                writers = [Writer(each, None) for each in files]
                eventually(lambda writers=writers: all(writer.acknowledged > 3 for writer in writers),
                           "no operation is acknowledged", 60)
                disk.kill()
                for writer in writers:
                    writer.wait()
                held = device.counter("rmw_pending")
                assert mode == "coalesce" or not held
                touches += device.balanced(pending=held)["rmw_expected"]
            content = medium.read_bytes()
            for each, writer in zip(files, writers):
                each.check(content, writer.acknowledged, writer.begun)
    assert touches > 0
    say(rig, LIFECYCLE_ROUNDS, "server of the drive killed", touches)


class Sectors:
    """
    A workload (see rig.writers) on the device itself: sectors with a single writer, in blocks shared with two other
    writers; each write is synced.
    """

    failures = OSError
    RUNS = 40
    SPAN = RUNS * 24 * 512

    def __init__(self, path, seed, number):
        self._path, self._seed, self._number = path, seed, number
        self._disk = None

    def _place(self, n):
        run = n * 7 % self.RUNS
        return run * 24 + 3 * self._number, 2 + run % 2

    def work(self, _, n):
        self._disk = self._disk or Disk(self._path)
        sector, sectors = self._place(n)
        self._disk.write(sector, pattern(n + 1, sector, sectors))
        self._disk.flush()

    def check(self, content, acknowledged, begun):
        newest = {self._place(n): [n + 1] for n in range(acknowledged)}
        if begun > acknowledged:
            # Each sector of the operation in flight is old or new.
            newest.setdefault(self._place(acknowledged), [None]).append(acknowledged + 1)
        for (first, sectors), tags in newest.items():
            for sector in range(first, first + sectors):
                lawful = [pattern(tag, sector, 1) if tag else bytes(512) for tag in tags]
                got = content[sector * 512:sector * 512 + 512]
                assert got in lawful, \
                    f"{self._seed}: sector {sector} of process {self._number}: {describe(got)}, lawful: writes {tags}"
