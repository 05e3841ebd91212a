# SPDX-License-Identifier: GPL-2.0
"""
Commands that check prints and that need device-mapper, the module or a kernel's queue, run as printed: see
userspace/alignctl/tests/remedy/test_remedies.py.
"""

import contextlib
import json
import mmap
import os
import re
import subprocess
from pathlib import Path

import pytest

from followed import ALIGNCTL, digest, findings, follow, hurry_keys, obey, shell
from lab.pace import patience
from lab.plugins.extent import only_all
from rig.dm import Device, block_name, number_of, queue, run, sectors_of
from rig.memdisk import memory_disk

MIB = 1 << 20
SECTOR = 512
# Content of a partition, a volume or a file system.
SIZE = 4 * MIB
PHRASE = "a pass phrase"
WRITES = 200
KEPT = Path("/var/lib/alignctl/probed")


def fed(text, *command, **options):
    """Run a command with a text for its standard input, and return its output."""
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, input=text, check=False,
                          timeout=patience(120), **options)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def fill(path, start, size):
    """Write bytes that differ from block to block, and return their hash."""
    with open(path, "r+b") as device:
        device.seek(start)
        for block in range(size // 4096):
            device.write(f"{block};".encode().ljust(16)[:16] * 256)
        device.flush()
        os.fsync(device.fileno())
    return digest(path, start, size)


@contextlib.contextmanager
def mapped(disk, script):
    """Partitions that only kpartx knows; yields its node of the first."""
    fed(script, "sfdisk", "--quiet", "--no-tell-kernel", disk)
    run("kpartx", "-a", "-s", disk)
    try:
        [first, *_] = run("kpartx", "-l", disk).stdout.split()
        yield f"/dev/mapper/{first}"
    finally:
        run("kpartx", "-d", "-s", disk)


@pytest.mark.parametrize("sector, physical", [
    (512, 4096), only_all("alignctl/tests/remedy/test_remedies.py: both sizes, in files", 4096, 16384)])
def test_a_partition_of_the_kernel_is_moved_with_its_content(rig, sector, physical):
    """sfdisk asks the device for its sector, and tells the kernel where the partition is now."""
    with rig.scsi_debug(megabytes=64, sector_size=sector) as disk:
        fed(f"label: gpt\nstart={8 * MIB // sector + 1}, size={SIZE // sector}\n", "sfdisk", "--quiet", disk)
        whole = fill(f"{disk}1", 0, SIZE)
        follow("move-partition", f"{block_name(disk)}1", "partition-start", disk, "--physical", physical)
        assert digest(f"{disk}1", 0, SIZE) == whole


def test_a_partition_of_kpartx_is_moved_with_its_content(rig):
    with rig.scsi_debug(megabytes=64, sector_size=512, physblk_exp=3) as disk, \
            mapped(disk, f"label: gpt\nstart=4097, size={SIZE // SECTOR}\n") as part:
        whole = fill(part, 0, SIZE)
        command = follow("move-mapped-partition", block_name(part), "partition-start", disk)
        assert disk in command
        assert "start=        4104" in run("sfdisk", "--dump", disk).stdout
        assert digest(part, 0, SIZE) == whole == digest(disk, 4104 * SECTOR, SIZE)


def test_a_partition_of_kpartx_that_is_in_use_is_not_moved(rig, tmp_path):
    """Of a loop device without partitions of its own sfdisk does not notice that anything has it open."""
    image = tmp_path / "image"
    with open(image, "wb") as file:
        file.truncate(64 * MIB)
    run("modprobe", "loop")
    disk = run("losetup", "--find", "--show", image).stdout.strip()
    try:
        with mapped(disk, f"label: gpt\nstart=4097, size={SIZE // SECTOR}\n") as part:
            whole = fill(part, 0, SIZE)
            row = findings(disk, "--physical", 4096)[block_name(part), "partition-start"]
            assert row["remedy"]["name"] == "move-mapped-partition"
            with open(part, "rb"):
                done = run("sh", "-c", row["command"], ok=False)
                assert done.returncode, f"{done.stdout}{done.stderr}"
                assert digest(part, 0, SIZE) == whole == digest(disk, 4097 * SECTOR, SIZE)
            assert "start=        4097" in run("sfdisk", "--dump", disk).stdout
    finally:
        run("losetup", "--detach", disk)


def test_the_end_of_a_partition_of_kpartx_is_cut(rig):
    with rig.scsi_debug(megabytes=64, sector_size=512, physblk_exp=3) as disk, \
            mapped(disk, f"label: dos\nstart=2048, size=4093\nstart=8192, size={SIZE // SECTOR}\n") as part:
        whole = fill(disk, 8192 * SECTOR, SIZE)
        follow("shrink-mapped-partition", block_name(part), "partition-end", disk)
        assert int(run("blockdev", "--getsz", part).stdout) == 4088
        assert digest(disk, 8192 * SECTOR, SIZE) == whole


def test_luks_2_that_is_open_gets_larger_sectors(rig, tmp_path, monkeypatch):
    drive, name = rig.drive("p4096").path, "remedy"
    hurry_keys(tmp_path, monkeypatch)
    # All of the device is encrypted anew: 16 MiB of header, and twice the file system.
    with Device(f"0 {(16 * MIB + 2 * SIZE) // SECTOR} linear {drive} 0") as small:
        disk = small.path
        fed(PHRASE, "cryptsetup", "luksFormat", "--batch-mode", "--type", "luks2", "--sector-size", 512, "--pbkdf", "pbkdf2",
            "--pbkdf-force-iterations", 1000, disk, "-")
        fed(PHRASE, "cryptsetup", "open", disk, name, "--key-file", "-")
        try:
            run("mkfs.ext4", "-q", "-b", 4096, f"/dev/mapper/{name}", f"{SIZE // MIB}M")
            whole = digest(f"/dev/mapper/{name}", 0, SIZE)
            follow("luks-sectors", block_name(disk), "luks-sector", disk, answer=PHRASE)
            assert digest(f"/dev/mapper/{name}", 0, SIZE) == whole
        finally:
            run("cryptsetup", "close", name)


def test_extents_of_lvm_are_made_larger(rig, tmp_path, monkeypatch):
    disk = rig.drive("p4096").path
    (tmp_path / "lvm.conf").write_text(
        f'devices {{ filter=["a|^{disk}$|","r|.*|"] use_devicesfile=0 hints=none }} '
        "activation { udev_sync=0 udev_rules=0 monitoring=0 } global { event_activation=0 } backup { backup=0 archive=0 }")
    monkeypatch.setenv("LVM_SYSTEM_DIR", str(tmp_path))
    monkeypatch.setenv("LVM_SUPPRESS_FD_WARNINGS", "1")
    run("pvcreate", "-ff", "-y", "--dataalignment", "1m", "--setphysicalvolumesize", "64m", disk)
    run("vgcreate", "--physicalextentsize", "2k", "remedies", disk)
    try:
        run("lvcreate", "-an", "-Zn", "-Wn", "-L", f"{SIZE // MIB}m", "-n", "volume", "remedies")
        whole = fill(disk, MIB, SIZE)
        follow("lvm-extent", block_name(disk), "extent", disk)
        assert digest(disk, MIB, SIZE) == whole
        assert run("lvs", "--noheadings", "-o", "seg_pe_ranges", "remedies").stdout.strip() == f"{disk}:0-{SIZE // 4096 - 1}"
    finally:
        run("vgremove", "-ff", "-y", "remedies")
        run("pvremove", "-ff", "-y", disk)


@contextlib.contextmanager
def detached_after():
    """Detach the devices that a command has attached."""
    try:
        yield
    finally:
        for device in json.loads(shell("alignctl list --json"))["devices"]:
            shell(f"alignctl detach {device['name']}")


def test_a_drive_that_was_probed_is_attached_with_its_blocks(rig):
    """A note from then on: the device above has these blocks."""
    with rig.scsi_debug(megabytes=64, sector_size=512) as disk, detached_after():
        wwid = Path(f"/sys/block/{block_name(disk)}/device/wwid").read_text().strip()
        file = KEPT / f"{re.sub('[^A-Za-z0-9.]', '_', wwid)}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"format": 1, "device": disk, "wwid": wwid, "size_bytes": 64 * MIB, "block_size": 4096,
                                    "offset": 3584, "method": "timed writes", "confidence": 0.95,
                                    "time": "2026-11-26T10:00:00Z"}))
        try:
            whole = fill(disk, 0, SIZE)
            command = follow("attach-blocks", block_name(disk), "probed", disk)
            assert command == f"alignctl attach {disk} --physical 4096 --offset 3584"
            [device] = json.loads(shell("alignctl list --json"))["devices"]
            assert digest(f"/dev/mapper/{device['name']}", 0, SIZE) == whole == digest(disk, 0, SIZE)
        finally:
            file.unlink()


