# SPDX-License-Identifier: GPL-2.0
"""alignctl on devices in use: linear becomes align and linear again, and align grows, under a mounted file system."""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from lab.pace import patience
from lab.paths import OUT
from lab.plugins.extent import only_all
from rig import control
from rig.control import INACTIVE_PRESENT_FLAG, NOFLUSH_FLAG, SKIP_LOCKFS_FLAG, SUSPEND_FLAG
from rig.direct import Disk, Later, check, pattern
from rig.dm import Align, Device, block_name, number_of, queue, run, sectors_of
from rig.filesystem import fsck, make, mounted
from rig.memdisk import memory_disk
from rig.witness import eventually
from rig.writers import Files, Writer

ALIGNCTL = OUT / "bin" / "alignctl"
HOOK = OUT / "bin" / "dmhook.so"
FINE, FINDINGS, USAGE, IO, BUSY = range(5)
LONG = 600000
# A partition that starts 5 sectors behind a boundary, so that each block of a file system has two touches.
SHIFTED = 2048 + 5
IOCTL = "16"  # of x86_64
ONLINE = ("attach", "--online")


def environment(hook):
    return {**os.environ, "LD_PRELOAD": str(HOOK), "DMHOOK": hook} if hook else None


def alignctl(*arguments, status=FINE, hook=None):
    """Run alignctl, with a hook of tools/dmhook.c in it. Each error must be one line."""
    done = subprocess.run([str(word) for word in (ALIGNCTL, *arguments)], capture_output=True, text=True,
                          timeout=patience(120), env=environment(hook))
    assert done.returncode == status, f"alignctl {arguments}: exit status {done.returncode}: {done.stdout}{done.stderr}"
    return done


def attach(device, *options, **more):
    return alignctl(*ONLINE, device.path, *options, **more)


def detach(device, *options, **more):
    return alignctl("detach", device.name, *options, **more)


@contextlib.contextmanager
def waiting(request, *words, hook="", **more):
    """Run alignctl for the `with` block, which begins when the program comes to that request; yield the Later of it."""
    with tempfile.TemporaryDirectory() as folder:
        stop = Path(folder, "stop")
        changing = Later(alignctl, *words, hook=f"{request}-waits={stop},{hook}", **more)
        eventually(stop.exists, f"alignctl does not come to the {request}")
        try:
            yield changing
        finally:
            stop.unlink()
            changing.wait()


def types(device):
    return [line.split()[2] for line in device.table().splitlines()]


def unharmed(device, table):
    """Assert that the device goes on with its old table and that no other one waits."""
    assert device.table() == table
    assert not control.state(device.name)


def ledger(device):
    """Return the counters of an align device that has no class of its own."""
    [found] = json.loads(alignctl("stats", device.name, "--json").stdout)["devices"]
    return found["counters"]


# ---- linear to align and back ----

@pytest.mark.parametrize("kind, mode", [
    ("ext4", "coalesce"), only_all("the other modes swap as this one does", "ext4", "report"),
    *(only_all("the other pairs of a file system and a mode", kind, mode)
      for kind, mode in (("ext4", "pad"), ("xfs", "report"), ("xfs", "pad"), ("xfs", "coalesce")))])
