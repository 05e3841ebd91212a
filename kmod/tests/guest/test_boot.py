# SPDX-License-Identifier: GPL-2.0
"""alignctl attach --persist, --all and --tab on real devices. A guest has no udev: its work is tested in images."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from lab.paths import OUT
from rig.direct import Disk, check, pattern
from rig.dm import Align, number_of, queue, run
from rig.filesystem import mounted
from rig.memdisk import memory_disk

ALIGNCTL = OUT / "bin" / "alignctl"
FINE, FINDINGS, USAGE, IO, BUSY = range(5)
TAB = Path("/etc/aligntab")
# One partition of 16 sectors at sector 8.
PARTITION_TABLE = bytes(446) + bytes([0, 0, 2, 0, 0x83, 0, 3, 0, 8, 0, 0, 0, 16, 0, 0, 0]) + bytes(48) + b"\x55\xaa"


def alignctl(*arguments, status=FINE):
    done = run(ALIGNCTL, *arguments, ok=False)
    assert done.returncode == status, f"alignctl {arguments}: exit status {done.returncode}: {done.stdout}{done.stderr}"
    return done


def attached():
    """{name: (device below, mode)} of all align devices."""
    return {device["name"]: (target["device"], target["mode"])
            for device in json.loads(alignctl("list", "--json").stdout)["devices"] for target in device["targets"]}


@pytest.fixture
def ram(rig):
    with rig.brd() as path:
        yield path


@pytest.fixture
def tab(ram):
    """The guest's own /etc/aligntab, which is missing at first; no device is left on the RAM disk."""
    TAB.unlink(missing_ok=True)
    yield TAB
    for name in attached():
        run(ALIGNCTL, "detach", name, "--force", ok=False)
    TAB.unlink(missing_ok=True)


def test_a_persistent_device_comes_back_and_goes_for_good(ram, tab):
    name = ram.rpartition("/")[2]
    said = alignctl("attach", ram, "--name", "kept", "--persist", "--mode", "pad", "--physical", "8K", "--offset", 0)
    assert "kept: added to /etc/aligntab" in said.stdout
    assert "may name another device after a reboot" in said.stderr, "without udev there is only the path"
    assert tab.read_text().splitlines()[1:] == [f"kept {ram} mode=pad,physical=8K,offset=0,claimed=4096+0"]
    alignctl("detach", "kept")
    alignctl("attach", "--all")
    assert attached() == {"kept": (name, "pad")}
    assert "kept: attached already" in alignctl("attach", "--all").stdout
    said = alignctl("detach", "kept", "--persist").stdout
    assert "kept: detached\n" in said and "kept: removed from /etc/aligntab" in said
    assert attached() == {} and len(tab.read_text().splitlines()) == 1
    alignctl("attach", "--all")
    assert attached() == {}


def test_a_device_that_is_attached_gets_its_line_only(ram, tab):
    tab.write_text("# mine\nwrong\n")
    alignctl("attach", ram, "--name", "kept")
    with Disk("/dev/mapper/kept"):
        alignctl("attach", ram, "--name", "kept", "--persist")
        again = alignctl("attach", ram, "--name", "kept", "--persist")
    assert "has its line in" in again.stdout
    assert tab.read_text() == f"# mine\nwrong\nkept {ram} claimed=4096+0\n"


def test_the_line_of_an_attached_device_has_the_settings_of_the_device(ram, tab):
    alignctl("attach", ram, "--name", "kept", "--physical", "8K", "--offset", 0, "--mode", "coalesce")
    alignctl("set", "kept", "--mode", "pad")
    alignctl("attach", ram, "--name", "kept", "--persist", "--hold-ms", 200)
    assert tab.read_text().splitlines()[1:] == [f"kept {ram} mode=pad,physical=8192,offset=0,hold-ms=200,claimed=4096+0"]
    refused = alignctl("attach", ram, "--name", "kept", "--persist", "--mode", "report", status=USAGE).stderr
    assert "line 2 of /etc/aligntab has mode=pad and not report; change it there" in refused
    refused = alignctl("attach", ram, "--name", "kept", "--persist", "--write-cache", "on", status=USAGE).stderr
    assert "has write-cache by default and not on" in refused