def test_an_ssd_is_attached_with_its_unit(rig):
    with rig.scsi_debug(megabytes=64, sector_size=512, opt_xferlen_exp=5) as disk, detached_after():
        assert queue(disk, "minimum_io_size") == "16384" and queue(disk, "rotational") == "0"
        whole = fill(disk, 0, SIZE)
        follow("attach-unit", block_name(disk), "large-unit", disk)
        [device] = json.loads(shell("alignctl list --json"))["devices"]
        assert digest(f"/dev/mapper/{device['name']}", 0, SIZE) == whole == digest(disk, 0, SIZE)


def small_ext4(path, folder):
    """Make a file system with blocks of 1024 bytes, and a file in it, in a file."""
    folder.mkdir()
    (folder / "old").write_bytes(bytes(range(256)) * 400)
    with open(path, "wb") as file:
        file.truncate(SIZE)
    run("mkfs.ext4", "-q", "-F", "-b", 1024, "-d", folder, path)
    return path


def put(image, device, start):
    """Write an image to a device, from the byte @start on."""
    with open(device, "r+b") as file:
        file.seek(start)
        file.write(image.read_bytes())
        file.flush()
        os.fsync(file.fileno())


def use(node, folder):
    """Mount the file system of small_ext4(), read its file, and write another one in parts of a sector of 4096 bytes."""
    run("mount", node, folder)
    try:
        assert (folder / "old").read_bytes() == bytes(range(256)) * 400
        (folder / "new").write_bytes(b"n" * 5000)
        assert (folder / "new").read_bytes() == b"n" * 5000
    finally:
        run("umount", folder)
    run("e2fsck", "-fn", node)