@pytest.mark.timeout(240)
def test_a_device_becomes_align_and_linear_again_beneath_a_mounted_file_system(rig, kind, mode):
    drive = rig.drive("p4096")
    sectors = 1 << 18 if kind == "ext4" else 5 << 17
    with rig.partition(drive.path, SHIFTED, sectors) as path, Device(f"0 {sectors} linear {path} 0") as device:
        linear = device.table()
        make(kind, device.path)
        files = Files(f"online {kind} {mode}")
        with mounted(kind, device.path) as root:
            files.setup(root / "files")
            writer = Writer(files, root / "files")

            def goes_on():
                seen = writer.acknowledged
                eventually(lambda: writer.acknowledged > seen + 3, "no file is synced any more", 60)

            for _ in range(3):
                goes_on()
                drive.reset()
                said = attach(device, "--mode", mode, "--hold-ms", 50)
                assert f"mode {mode}" in said.stdout and ("volatile" in said.stdout) == (mode == "coalesce")
                assert device.table() == linear.replace("linear", "align") + f" 4 mode {mode} hold_ms 50"
                goes_on()
                eventually(lambda: ledger(device)["rmw_expected"] > 0, "no misaligned write comes", 60)
                said = detach(device)
                assert f"{device.name}: linear again" in said.stdout
                assert device.table() == linear
            goes_on()
            attach(device, "--mode", mode)
            drive.reset()
            goes_on()
            writer.stop()
            # A mounted file system writes whenever it likes, and no count is exact beside a write in flight.
            run("fsfreeze", "--freeze", root)
            try:
                alignctl("set", device.name, "--flush")
                counted, touches = ledger(device), drive.stats()["touches"]
            finally:
                run("fsfreeze", "--unfreeze", root)
            assert counted["rmw_expected"] == sum(
                counted[part] for part in ("rmw_avoided", "rmw_host", "rmw_drive", "rmw_lost", "rmw_pending"))
            assert counted["rmw_pending"] == counted["rmw_lost"] == 0
            # writes that were in flight before the reset are not the drive's any more
            assert touches <= counted["rmw_drive"]
            if mode != "report":
                assert touches < counted["rmw_expected"]
            detach(device)
        assert device.table() == linear
        fsck(kind, device.path)
        with mounted(kind, device.path, read_only=True) as root:
            files.check(root / "files", writer.acknowledged, writer.begun)


@pytest.mark.each_kernel
def test_segments_of_two_drives_change_at_once_each_with_its_own_alignment(rig):
    """The second drive's blocks are shifted, and only scsi_debug says so."""
    drive = rig.drive("p4096")
    with rig.scsi_debug(sector_size=512, physblk_exp=3, lowest_aligned=7) as shifted, \
            Device(f"0 8192 linear {drive.path} 16", f"8192 8192 linear {shifted} 15") as device:
        linear = device.table()
        with Disk(device.path) as upper:
            said = attach(device, "--mode", "pad", "--max-blocks", 64).stdout.splitlines()
            assert "alignment offset 0 bytes" in said[0] and f"on {drive.path}," in said[0]
            assert "alignment offset 3584 bytes" in said[1] and f"on {shifted}," in said[1]
            assert device.table() == "\n".join(line.replace("linear", "align") + " 4 mode pad max_blocks 64"
                                               for line in linear.splitlines())
            for sector in (3, 8190, 9000):
                upper.write(sector, pattern(sector, sector, 4))
            assert ledger(device)["rmw_drive"] == 0 < ledger(device)["rmw_host"]
            detach(device)
            assert device.table() == linear
            for sector in (3, 8190, 9000):
                check(sector, pattern(sector, sector, 4), upper.read(sector, 4), "as linear again")


def test_auto_takes_each_segments_own_hint(rig):
    drive = rig.drive("p4096")
    with rig.scsi_debug(sector_size=4096, opt_xferlen_exp=2) as large, \
            Device(f"0 8192 linear {drive.path} 0", f"8192 8192 linear {large} 0") as device:
        assert queue(large, "minimum_io_size") == "16384"
        said = attach(device, "--physical", "auto", "--mode", "pad").stderr
        assert "buffers aligned to less than 4096 bytes fails in mode pad" in said
        assert ["physical_block_size 16384" in line for line in device.table().splitlines()] == [False, True]
        detach(device)


def test_a_table_of_several_targets_loses_align_only(rig):
    drive = rig.drive("p4096")
    lines = [f"0 8192 linear {drive.path} 0", f"8192 8192 align {drive.path} 8192 2 mode pad", "16384 8 zero",
             f"16392 8 delay {drive.path} 24576 1", f"16400 8 align {drive.path} 32768 4 mode coalesce hold_ms 60000"]
    with Device(*lines) as device, Disk(device.path) as upper, Disk(drive.path) as lower:
        was = device.table().splitlines()
        upper.write(16401, pattern(1, 16401, 1))
        detach(device)
        assert [types(device)[i] for i in (1, 4)] == ["linear"] * 2
        now = device.table().splitlines()
        assert [now[i] for i in (0, 2, 3)] == [was[i] for i in (0, 2, 3)]
        assert now[4] == f"16400 8 linear {number_of(drive.path)} 32768"
        check(32769, pattern(1, 16401, 1), lower.read(32769, 1), "what was held")