def test_a_device_that_is_not_as_its_line_says_is_told(ram, tab):
    alignctl("attach", ram, "--name", "kept", "--mode", "pad", "--persist")
    assert alignctl("attach", "--tab", "kept").stderr == ""
    alignctl("set", "kept", "--mode", "report")
    assert "is in mode report, but its line says pad" in alignctl("attach", "--tab", "kept").stderr
    tab.write_text(f"kept {ram} physical=16K\n")
    assert "has physical blocks of 4096 bytes, but its line says 16384" in alignctl("attach", "--tab", "kept").stderr


def test_smaller_logical_blocks_are_there_again(tab):
    with memory_disk(16, blocksize=4096) as disk:
        said = alignctl("attach", disk.path, "--name", "kept", "--persist", "--logical", 512).stdout
        assert "mode pad, as --logical needs" in said and "mode pad, logical block 512 bytes (below: 4096), physical" in said
        assert tab.read_text().splitlines()[1:] == [f"kept {disk.path} logical=512,claimed=4096+0"]
        alignctl("detach", "kept")
        alignctl("attach", "--all")
        assert queue("/dev/mapper/kept", "logical_block_size") == "512"
        assert attached() == {"kept": (disk.path.rpartition("/")[2], "pad")}
        assert alignctl("attach", "--tab", "kept").stderr == ""
        alignctl("detach", "kept")
        alignctl("attach", disk.path, "--name", "kept", "--mode", "pad")
        assert "has logical blocks of 4096 bytes, but its line says 512" in alignctl("attach", "--tab", "kept").stderr
        alignctl("detach", "kept", "--persist")
        alignctl("attach", disk.path, "--name", "kept", "--logical", 512)
        alignctl("attach", disk.path, "--name", "kept", "--persist")
        assert tab.read_text().splitlines()[1:] == [f"kept {disk.path} mode=pad,logical=512,claimed=4096+0"]
        alignctl("detach", "kept")


def test_the_initramfs_finds_a_root_that_was_made_for_smaller_blocks(rig, tab):
    """On a partition of the device; a program of this root runs and writes there, as after a boot."""
    with memory_disk(32) as origin, rig.scsi_debug(megabytes=32, sector_size=4096) as disk:
        run("sh", "-c", f"echo 'start=2049, type=L' | sfdisk --quiet --label gpt {origin.path}")
        run("mkfs.ext4", "-q", f"{origin.path}p1")
        with mounted("ext4", f"{origin.path}p1") as root:
            shutil.copy("/bin/busybox", root / "busybox")
        run("dd", f"if={origin.path}", f"of={disk}", "bs=1M", "oflag=direct", "status=none")
        tab.write_text(f"root {disk} mode=coalesce,logical=512,x-initrd.attach\n")
        assert alignctl("boot", "initramfs").stderr == "" and attached() == {"root": (disk.rpartition("/")[2], "coalesce")}
        with mounted("ext4", "/dev/mapper/root1") as root:
            assert run("chroot", root, "/busybox", "sh", "-c", "echo started >/written; /busybox cat /written").stdout == \
                "started\n"
        device = Align(disk, name="root")
        device.message("flush")
        ledger = device.balanced()
        assert ledger["rmw_drive"] == ledger["rmw_lost"] == 0 < ledger["rmw_host"], ledger
        assert alignctl("boot", "stop", "root").stderr == "" and attached() == {}
        run("dd", f"if={disk}", f"of={origin.path}", "bs=1M", "oflag=direct", "status=none")
        with mounted("ext4", f"{origin.path}p1") as root:
            assert (root / "written").read_text() == "started\n"