@pytest.mark.parametrize("finding", ["table-sector", "fs-block"])
def test_what_was_made_for_sectors_of_512_bytes_is_used_on_a_drive_of_4096(rig, tmp_path, finding):
    ext4, place = small_ext4(tmp_path / "ext4", tmp_path / "files"), tmp_path / "mounted"
    place.mkdir()
    with rig.scsi_debug(megabytes=32, sector_size=4096) as disk, detached_after():
        if finding == "table-sector":
            image = tmp_path / "image"
            with open(image, "wb") as file:
                file.truncate(32 * MIB)
            fed(f"label: gpt\nstart=2049, size={SIZE // SECTOR}\n", "sfdisk", "--quiet", image)
            put(ext4, image, 2049 * SECTOR)
            put(image, disk, 0)
        else:
            put(ext4, disk, 0)
        command = follow("attach-logical", block_name(disk), finding, disk)
        assert command == f"alignctl attach {disk} --logical 512"
        [device] = json.loads(shell("alignctl list --json"))["devices"]
        assert device["targets"][0]["logical_block_size"] == 512 and device["targets"][0]["mode"] == "pad"
        node = f"/dev/mapper/{device['name']}"
        assert queue(node, "logical_block_size") == "512"
        if finding == "table-sector":
            run("kpartx", "-a", "-s", node)
            node = f"/dev/mapper/{run('kpartx', '-l', node).stdout.split()[0]}"
        use(node, place)