def test_a_read_only_device_stays_read_only(rig):
    drive = rig.drive("p4096")
    with Device(f"0 8192 linear {drive.path} 0") as device:
        run("dmsetup", "reload", "--readonly", device.name, "--table", f"0 8192 linear {drive.path} 0")
        run("dmsetup", "resume", device.name)
        flag = Path("/sys/block", device.block, "ro")
        assert flag.read_text().strip() == "1"
        for change, target in ((attach, "align"), (detach, "linear")):
            change(device)
            assert types(device) == [target] and flag.read_text().strip() == "1"


# ---- volumes and partitions ----

LVM = "devices { hints=none } activation { udev_sync=0 udev_rules=0 monitoring=0 } global { event_activation=0 } " \
    "backup { backup=0 archive=0 }"


class Volume(Device):
    """A logical volume of 64 MiB, which LVM makes on a device."""

    def __init__(self, below):
        super().__init__(name="online-data")
        self._below = below

    def lvm(self, command, *arguments):
        return run(command, "--config", LVM, "--devices", self._below, *arguments)

    def __enter__(self):
        self.lvm("pvcreate", "-ff", "-y", self._below)
        self.lvm("vgcreate", "online", self._below)
        self.lvm("lvcreate", "-y", "-Zn", "-Wn", "-L", "64m", "-n", "data", "online")
        return self

    def remove(self):
        self.lvm("vgremove", "-ff", "-y", "online")


def test_a_volume_of_lvm_is_align_until_lvm_makes_its_table_anew(rig):
    drive = rig.drive("p4096")
    with Volume(drive.path) as volume:
        linear = volume.table()
        run("mkfs.ext4", "-q", "-F", volume.path, "32m")
        free = (48 << 11) + 3
        with mounted("ext4", volume.path) as root:
            said = attach(volume, "--mode", "coalesce", "--hold-ms", LONG)
            assert types(volume) == ["align"]
            assert len(said.stderr.splitlines()) == 1 and "lvchange --refresh" in said.stderr and "below" in said.stderr
            (root / "file").write_bytes(b"while it is align")
            os.sync()
            with Disk(volume.path) as upper:
                def held():
                    upper.write(free, pattern(1, free, 1))
                    return ledger(volume)["held_blocks"] > 0

                # A commit of ext4's journal in between flushes it.
                eventually(held, "no write is held")
                volume.lvm("lvchange", "--refresh", "online/data")
                assert volume.table() == linear, "the message is wrong"
                check(free, pattern(1, free, 1), upper.read(free, 1), "after LVM's refresh")
            attach(volume)
            refused = alignctl("set", volume.name, "--resize", status=USAGE).stderr
            assert "LVM sets its size" in refused and len(refused.splitlines()) == 1
            # as that message says
            detach(volume)
            assert volume.table() == linear
            volume.lvm("lvextend", "-L", "96m", "online/data")
            attach(volume)
            assert types(volume) == ["align"] and sectors_of(volume.path) == 96 << 11
            detach(volume)
            assert (root / "file").read_bytes() == b"while it is align"


def test_a_partition_of_kpartx_becomes_align(rig):
    drive = rig.drive("p4096")
    subprocess.run(["sfdisk", "-q", "--no-reread", "--no-tell-kernel", drive.path], input="start=2053, size=100000\n",
                   text=True, check=True, capture_output=True, timeout=patience(60))
    name = f"{block_name(drive.path)}1"
    try:
        run("kpartx", "-a", "-n", drive.path)
        part = Device(name=name)
        run("dmsetup", "mknodes", name)
        linear = part.table()
        assert linear == f"0 100000 linear {number_of(drive.path)} 2053"
        with Disk(part.path) as upper:
            said = attach(part, "--mode", "pad")
            assert "kpartx -u" in said.stderr
            upper.write(0, pattern(1, 0, 3))        # ends at a boundary
            assert ledger(part)["rmw_expected"] == 1
            assert "partition table" in alignctl("set", name, "--resize", status=USAGE).stderr
            run("kpartx", "-d", drive.path)
            assert types(part) == ["align"], "kpartx removes the map, though the manual says that the map stays"
            detach(part)
            check(0, pattern(1, 0, 3), upper.read(0, 3), "as linear again")
        assert part.table() == linear
    finally:
        run("dmsetup", "remove", name, ok=False)
        with Disk(drive.path) as disk:
            disk.zero(0, 8)


# ---- refusals ----

