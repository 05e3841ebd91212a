# SPDX-License-Identifier: GPL-2.0
"""alignctl beside LVM and other makers of devices, and above a removed drive: its refusals and its messages."""

import contextlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lab.pace import patience
from lab.paths import OUT
from lab.plugins.extent import only_all
from rig.direct import Disk, check, pattern
from rig.dm import Device, number_of, run, sectors_of
from rig.witness import eventually

ALIGNCTL = OUT / "bin" / "alignctl"
FINE, FINDINGS, USAGE, IO, BUSY = range(5)
VOLUME = "gro--up-vo--lume"


def alignctl(*arguments, status=FINE):
    done = run(ALIGNCTL, *arguments, ok=False)
    assert done.returncode == status, f"alignctl {arguments}: exit status {done.returncode}: {done.stdout}{done.stderr}"
    return done


def shell(line):
    """Run the command that a message advises."""
    done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=patience(60))
    assert not done.returncode, f"{line}: exit status {done.returncode}: {done.stderr}"


def advised(message):
    """Return the command, or line of a file, in a message: the part after the last colon."""
    return message.strip().rsplit(": ", 1)[1]


def table(name):
    return run("dmsetup", "table", name).stdout.strip()


@pytest.fixture
def lvm():
    """Make LVM's configuration in a temporary folder: without udev, daemons and backups."""
    folder = Path("/run/lvm-configuration")
    shutil.copytree("/etc/lvm", folder)
    (folder / "devices").mkdir(exist_ok=True)
    for place in ("/run/lvm", "/run/lock/lvm"):
        Path(place).mkdir(parents=True, exist_ok=True)
    run("mount", "--bind", folder, "/etc/lvm")
    with open("/etc/lvm/lvm.conf", "a") as file:
        file.write("activation { udev_sync=0 udev_rules=0 monitoring=0 }\nbackup { backup=0 archive=0 }\n"
                   "global { event_activation=0 }\n")
    yield Path("/etc/lvm")
    run("umount", "/etc/lvm")
    shutil.rmtree(folder)


@contextlib.contextmanager
def volume(physical):
    """Make an active logical volume on `physical` for the `with` block."""
    run("pvcreate", "-y", physical)
    run("vgcreate", "gro-up", physical)
    run("lvcreate", "-y", "-Zn", "-Wn", "-L", "16M", "-n", "vo-lume", "gro-up")
    try:
        yield f"/dev/mapper/{VOLUME}"
    finally:
        run("vgchange", "-an", "gro-up", ok=False)
        shutil.rmtree("/dev/gro-up", ignore_errors=True)    # left by a volume that a test has lost


@contextlib.contextmanager
def attached(path, *options):
    """Attach a device for the `with` block; yield attach's result."""
    made = alignctl("attach", path, "--name", "above", *options)
    try:
        yield made
    finally:
        alignctl("detach", "above", "--force")


# Whose device is it?

def reloaded_by_hand(name):
    start, length, _, below, offset = table(name).split()
    run("dmsetup", "reload", name, "--table", f"{start} {length} align {below} {offset} 6 mode pad "
        "physical_block_size 4096 alignment_offset 0")
    run("dmsetup", "resume", name)


def test_a_logical_volume_is_made_linear_again_and_not_removed(rig, lvm):
    with rig.scsi_debug(64, physblk_exp=3) as path, volume(path) as upper:
        was = table(VOLUME)
        reloaded_by_hand(VOLUME)
        with Disk(upper) as disk:
            disk.write(1, pattern(1, 1, 2))
            assert alignctl("detach", VOLUME).stdout == f"{VOLUME}: linear again; not removed, as attach has not made it\n"
            assert table(VOLUME) == was
            check(1, pattern(1, 1, 2), disk.read(1, 2), "after the table is back")