def recorded(path, largest):
    """A recording of writes of 1 MiB that the kernel cuts at its largest request."""
    rows = []
    for write in range(WRITES):
        at, end = write * MIB, (write + 1) * MIB
        while at < end:
            rows.append(f"write,{at},{min(largest, end - at)}")
            at += min(largest, end - at)
    path.write_text("\n".join(["op,offset,bytes", *rows, ""]))
    return path


def test_the_largest_request_becomes_whole_blocks(rig, tmp_path):
    disk = rig.drive("p4096").path
    before = queue(disk, "max_sectors_kb")
    file = f"/sys/block/{block_name(disk)}/queue/max_sectors_kb"
    shell(f"echo 127 > {file}")
    try:
        follow("largest-request", block_name(disk), "cause", disk, "--recording", recorded(tmp_path / "cut", 127 << 10),
               again=[disk, "--recording", recorded(tmp_path / "whole", 124 << 10)])
        assert queue(disk, "max_sectors_kb") == "124"
    finally:
        shell(f"echo {before} > {file}")


# ---- commands of messages ----

NAME = "it's held"


def said(*arguments):
    """The output of alignctl, however it ends."""
    done = run(ALIGNCTL, *arguments, ok=False)
    return f"{done.stdout}{done.stderr}"


def aligned():
    """The kernel's names of all align devices."""
    return [folder.parent.name for folder in Path("/sys/block").glob("dm-*/align")]


@contextlib.contextmanager
def attached(below, *options, name=NAME):
    """An align device, whose name a shell would take apart; yields the output of attach, and its node."""
    message = said("attach", below, "--name", name, *options)
    [made] = aligned()
    try:
        yield message, f"/dev/{made}"
    finally:
        run(ALIGNCTL, "detach", name, "--force", ok=False)


def test_partitions_of_a_device_are_mapped_as_attach_says(rig):
    with rig.brd() as ram:
        fed("label: dos\nstart=2048, size=16384\n", "sfdisk", "--quiet", "--no-tell-kernel", ram)
        whole = fill(ram, MIB, 8 * MIB)
        with attached(ram) as (message, node):
            obey("map-partitions", message)
            try:
                [part] = [folder.name for folder in Path("/sys/class/block", block_name(node), "holders").iterdir()]
                assert digest(f"/dev/{part}", 0, 8 * MIB) == whole
            finally:
                run("kpartx", "-d", node, ok=False)


def test_a_device_in_another_mode_than_its_line_is_set(rig):
    tab = Path("/etc/aligntab")
    with rig.brd() as ram, attached(ram, "--mode", "pad", name="kept") as (_, node):
        whole = fill(ram, 0, MIB)
        tab.write_text(f"kept {ram}\n")
        try:
            obey("set-mode", said("attach", "--tab", "kept"))
            assert "is in mode" not in said("attach", "--tab", "kept")
        finally:
            tab.unlink()
        assert digest(node, 0, MIB) == whole


def test_a_device_that_cannot_hold_is_detached_as_set_says(rig):
    with rig.brd() as ram, attached(ram):
        whole = fill(ram, 0, MIB)
        obey("detach", said("set", NAME, "--mode", "coalesce"))
        assert not aligned()
        assert digest(ram, 0, MIB) == whole


def test_writes_that_cannot_be_written_are_dropped_as_the_message_says(rig):
    with memory_disk() as disk, attached(disk.path, "--mode", "coalesce", "--physical", 4096, "--offset", 0, "--write-cache",
                                         "on", "--hold-ms", 60000) as (_, node):
        disk.bad(0, 8)
        fd = os.open(node, os.O_WRONLY | os.O_DIRECT)
        try:
            with mmap.mmap(-1, 4096) as sector:
                os.pwrite(fd, memoryview(sector)[:512], 0)
            with contextlib.suppress(OSError):
                os.fsync(fd)
        finally:
            os.close(fd)
        message = said("set", NAME, "--flush")
        assert "degraded" in message
        obey("drop-failed", message)
        disk.heal()
        assert "degraded" not in said("set", NAME, "--flush")