def test_a_device_that_says_other_blocks_than_its_line_keeps_is_told(ram, tab):
    """By the bring-up and by check, for any block size of the align device; a line without a claim gets no warning."""
    for options in ("claimed=512+0", "physical=512,offset=0,claimed=512+0", "claimed=4096+512", "claimed=4096"):
        tab.write_text(f"kept {ram} {options}\n")
        claimed = options.rpartition(",")[2]
        said = alignctl("attach", "--tab", "kept").stderr
        assert f"line 1 of /etc/aligntab was written, claimed=4096+0 and not {claimed};" in said
        # a device that the initramfs has brought up
        assert f"claimed=4096+0 and not {claimed};" in alignctl("attach", "--tab", "kept").stderr
        assert "note: " in (said := alignctl("check", ram).stdout) and "when line 1 of /etc/aligntab was written" in said
        alignctl("detach", "kept")
    for options in ("", "claimed=4096+0"):
        tab.write_text(f"kept {ram} {options}\n")
        assert alignctl("attach", "--tab", "kept").stderr == ""
        assert "aligntab" not in alignctl("check", ram).stdout
        alignctl("detach", "kept")


def test_the_path_above_a_device_is_that_of_its_align_device(ram, tab):
    assert alignctl("boot", "above", ram).stdout == ""
    alignctl("attach", ram, "--name", "my disk")
    assert alignctl("boot", "above", ram).stdout == "/dev/mapper/my\\x20disk\n"
    assert Path("/dev/mapper/my\\x20disk").exists()
    assert "is no block device" in alignctl("boot", "above", "/dev/null", status=USAGE).stderr


def test_a_line_that_means_another_device_stays(rig, ram, tab):
    other = rig.drive("p4096").path
    alignctl("attach", other, "--name", "kept")
    tab.write_text(f"kept {ram}\n")
    refused = alignctl("detach", "kept", "--persist", status=BUSY)
    assert f"kept: line 1 of /etc/aligntab stays, because it means {ram}" in refused.stderr
    assert "kept: detached" in refused.stdout and tab.read_text() == f"kept {ram}\n"


def test_what_cannot_be_kept_is_not_attached(rig, ram, tab):
    other = rig.drive("p4096").path
    tab.write_text(f"taken {ram}\n")
    refused = alignctl("attach", other, "--name", "taken", "--persist", status=BUSY).stderr
    assert f"taken: line 1 of /etc/aligntab gives this name to {ram}" in refused
    refused = alignctl("attach", ram, "--name", "new", "--persist", status=BUSY).stderr
    assert "attaches it as taken already" in refused
    assert attached() == {} and tab.read_text() == f"taken {ram}\n"
    # the kernel refuses the table: the line is taken back, and a file that was made for it
    for text in (f"taken {ram}\n", f"taken {ram}", None):
        if text is None:
            tab.unlink()
        else:
            tab.write_text(text)
        alignctl("attach", other, "--name", "new", "--persist", "--mode", "coalesce", "--max-blocks", 10**9, status=USAGE)
        assert attached() == {} and (tab.read_text() if tab.exists() else None) == text


def test_a_signal_ends_attach_with_the_line_and_its_device_or_with_neither(ram, tab, tmp_path):
    """The signal comes between the two: while alignctl waits for udev, after the line is written."""
    settle = tmp_path / "udevadm"
    settle.write_text("#!/bin/sh\nkill -TERM $PPID\n")
    settle.chmod(0o755)
    run("mount", "--bind", tmp_path, "/usr/local/sbin")
    try:
        alignctl("attach", ram, "--name", "kept", "--persist", status=-signal.SIGTERM)
    finally:
        run("umount", "/usr/local/sbin")
    assert list(attached()) == ["kept"] and tab.read_text().splitlines()[1:] == [f"kept {ram} claimed=4096+0"]


def test_a_disk_that_comes_back_is_told_that_its_device_has_lost_it(rig, ram, tab):
    tab.write_text("kept UUID=1\n")
    major, minor = number_of(ram).split(":")
    with rig.scsi_debug(physblk_exp=3) as path:
        alignctl("attach", path, "--name", "kept")
        (Path("/sys/block") / Path(path).name / "device/delete").write_text("1")
        environment = {**os.environ, "DEVNAME": ram, "MAJOR": major, "MINOR": minor, "ID_FS_UUID_ENC": "1"}
        answer = subprocess.run([ALIGNCTL, "boot", "lower"], env=environment, text=True, capture_output=True, check=True).stdout
        assert "ALIGN_LOWER=kept\n" in answer and "ALIGN_UNIT" not in answer
        assert f"kept: {ram} is here, but the align device has lost its device UUID=1; run: alignctl detach kept" in \
            run("dmesg").stdout
        alignctl("detach", "kept")