@pytest.mark.parametrize("uuid", [
    "LVM-1", *(only_all("its maker is another one than alignctl, as of the others", uuid)
               for uuid in ("part1-mpath-3600", "CRYPT-LUKS2-1", "align-1")), None])
def test_a_device_of_another_maker_is_made_linear_and_stays_and_keeps_its_size(rig, disk, uuid):
    run("dmsetup", "create", "other", *(["--uuid", uuid] if uuid else []), "--table",
        f"0 8192 linear {disk.path} 8")
    try:
        was = table("other")
        for options in ((), ("--force",)):
            reloaded_by_hand("other")
            run("dmsetup", "mknodes", "other")
            if uuid:
                assert "size" in alignctl("set", "other", "--resize", status=USAGE).stderr
            with open("/dev/mapper/other", "rb"):
                alignctl("detach", "other", *options)
            assert table("other") == was
        assert "not an align device" in alignctl("detach", "other", status=USAGE).stderr
    finally:
        run("dmsetup", "remove", "other")


def test_what_attach_made_is_detached_under_any_name_and_with_any_table_of_align(rig, disk):
    alignctl("attach", disk.path, "--name", "first")
    run("dmsetup", "rename", "first", "second")
    # the name is free again, so the UUID must be free, too
    with Device(f"0 8192 linear {disk.path} 0") as other:
        alignctl("attach", other.path, "--name", "first")
        alignctl("detach", "first")
    run("dmsetup", "reload", "second", "--table", f"0 {sectors_of(disk.path)} align {disk.path} 0 2 mode report")
    run("dmsetup", "resume", "second")
    assert alignctl("detach", "second").stdout == "second: detached\n"
    assert not Path("/dev/mapper/second").exists()


# LVM above

def test_a_volume_is_used_through_the_device_after_what_attach_says(rig, lvm):
    with rig.scsi_debug(64, physblk_exp=3) as path, volume(path):
        run("vgchange", "-an", "gro-up")
        with attached(path) as made:
            assert len(made.stderr.splitlines()) == 1 and "warning" in made.stderr
            refused = run("vgchange", "-ay", "gro-up", ok=False)
            assert refused.returncode and "duplicate devices" in refused.stderr, "LVM does not need the advice"
            with open(lvm / "lvm.conf", "a") as file:
                file.write(advised(made.stderr) + "\n")
            assert "/etc/lvm/lvm.conf needs the line" in made.stderr
            run("vgchange", "-ay", "gro-up")
            assert table(VOLUME).split()[3] == number_of("/dev/mapper/above")
            run("lvextend", "-L", "+4M", "gro-up/vo-lume")
            with Disk(f"/dev/mapper/{VOLUME}") as disk:
                disk.write(1, pattern(1, 1, 2))
            [counted] = json.loads(alignctl("stats", "--json").stdout)["devices"]
            assert counted["counters"]["rmw_expected"] >= 1
            run("vgchange", "-an", "gro-up")


def test_so_is_one_on_a_partition_of_the_disk_that_is_attached(rig, lvm):
    with rig.scsi_debug(64, physblk_exp=3) as path:
        subprocess.run(["sfdisk", "-q", path], input="start=2048, size=100000, type=8e\n", text=True, check=True,
                       capture_output=True, timeout=patience(60))
        eventually(Path(f"{path}1").exists, "the partition does not come")
        with volume(f"{path}1"):
            run("vgchange", "-an", "gro-up")
            with attached(path) as made, \
                    Device(f"0 100000 linear {number_of('/dev/mapper/above')} 2048", name="above1") as part:
                assert run("vgchange", "-ay", "gro-up", ok=False).returncode
                with open(lvm / "lvm.conf", "a") as file:
                    file.write(advised(made.stderr) + "\n")
                run("vgchange", "-ay", "gro-up")
                assert table(VOLUME).split()[3] == number_of(part.path)
                run("vgchange", "-an", "gro-up")


