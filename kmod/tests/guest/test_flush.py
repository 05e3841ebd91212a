# SPDX-License-Identifier: GPL-2.0
"""The promise of a flush in mode coalesce, the conditions of holding, and the content after a power cut."""

import contextlib
import os
import random
import tempfile
import threading
from pathlib import Path

import pytest

from lab.pace import scaled
from rig.control import Refused
from rig.direct import Disk, Later, check, pattern
from rig.dm import Align, Device, queue, run, sectors_of
from rig.witness import eventually, writes

LONG = 60000


def holding(path, **options):
    return Align(path, mode="coalesce", hold_ms=LONG, **options)


# ---- the order at the drive ----

@pytest.mark.each_kernel
def test_a_flush_completes_after_what_was_held_has_reached_the_drive(rig):
    drive = rig.drive("p4096")
    with holding(drive.path) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        places = [80, 8, 400, 16, 801]
        for tag, sector in enumerate(places):
            upper.write(sector + 1, pattern(tag, sector + 1, 2))
        drive.reset()
        upper.flush()
        log = drive.log()
        assert sum(request.op == "F" for request in log) == 1, log
        flush = next(i for i, request in enumerate(log) if request.op == "F")
        assert not [request for request in log[flush:] if request.op == "W"], f"written after the flush: {log}"
        covered = {sector for r in writes(log[:flush]) for sector in range(r.sector, r.sector + r.sectors)}
        assert {sector + 1 for sector in places} <= covered
        for tag, sector in enumerate(places):
            check(sector + 1, pattern(tag, sector + 1, 2), lower.read(sector + 1, 2), "beneath the target")
        ledger = device.balanced()
        assert (ledger["flushes"], ledger["flushes_failed"]) == (1, 0)


def test_a_flush_takes_as_long_as_what_it_is_for(rig):
    drive = rig.drive("p4096")
    length = sectors_of(drive.path)
    with Device(f"0 {length} delay {drive.path} 0 0 {drive.path} 0 {round(scaled(400))}") as slow, holding(slow.path) as device, \
            Disk(device.path) as upper, Disk(drive.path) as lower:
        upper.write(1, pattern(1, 1, 1))
        upper.flush()
        check(1, pattern(1, 1, 1), lower.read(1, 1), "beneath the target when the flush has ended")


def test_a_flood_of_zeroes_into_a_held_block_does_not_keep_a_flush_waiting(rig):
    """Such ranges go down past held blocks; but a block that has to be drained lets no more of them pass."""
    drive = rig.drive("slow4ms")
    length = sectors_of(drive.path)
    with holding(drive.path) as device, contextlib.ExitStack() as stack:
        upper = stack.enter_context(Disk(device.path))
        # The kernel runs one such request of a device at a time: use a device for each.
        lanes = [stack.enter_context(Device(f"0 {length} linear {device.path} 0")) for _ in range(4)]
        disks = [stack.enter_context(Disk(lane.path)) for lane in lanes]
        stop = threading.Event()

        def flood(disk, sector):
            while not stop.is_set():
                disk.zero(sector, 1)

        upper.write(0, pattern(1, 0, 2))
        floods = [Later(flood, disk, 3 + i) for i, disk in enumerate(disks)]
        try:
            for tag in range(5):
                upper.write(0, pattern(tag, 0, 2))
                Later(upper.flush).wait(10).result()
        finally:
            stop.set()
            for each in floods:
                each.result()
        with Disk(drive.path) as lower:
            check(0, pattern(4, 0, 2), lower.read(0, 2), "beneath the target")
        upper.flush()
        device.balanced()


# ---- conditions of holding ----