def test_a_line_of_a_device_that_is_gone_can_be_removed(tab):
    tab.write_text("gone /dev/none\nother /dev/none2\n")
    assert "gone: removed from" in alignctl("detach", "gone", "--persist").stdout
    assert tab.read_text() == "other /dev/none2\n"


def test_all_names_what_is_missing_and_attaches_the_rest(ram, tab):
    tab.write_text(f"gone /dev/none\nwrong\nlate {ram} noauto\nlast {ram}\n")
    said = alignctl("attach", "--all", status=IO).stderr
    assert "gone: there is no device /dev/none" in said and "aligntab:2: wrong: needs a name and a device" in said
    assert "aligntab:4" in said and attached() == {}, "one line for each device"
    tab.write_text(f"gone /dev/none nofail\nlast {ram} mode=pad\n")
    assert "gone: there is no device /dev/none" in alignctl("attach", "--all").stderr
    assert attached() == {"last": (ram.rpartition("/")[2], "pad")}


def test_a_line_waits_for_its_device(ram, tab):
    link = Path("/dev/late")
    tab.write_text(f"late {link} timeout=60\nnever /dev/never timeout=1\n")
    began = time.monotonic()
    assert "never: device /dev/never did not appear within 1 s" in alignctl("attach", "--tab", "never", status=IO).stderr
    assert time.monotonic() - began >= 1
    with subprocess.Popen([ALIGNCTL, "attach", "--tab", "late"]) as waiting:
        time.sleep(1)
        assert waiting.poll() is None and attached() == {}
        link.symlink_to(ram)
        assert waiting.wait(60) == FINE
    link.unlink()
    assert list(attached()) == ["late"]


def test_a_name_that_is_another_device_is_refused(rig, ram, tab):
    other = rig.drive("p4096").path
    alignctl("attach", ram, "--name", "mine")
    tab.write_text(f"mine {other}\n")
    refused = alignctl("attach", "--tab", "mine", status=BUSY).stderr
    assert f"mine: lies on {number_of(ram)}, but {other} means {other} now" in refused


def test_partitions_come_and_go_with_the_device(ram, tab):
    with open(ram, "r+b", buffering=0) as disk:
        disk.write(PARTITION_TABLE)
    tab.write_text(f"disk {ram}\n")
    alignctl("attach", "--tab", "disk")
    alignctl("attach", "--tab", "disk")
    with Disk("/dev/mapper/disk1") as partition:
        partition.write(0, pattern(1, 0, 8))
        assert "open" in alignctl("detach", "disk", status=BUSY).stderr
    alignctl("detach", "disk")
    with Disk(ram) as lower:
        check(8, pattern(1, 0, 8), lower.read(8, 8), "through the partition")
    assert not Path("/dev/mapper/disk1").exists()


def test_the_stop_of_a_unit_writes_what_is_held_and_leaves_what_is_open(rig, tab):
    drive = rig.drive("p4096")
    tab.write_text(f"held {drive.path} mode=coalesce,hold-ms=60000\n")
    alignctl("attach", "--all")
    with Disk(drive.path) as lower:
        with Disk("/dev/mapper/held") as upper:
            upper.write(81, pattern(1, 81, 2))
            assert "held: still open" in alignctl("boot", "stop", "held").stdout
            check(81, pattern(1, 81, 2), lower.read(81, 2), "after the stop")
        assert alignctl("boot", "stop", "held").stderr == ""
    assert attached() == {}
    alignctl("boot", "stop", "held")


def test_the_initramfs_attaches_what_is_there_without_a_word(ram, tab):
    tab.write_text(f"gone /dev/none\nlate {ram} noauto\n")
    assert alignctl("boot", "initramfs").stderr == "" and attached() == {}
    tab.write_text(f"gone /dev/none\nroot {ram}\n")
    assert alignctl("boot", "initramfs").stderr == "" and list(attached()) == ["root"]