@pytest.mark.parametrize("partition", [False, only_all("a partition without such a file, in the test above", True)])
def test_so_is_one_where_lvm_has_a_file_of_its_devices(rig, lvm, partition):
    """Without the advice LVM writes past the device, to the drive itself; on a partition it finds the drive busy."""
    text = (lvm / "lvm.conf").read_text()
    (lvm / "lvm.conf").write_text(re.sub(r"^devices \{", "devices {\nuse_devicesfile=1", text, flags=re.M))
    (lvm / "devices/system.devices").touch()
    with rig.scsi_debug(64, physblk_exp=3) as path:
        if partition:
            subprocess.run(["sfdisk", "-q", path], input="start=2048, size=100000, type=8e\n", text=True, check=True,
                           capture_output=True, timeout=patience(60))
            eventually(Path(f"{path}1").exists, "the partition does not come")
        below = f"{path}1" if partition else path
        with volume(below), contextlib.ExitStack() as stack:
            run("vgchange", "-an", "gro-up")
            made = stack.enter_context(attached(path))
            above = "/dev/mapper/above"
            if partition:
                above = stack.enter_context(Device(f"0 100000 linear {number_of(above)} 2048", name="above1")).path
            past = run("vgchange", "-ay", "gro-up", ok=False)
            if partition:
                assert "busy" in past.stderr, "LVM does not need the advice"
            else:
                assert table(VOLUME).split()[3] == number_of(below), "LVM does not need the advice"
            run("vgchange", "-an", "gro-up")
            assert f"would use this device instead of {above}" in made.stderr
            shell(advised(made.stderr))
            run("vgchange", "-ay", "gro-up")
            assert table(VOLUME).split()[3] == number_of(above)
            run("vgchange", "-an", "gro-up")


def test_attach_says_nothing_of_lvm_where_it_is_not(disk):
    with attached(disk.path) as made:
        assert "LVM" not in made.stdout + made.stderr


# A removed drive

ADD_HOST = Path("/sys/bus/pseudo/drivers/scsi_debug/add_host")


def disks():
    return {path.name: (path / "dev").read_text().strip() for path in Path("/sys/block").glob("sd*")}


@pytest.mark.parametrize("mode", ["report", "coalesce"])
def test_a_drive_that_is_gone_is_told_at_once(rig, mode):
    with rig.scsi_debug(physblk_exp=3) as path:
        number = number_of(path)
        with attached(path, "--mode", mode):
            listed = json.loads(alignctl("list", "--json").stdout)["devices"]
            assert [target["device_gone"] for target in listed[0]["targets"]] == [False]
            (Path("/sys/block") / Path(path).name / "device/delete").write_text("1")
            # a device without writes
            listed = json.loads(alignctl("list", "--json").stdout)["devices"]
            assert [target["device_gone"] for target in listed[0]["targets"]] == [True]
            assert alignctl("list").stdout.splitlines()[1].split()[-1] == "gone"
            said = alignctl("stats", "above", status=FINDINGS)
            assert f"above: the device below, {number}, is gone" in said.stderr and "gone: " in said.stdout
            stats = json.loads(alignctl("stats", "--json", status=FINDINGS).stdout)["devices"]
            assert [target["device_gone"] for target in stats[0]["targets"]] == [True]


def test_no_other_disk_gets_the_number_of_one_that_is_gone_while_it_is_open(rig):
    """The assumption behind recognizing a removed drive: the kernel reuses device numbers."""
    with rig.scsi_debug(physblk_exp=3) as path:
        number = number_of(path)
        with attached(path):
            (Path("/sys/block") / Path(path).name / "device/delete").write_text("1")
            for count in range(1, 4):
                ADD_HOST.write_text("1")
                eventually(lambda count=count: len(disks()) == count, "no other disk comes")
                assert number not in disks().values()
                assert alignctl("list").stdout.splitlines()[1].split()[-1] == "gone"
        ADD_HOST.write_text("1")
        eventually(lambda: number in disks().values(), "the number is not given again")