@pytest.mark.each_kernel
def test_coalesce_needs_a_write_cache_above_which_flushes_come(rig):
    """A layer above reads the flag once; a device that was open without the flag may never gain it."""
    with rig.brd() as path:
        assert queue(path, "write_cache") == "write through"
        with Align(path, mode="pad") as device:
            for refused in (lambda: device.set_mode("coalesce"),
                            lambda: device.load(device.line(mode="coalesce", hold_ms=5))):
                with rig.log() as log, pytest.raises(Refused):
                    refused()
                assert "coalesce" in log.text and "write_cache" in log.text, f"no remedy: {log.text}"
            assert device.attribute("target0_mode") == "pad"
            device.reload(device.linear())
            with pytest.raises(Refused):
                device.load(device.line(mode="coalesce"))
            device.load(device.line(mode="pad"))		# leaves no table that was refused
        with Device(f"0 {sectors_of(path)} linear {path} 0") as device, pytest.raises(Refused):
            device.load(f"0 {sectors_of(path)} align {path} 0 2 mode coalesce")


def test_a_device_that_was_never_active_advertises_a_cache_and_holds(rig):
    with rig.brd() as path, Align(path, mode="coalesce", hold_ms=LONG) as device, Disk(device.path) as upper:
        assert queue(device.path, "write_cache") == "write back"
        upper.write(1, pattern(1, 1, 1))
        assert device.counter("held_blocks") == 1
        upper.flush()
        with Disk(path) as lower:
            check(1, pattern(1, 1, 1), lower.read(1, 1), "beneath the target")


def test_write_cache_on_lets_coalesce_be_entered_later(rig):
    with rig.brd() as path, Align(path, mode="report", write_cache="on") as device, Disk(device.path) as upper:
        device.set_mode("coalesce")
        device.message(f"hold_ms {LONG}")
        upper.write(1, pattern(1, 1, 1))
        assert device.counter("held_blocks") == 1
        device.set_mode("report")
        assert device.counter("held_blocks") == 0
        assert queue(device.path, "write_cache") == "write back"


def test_coalesce_is_entered_online_where_the_drive_has_a_cache(rig):
    drive = rig.drive("p4096")
    with Align(drive.path, mode="report") as device, Disk(device.path) as upper:
        device.reload(device.linear())
        device.reload(device.line(mode="coalesce", hold_ms=LONG))
        upper.write(1, pattern(1, 1, 1))
        assert device.counter("held_blocks") == 1


def test_nothing_is_held_while_root_says_that_there_is_no_cache(rig):
    drive = rig.drive("p4096")
    with holding(drive.path) as device, Disk(device.path) as upper:
        flag = Path("/sys/block", device.block, "queue/write_cache")
        upper.write(1, pattern(1, 1, 1))
        assert device.counter("held_blocks") == 1
        flag.write_text("write through")
        drive.reset()
        upper.write(81, pattern(2, 81, 1))
        assert [(r.sector, r.sectors) for r in writes(drive.log())] == [(80, 8)], "acknowledged before it was written"
        assert device.counter("touches_held") == 1
        flag.write_text("write back")
        upper.write(161, pattern(3, 161, 1))
        assert device.counter("touches_held") == 1, "held though a user may have asked while there was no cache"


@pytest.mark.each_kernel
@pytest.mark.parametrize("looked", ["read", "list", "misaligned write in pad", "read in pad", "mode refused in pad"])
def test_a_layer_made_while_root_says_that_there_is_no_cache_loses_no_fsync(rig, looked):
    """A layer asks once whether to send flushes, at its own set-up; root can have another opinion before and after it."""
    drive = rig.drive("p4096")
    with holding(drive.path) as device:
        flag = Path("/sys/block", device.block, "queue/write_cache")
        if "pad" in looked:
            device.set_mode("pad")
        flag.write_text("write through")
        with Device(f"0 {sectors_of(device.path)} linear {device.path} 0") as layer, Disk(layer.path) as upper:
            if looked.startswith("read"):
                upper.read(0, 8)
            elif looked == "mode refused in pad":
                with pytest.raises(Refused):
                    device.set_mode("coalesce")
            elif looked == "list":
                assert device.attribute("target0_holding") == "0"
            else:
                upper.write(9, pattern(1, 9, 1))
            flag.write_text("write back")
            if "pad" in looked:
                with pytest.raises(Refused):
                    device.set_mode("coalesce")
            upper.write(1, pattern(1, 1, 1))
            upper.flush()
            with Disk(drive.path) as lower:
                check(1, pattern(1, 1, 1), lower.read(1, 1), "acknowledged by fsync")
            assert device.attribute("target0_holding") == "0"
        # The device is not open, so that its next user sees the cache.
        device.set_mode("coalesce")
        assert device.attribute("target0_holding") == "1"
        held = device.counter("touches_held")
        with Disk(device.path) as upper:
            upper.write(1, pattern(2, 1, 1))
            assert device.counter("touches_held") == held + 1