@contextlib.contextmanager
def luks(path):
    """Yield an open LUKS device on `path`, which is wiped at the end."""
    with tempfile.NamedTemporaryFile() as key:
        key.write(b"a key for tests only")
        key.flush()
        run("cryptsetup", "luksFormat", "-q", "--type", "luks2", "--sector-size", 512, "--pbkdf", "pbkdf2",
            "--pbkdf-force-iterations", 1000, "--key-file", key.name, path)
        run("cryptsetup", "open", "--key-file", key.name, path, "crypt")
    crypt = Device(name="crypt")
    try:
        yield crypt
    finally:
        crypt.remove()
        with Disk(path) as disk:
            disk.zero(0, 1 << 15)


REFUSED_LUKS = "alignctl: crypt: its table is of target crypt, not linear; align belongs below: "


def test_luks_is_refused_and_the_device_below_is_named(rig):
    drive = rig.drive("p4096")
    with luks(drive.path) as crypt:
        table = crypt.table()
        assert attach(crypt, status=USAGE).stderr == f"{REFUSED_LUKS}close it, then 'alignctl attach {drive.path}'\n"
        unharmed(crypt, table)


def test_luks_on_a_linear_device_need_not_be_closed(rig):
    drive = rig.drive("p4096")
    with Device(f"0 {1 << 17} linear {drive.path} 0") as below, luks(below.path) as crypt, Disk(crypt.path) as upper:
        refused = attach(crypt, status=USAGE).stderr
        assert refused == f"{REFUSED_LUKS}'alignctl attach --online {below.path}'\n"
        upper.write(1, pattern(1, 1, 1))
        attach(below)
        check(1, pattern(1, 1, 1), upper.read(1, 1), "above the new align device")
        detach(below)


def test_what_is_not_linear_is_refused_with_the_way_out(rig):
    drive = rig.drive("p4096")
    with Device(f"0 8192 linear {drive.path} 0", "8192 8 error") as mixed:
        table = mixed.table()
        assert "of target error, not linear" in attach(mixed, status=USAGE).stderr
        unharmed(mixed, table)
    with Align(drive.path, length=8192) as device:
        refused = attach(device, status=USAGE).stderr
        assert "is an align device already" in refused and "the verb set changes it" in refused
    refused = alignctl("attach", drive.path, "--online", status=USAGE).stderr
    assert refused == f"alignctl: {drive.path}: is no device-mapper device, so it cannot be changed in use; " \
        "unmount it and leave out --online\n"
    with Device(f"0 8192 linear {drive.path} 0") as device:
        assert "leave out --name" in attach(device, "--name", "x", status=USAGE).stderr


def test_a_device_with_integrity_metadata_is_refused(rig):
    with rig.scsi_debug(dif=1, dix=1) as path, Device(f"0 8192 linear {path} 0") as device:
        table = device.table()
        refused = attach(device, status=USAGE).stderr
        assert "integrity metadata (T10-DIF-TYPE1-CRC)" in refused and len(refused.splitlines()) == 1
        unharmed(device, table)


def test_a_name_of_any_length_is_kept(rig):
    with Device(f"0 8192 linear {rig.drive('p4096').path} 0", name="n" * 127) as device:
        attach(device)


def test_a_table_that_cannot_be_loaded_leaves_the_old_one(rig):
    drive = rig.drive("p4096")
    with Device(f"0 8192 linear {drive.path} 0") as device, Disk(device.path) as upper:
        table = device.table()
        for options, said, status in (
                # found out before anything is loaded
                (("--physical", 1000), "power of two", USAGE), (("--physical", 4096, "--offset", 100), "multiple", USAGE),
                # and by the kernel
                (("--mode", "pad", "--max-blocks", 262145), "max_blocks must be a number from 1 to 262144", USAGE)):
            refused = attach(device, *options, status=status).stderr
            assert said in refused and len(refused.splitlines()) == 1, refused
            unharmed(device, table)
            upper.write(1, pattern(1, 1, 1))
    with rig.brd() as ram, Device(f"0 8192 linear {ram} 0") as device, Disk(device.path) as upper:
        table = device.table()
        for options in ((), ("--write-cache", "on")):
            refused = attach(device, "--mode", "coalesce", *options, status=USAGE).stderr
            assert "no volatile write cache" in refused and "--online" in refused
            unharmed(device, table)
        upper.write(1, pattern(1, 1, 1))
        # the same kernel would have refused the table
        with pytest.raises(OSError):
            device.load(table.replace("linear", "align") + " 2 mode coalesce")
        attach(device, "--mode", "pad", "--write-cache", "on")
        assert alignctl("set", device.name, "--mode", "coalesce", status=USAGE).stderr
        detach(device)