def test_a_device_whose_disk_is_gone_is_detached_as_the_message_says(rig):
    with rig.scsi_debug(megabytes=16, sector_size=512, physblk_exp=3) as disk, \
            attached(disk, "--mode", "pad"):
        (Path("/sys/block") / Path(disk).name / "device/delete").write_text("1")
        obey("detach-gone", said("stats", NAME))
        assert not aligned()


def test_a_disk_that_comes_back_is_attached_as_the_kernel_log_says(rig):
    tab = Path("/etc/aligntab")
    with rig.brd() as ram, rig.scsi_debug(megabytes=16, sector_size=512, physblk_exp=3) as disk:
        whole = fill(ram, 0, MIB)
        tab.write_text("back UUID=1\n")
        try:
            with attached(disk, name="back"):
                (Path("/sys/block") / Path(disk).name / "device/delete").write_text("1")
                major, minor = number_of(ram).split(":")
                run("env", f"DEVNAME={ram}", f"MAJOR={major}", f"MINOR={minor}", "ID_FS_UUID_ENC=1", ALIGNCTL, "boot", "lower")
                message = [line for line in run("dmesg").stdout.splitlines() if "has lost its device" in line][-1]
                tab.write_text(f"back {ram}\n")
                shell(message.partition("; run: ")[2].partition(" && ")[0])
                obey("attach-tab", message)
                [made] = aligned()
                assert digest(f"/dev/{made}", 0, MIB) == whole
        finally:
            tab.unlink()


def test_a_table_that_was_left_and_a_suspended_device_are_put_right(rig):
    with rig.brd() as ram, Device(f"0 {sectors_of(ram)} linear {ram} 0") as linear:
        whole = fill(ram, 0, MIB)
        linear.load(f"0 {sectors_of(ram)} linear {ram} 0")
        obey("dm-clear", said("attach", "--online", linear.path))
        linear.suspend()
        obey("dm-resume", said("attach", "--online", linear.path))
        assert digest(linear.path, 0, MIB) == whole


def test_a_linear_device_in_use_becomes_align_as_verify_says(rig):
    with rig.brd() as ram, Device(f"0 {sectors_of(ram)} linear {ram} 0") as linear:
        whole = fill(ram, 0, MIB)
        with open(linear.path, "rb"):
            obey("attach-online", said("verify", "--live", linear.path))
        assert " align " in linear.table()
        assert digest(linear.path, 0, MIB) == whole


def test_align_is_put_below_a_device_that_is_not_linear(rig):
    with rig.brd() as ram:
        whole = fill(ram, 0, MIB)
        with Device(f"0 {sectors_of(ram)} striped 1 8 {ram} 0") as striped:
            message = said("attach", "--online", striped.path)
        with detached_after():
            obey("attach", message)
            [made] = aligned()
            assert digest(f"/dev/{made}", 0, MIB) == whole


def test_the_programs_that_have_a_device_open_are_named(rig):
    with rig.brd() as ram, attached(ram, name="kept"), open("/dev/mapper/kept", "rb"):
        done = obey("find-users", said("detach", "kept"))
        assert str(os.getpid()) in done


def test_tracefs_is_mounted_as_record_says(rig, tmp_path):
    """The folder that everything below may also have it in is hidden."""
    with rig.brd() as ram:
        tracing, debug = Path("/sys/kernel/tracing"), Path("/sys/kernel/debug")
        for place in (debug / "tracing", debug, tracing):
            run("umount", place, ok=False)
        message = said("record", ram, "--seconds", 1, "--output", tmp_path / "trace")
        obey("mount-tracefs", message)
        assert (tracing / "instances").is_dir()