def test_what_was_held_before_root_said_so_leaves_in_its_time(rig):
    drive = rig.drive("p4096")
    with holding(drive.path) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        upper.write(1, pattern(1, 1, 1))
        Path("/sys/block", device.block, "queue/write_cache").write_text("write through")
        check(1, pattern(1, 1, 1), upper.read(1, 1), "readers still see the sector")
        device.message("hold_ms 100")
        eventually(lambda: device.counter("held_blocks") == 0, "the block stays held", timeout=5)
        check(1, pattern(1, 1, 1), lower.read(1, 1), "beneath the target")
        device.balanced()


# ---- a power cut ----

@contextlib.contextmanager
def volume(device, make=False):
    """Make or activate a logical volume on `device` for the `with` block; yield its path."""
    options = ("--devices", device.path, "--config",
               "activation{udev_sync=0 udev_rules=0 monitoring=0} backup{backup=0 archive=0} global{use_lvmpolld=0}")
    if make:
        run("lvm", "pvcreate", *options, "-ff", "-y", device.path)
        run("lvm", "vgcreate", *options, "aligned", device.path)
        run("lvm", "lvcreate", *options, "-y", "-Zn", "-Wn", "-L", "128m", "-n", "data", "aligned")
    else:
        run("lvm", "vgchange", *options, "-ay", "aligned")
    try:
        yield "/dev/mapper/aligned-data"
    finally:
        # dmsetup, as LVM would read the device, which may have lost its power.
        eventually(lambda: not run("dmsetup", "remove", "aligned-data", ok=False).returncode, "the volume stays in use")


@contextlib.contextmanager
def mounted(path):
    with tempfile.TemporaryDirectory() as folder:
        run("mount", path, folder)
        try:
            yield Path(folder)
        finally:
            run("umount", folder)


def synced(folder, name, data):
    fd = os.open(folder / name, os.O_RDWR | os.O_CREAT)
    try:
        os.write(fd, data)
        os.fsync(fd)
        folder_fd = os.open(folder, os.O_RDONLY)
        os.fsync(folder_fd)
        os.close(folder_fd)
    finally:
        os.close(fd)


@pytest.mark.each_kernel
def test_a_synced_file_on_lvm_survives_a_power_cut_after_a_reload_to_coalesce(rig):
    """
    The volume was made and mounted on a table of linear; its table was loaded while there was a write cache beneath,
    so that its flushes come. Its file system has blocks of 1 KiB, which make touches.
    """
    drive = rig.drive("p4096")
    files = {f"f{i}": random.Random(i).randbytes(choose) for i, choose in enumerate((700, 1500, 5000, 30000, 100))}
    length = 1 << 19
    with Device(f"0 {length} linear {drive.path} 0") as device:
        with volume(device, make=True) as path:
            run("mkfs.ext4", "-q", "-F", "-b", "1024", path)
            with mounted(path) as folder:
                synced(folder, "before", b"before the reload")
                device.reload(f"0 {length} align {drive.path} 0 4 mode coalesce hold_ms {LONG}")
                for name, data in files.items():
                    synced(folder, name, data)
                (folder / "unsynced").write_bytes(b"no flush waits for it")
                attributes = Path("/sys/block", device.block, "align")
                assert int((attributes / "touches_held").read_text()) > 0, "no touch was held: the test proves nothing"
                drive.cut_power()
    drive.power_on()
    with Device(f"0 {length} linear {drive.path} 0") as device, volume(device) as path, mounted(path) as folder:
        assert (folder / "before").read_bytes() == b"before the reload"
        for name, data in files.items():
            assert (folder / name).read_bytes() == data, f"{name} was synced, and is lost"
    # The volume's signature would stop other tests.
    run("wipefs", "-qa", drive.path)