def test_a_device_that_another_program_changes_is_left_alone(rig):
    drive = rig.drive("p4096")
    with Device(f"0 8192 linear {drive.path} 0") as device:
        device.load(f"0 4096 linear {drive.path} 0")
        assert f"dmsetup clear {device.name}" in attach(device, status=BUSY).stderr
        run("dmsetup", "clear", device.name)
        device.suspend()
        assert f"dmsetup resume {device.name}" in attach(device, status=BUSY).stderr
        device.resume()
        for number, hook in enumerate(("", "resume-fails")):
            with waiting("suspend", *ONLINE, device.path, hook=hook, status=BUSY) as changing:
                device.reload(f"0 4096 linear {drive.path} {number}")
            assert "another program" in changing.result().stderr
            unharmed(device, f"0 4096 linear {number_of(drive.path)} {number}")


def test_nor_is_the_table_of_another_program_taken_for_the_own_one(rig):
    """The other table maps the same, in another mode."""
    drive = rig.drive("p4096")
    with Device(f"0 8192 linear {drive.path} 0") as device:
        with waiting("suspend", *ONLINE, device.path, "--mode", "pad", status=BUSY) as changing:
            device.load(f"0 8192 align {drive.path} 0 2 mode coalesce")
        assert "another program" in changing.result().stderr


@pytest.mark.parametrize("target", [only_all("detach does the same", "linear"), "align"])
def test_a_device_that_another_program_suspends_stays_suspended(rig, target):
    drive = rig.drive("p4096")
    with Device(f"0 8192 {target} {drive.path} 0") as device:
        table = device.table()
        words = (*ONLINE, device.path) if target == "linear" else ("detach", device.name)
        with waiting("load", *words, status=BUSY) as changing:
            device.suspend()
        assert "another program" in changing.result().stderr
        assert control.state(device.name) == SUSPEND_FLAG
        device.resume()
        unharmed(device, table)


def test_a_table_that_another_program_loads_is_not_replaced(rig):
    """While the held data are being written."""
    drive = rig.drive("p4096")
    with holding(drive) as (device, _):
        table = device.table()
        with waiting("message", "detach", device.name, status=BUSY) as changing:
            device.load(f"0 4096 linear {drive.path} 0")
        assert "another program" in changing.result().stderr
        assert control.state(device.name) == INACTIVE_PRESENT_FLAG and device.table() == table


def test_a_device_that_takes_the_name_is_not_removed(rig):
    drive = rig.drive("p4096")
    alignctl("attach", drive.path, "--name", "first", "--mode", "coalesce", "--hold-ms", LONG)
    with Disk("/dev/mapper/first") as upper:
        upper.write(82, pattern(1, 82, 3))
    with waiting("message", "detach", "first") as changing:
        run("dmsetup", "rename", "first", "second")
        other = Device("0 8 zero", name="first").__enter__()
    try:
        changing.result()
        assert other.table() == "0 8 zero"
        assert run("dmsetup", "info", "second", ok=False).returncode
    finally:
        other.remove()
        run("dmsetup", "remove", "second", ok=False)
    with Disk(drive.path) as lower:
        check(82, pattern(1, 82, 3), lower.read(82, 3), "beneath")


def test_alignctl_needs_no_memory_while_the_device_is_suspended(rig):
    with Device(f"0 8192 linear {rig.drive('p4096').path} 0") as device:
        attach(device, hook="no-memory")
        assert not control.state(device.name)


def test_a_device_that_cannot_be_resumed_is_named(rig):
    with Device(f"0 8192 linear {rig.drive('p4096').path} 0") as device:
        linear = device.table()
        said = attach(device, status=IO, hook="resumes-fail").stderr
        assert "stays suspended" in said and f"dmsetup resume {device.name}" in said and len(said.splitlines()) == 1
        assert control.state(device.name) == SUSPEND_FLAG
        device.resume()
        unharmed(device, linear)


@pytest.mark.parametrize("hook", ["resume-fails", "resume-half"])
def test_a_resume_that_fails_brings_the_old_table_back(rig, hook):
    drive = rig.drive("p4096")
    with Device(f"0 8192 linear {drive.path} 0") as device, Disk(device.path) as upper:
        linear = device.table()
        refused = attach(device, "--mode", "pad", status=IO, hook=hook).stderr
        assert "the old one is back" in refused and len(refused.splitlines()) == 1
        unharmed(device, linear)
        upper.write(1, pattern(1, 1, 1))
        attach(device, "--mode", "pad")
        align = device.table()
        upper.write(2, pattern(2, 2, 1))
        detach(device, status=IO, hook=hook)
        unharmed(device, align)
        check(2, pattern(2, 2, 1), upper.read(2, 1), "with the old table")
        detach(device)


def test_an_interrupted_wait_for_the_device_leaves_the_old_table(rig):
    drive = rig.drive("p4096")
    with Device(f"0 8192 linear {drive.path} 0") as below, Device(f"0 8192 linear {below.path} 0") as device, \
            Disk(device.path) as upper:
        linear = device.table()
        below.suspend(SKIP_LOCKFS_FLAG | NOFLUSH_FLAG)
        stuck = Later(upper.write, 1, pattern(1, 1, 1))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with tempfile.TemporaryDirectory() as folder:
                stop = Path(folder, "stop")
                with subprocess.Popen([ALIGNCTL, *ONLINE, device.path], stderr=subprocess.PIPE, text=True,
                                      env=environment(f"suspend-waits={stop}")) as process:
                    eventually(stop.exists, "alignctl does not come to the suspend")
                    stop.unlink()
                    syscall = Path(f"/proc/{process.pid}/syscall")
                    eventually(lambda at=syscall: at.read_text().split()[0] == IOCTL, "alignctl does not wait")
                    process.send_signal(number)
                    said = process.communicate(timeout=patience(60))[1]
            if number == signal.SIGKILL:
                assert control.state(device.name) == INACTIVE_PRESENT_FLAG
                said = attach(device, status=BUSY).stderr
                assert "killed" in said and f"dmsetup clear {device.name}" in said
                run("dmsetup", "clear", device.name)
            else:
                assert process.returncode == IO and "interrupted; the old table stays" in said
            unharmed(device, linear)
        below.resume()
        stuck.result()
        check(1, pattern(1, 1, 1), upper.read(1, 1), "after the wait")


# ---- held data ----

@contextlib.contextmanager
def holding(drive):
    """Yield a device that attach --online has made, which holds sectors 82 to 84, opened."""
    with Device(f"0 8192 linear {drive.path} 0") as device, Disk(device.path) as upper:
        attach(device, "--mode", "coalesce", "--hold-ms", LONG)
        upper.write(82, pattern(1, 82, 3))
        assert ledger(device)["held_blocks"] == 1
        try:
            yield device, upper
        finally:
            drive.heal()


def test_held_data_are_written_before_the_table_goes(rig):
    drive = rig.drive("p4096")
    with holding(drive) as (device, _), Disk(drive.path) as lower:
        detach(device)
        assert types(device) == ["linear"]
        check(82, pattern(1, 82, 3), lower.read(82, 3), "beneath")


def test_held_data_that_cannot_be_written_keep_the_table_unless_forced(rig):
    drive = rig.drive("p4096")
    with holding(drive) as (device, upper):
        align = device.table()
        drive.fail("write", 80, 8)
        refused = detach(device, status=BUSY).stderr
        assert "1 block " in refused and "--force" in refused
        unharmed(device, align)
        refused = alignctl("set", device.name, "--resize", status=IO).stderr
        assert "1 block " in refused
        unharmed(device, align)
        check(82, pattern(1, 82, 3), upper.read(82, 3), "still held")
        with rig.log() as log:
            assert "--force drops these writes" in detach(device, "--force").stderr
        assert types(device) == ["linear"] and "lost" in log.text


@pytest.mark.parametrize("change", ["detach", "resize"])
def test_writes_that_come_in_the_last_moment_and_fail_keep_the_table(rig, change):
    """Between the flush, which succeeds, and the suspend."""
    drive = rig.drive("p4096")
    with holding(drive) as (device, upper):
        align = device.table()
        words = ("detach", device.name) if change == "detach" else ("set", device.name, "--resize")
        with waiting("suspend", *words, status=BUSY) as changing:
            upper.write(162, pattern(2, 162, 3))
            drive.fail("write", 160, 8)
        refused = changing.result().stderr
        assert "1 block " in refused and "the old table stays" in refused
        unharmed(device, align)
        check(162, pattern(2, 162, 3), upper.read(162, 3), "still held")
        drive.heal()
        detach(device)
        check(162, pattern(2, 162, 3), upper.read(162, 3), "written after all")


# ---- growing ----

@contextlib.contextmanager
def growing(rig, drive, *options, sectors=1 << 17):
    """Yield the device below, and an align device that attach made on it; afterwards heal the drive, and detach the device."""
    with Device(f"0 {sectors} linear {drive.path} 0") as below:
        alignctl("attach", below.path, "--name", "grown", *options)
        device = Align(below.path, name="grown")
        try:
            yield below, device
        finally:
            drive.heal()
            alignctl("detach", "grown", "--force")


def grow(below, drive, sectors):
    below.reload(f"0 {sectors} linear {drive.path} 0")


@pytest.mark.parametrize("mode", [*(only_all("coalesce has more to keep", mode) for mode in ("report", "pad")), "coalesce"])
def test_a_mounted_file_system_grows_with_its_device_and_nothing_else_changes(rig, mode):
    drive = rig.drive("p4096")
    with growing(rig, drive, "--physical", 4096, "--offset", 512, "--max-blocks", 300) as (below, device):
        make("ext4", device.path)
        files = Files(f"grow {mode}")
        with mounted("ext4", device.path) as root:
            # by messages, which the table line must have, too
            alignctl("set", "grown", "--mode", mode, "--hold-ms", LONG)
            files.setup(root / "files")
            writer = Writer(files, root / "files")
            eventually(lambda: writer.acknowledged > 3, "no file is synced", 60)
            table, counted = device.table(), device.ledger()
            assert f"mode {mode}" in table and f"hold_ms {LONG}" in table and "max_blocks 300" in table
            grow(below, drive, 1 << 18)
            said = alignctl("set", "grown", "--resize").stdout
            assert f"from {1 << 17} to {1 << 18} sectors" in said and "the end of" in said
            assert device.table() == table.replace(f"0 {1 << 17} ", f"0 {1 << 18} ")
            now = device.ledger()
            assert all(now[name] >= counted[name] for name in ("rmw_expected", "writes", "rmw_host", "rmw_avoided"))
            assert device.attribute("epoch") == "1" and now["rmw_lost"] == 0
            run("resize2fs", device.path)
            seen = writer.acknowledged
            eventually(lambda: writer.acknowledged > seen + 3, "no file is synced any more", 60)
            assert os.statvfs(root).f_blocks * os.statvfs(root).f_frsize > 100 << 20
            writer.stop()
            assert "nothing to do" in alignctl("set", "grown", "--resize").stdout
        alignctl("set", "grown", "--flush")
        assert device.balanced()["rmw_lost"] == 0
        fsck("ext4", device.path)
        with mounted("ext4", device.path, read_only=True) as root:
            files.check(root / "files", writer.acknowledged, writer.begun)


def test_what_is_held_is_on_the_drive_when_the_device_has_grown(rig):
    drive = rig.drive("p4096")
    with growing(rig, drive, "--mode", "coalesce", "--hold-ms", LONG) as (below, device), Disk(device.path) as upper, \
            Disk(drive.path) as lower:
        upper.write(82, pattern(1, 82, 3))
        assert device.counter("held_blocks") == 1
        grow(below, drive, 1 << 18)
        alignctl("set", "grown", "--resize")
        check(82, pattern(1, 82, 3), lower.read(82, 3), "beneath")
        assert device.balanced()["rmw_expected"] == 1
        upper.write((1 << 18) - 3, pattern(2, (1 << 18) - 3, 2))
        assert device.counter("held_blocks") == 1, "the last block is an edge block, though it is whole now"
        upper.flush()
        check((1 << 18) - 3, pattern(2, (1 << 18) - 3, 2), lower.read((1 << 18) - 3, 2), "in the new part")


def test_a_device_is_never_shrunk(rig):
    drive = rig.drive("p4096")
    with growing(rig, drive) as (below, device):
        table = device.table()
        grow(below, drive, 1 << 16)
        refused = alignctl("set", "grown", "--resize", status=BUSY).stderr
        assert f"ends at sector {1 << 17} of {below.path}, which has only {1 << 16}" in refused and "lost" in refused
        unharmed(device, table)
        grow(below, drive, 1 << 17)
        assert "nothing to do" in alignctl("set", "grown", "--resize").stdout


def test_of_several_segments_the_last_one_grows(rig):
    drive, other = rig.drive("p4096"), rig.drive("claims512")
    with Device(f"0 8192 linear {drive.path} 0") as first, Device(f"0 8192 linear {other.path} 0") as last, \
            Device(f"0 8192 align {first.path} 0 2 mode pad", f"8192 4096 linear {last.path} 0",
                   f"12288 4096 align {last.path} 4096 2 mode coalesce") as device:
        table = device.table().splitlines()
        grow(last, other, 16384)
        said = alignctl("set", device.name, "--resize").stdout
        assert "from 16384 to 24576 sectors" in said and f"by its last segment, to the end of {last.path}" in said
        assert device.table().splitlines() == [*table[:2], table[2].replace("12288 4096", "12288 12288")]
        assert sectors_of(device.path) == 24576
        # a device below another segment that is too small is named
        grow(first, drive, 4096)
        assert f"of {first.path}, which has only 4096" in alignctl("set", device.name, "--resize", status=BUSY).stderr
        grow(first, drive, 8192)


def test_sectors_that_another_device_may_use_are_not_taken(rig):
    drive = rig.drive("p4096")
    with Align(drive.path, length=8192) as device, Device(f"0 8192 linear {drive.path} 8192") as other:
        table = device.table()
        refused = alignctl("set", device.name, "--resize", status=BUSY).stderr
        assert f"{drive.path} is used by {other.block} too" in refused
        unharmed(device, table)


@pytest.mark.parametrize("other, said", [
    ("linear {drive} 8192", "the segment at sector 0 lies on {drive} behind the last segment"),
    only_all("a unit test does the same", "delay {drive} 8192 0",
             "the segment at sector 0 is of target delay, which may own the new sectors")])
def test_sectors_that_another_segment_may_map_are_not_taken(rig, other, said):
    drive = rig.drive("p4096").path
    with Device(f"0 8192 {other.format(drive=drive)}", f"8192 8192 align {drive} 0") as device:
        table = device.table()
        assert said.format(drive=drive) in alignctl("set", device.name, "--resize", status=BUSY).stderr
        unharmed(device, table)


def test_the_queue_of_a_device_keeps_its_write_cache(rig):
    """Layers above have read it when they were set up."""
    drive = rig.drive("p4096")
    with Device(f"0 8192 linear {drive.path} 0") as device:
        assert queue(device.path, "write_cache") == "write back"
        for change in (attach, detach):
            change(device)
            assert queue(device.path, "write_cache") == "write back"


SMALLER = "0 {} align {} 0 4 mode pad logical_block_size 512"


def test_users_of_a_device_do_not_get_smaller_logical_blocks():
    """The users do not learn of such blocks, and the next table of linear would take them away."""
    with memory_disk(16, blocksize=4096) as below, Device(f"0 {sectors_of(below.path)} linear {below.path} 0") as device:
        refused = attach(device, "--logical", "512", status=USAGE)
        assert "--logical 512: its users keep to logical blocks of 4096" in refused.stderr
        assert types(device) == ["linear"] and queue(device.path, "logical_block_size") == "4096"


def test_users_of_smaller_logical_blocks_keep_them():
    """Where dmsetup has made the table, so that detach would make it linear."""
    with memory_disk(16, blocksize=4096) as below, \
            Device(SMALLER.format(sectors_of(below.path), below.path)) as device:
        with open(device.path, "rb"):
            refused = detach(device, status=BUSY)
            assert "its users have logical blocks of 512 bytes" in refused.stderr and types(device) == ["align"]
            refused = alignctl("set", device.name, "--mode", "report", status=USAGE)
            assert "only pad and coalesce can" in refused.stderr
            refused = alignctl("verify", device.name, "--live", status=USAGE)
            assert "only pad and coalesce can" in refused.stderr
        detach(device)
        assert types(device) == ["linear"] and queue(device.path, "logical_block_size") == "4096"
