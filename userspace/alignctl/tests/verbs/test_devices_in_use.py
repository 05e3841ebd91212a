# SPDX-License-Identifier: GPL-2.0
"""A device in use, or one with data, is refused."""

import fcntl
import json
import os
import re
import shlex
import subprocess

import pytest

from alignctl_program import LOOP_CTL_ADD, LOOP_CTL_REMOVE, alignctl
from lab.pace import patience

FINE, FINDINGS, USAGE, IO, BUSY = range(5)


def test_a_file_with_data_is_refused_unless_forced(disk):
    with open(disk, "r+b") as file:
        file.seek(5000)
        file.write(b"thesis")
    command = ["replay", "w512", "--on", disk, "--count", 2]
    refused = alignctl(*command)
    assert refused.returncode == BUSY
    assert f"{disk}: holds data in the sector at byte 4608" in refused.stderr
    assert f"--force {disk}" in refused.stderr
    other = disk.with_name("other")
    other.write_bytes(b"")
    mistaken = alignctl(*command, "--force", other)
    assert mistaken.returncode == USAGE and str(other) in mistaken.stderr and str(disk) in mistaken.stderr
    assert b"thesis" in disk.read_bytes()

    link = disk.with_name("link")
    link.symlink_to(disk)
    forced = alignctl(*command, "--force", link)
    assert forced.returncode == FINE
    assert "going on, as --force says" in forced.stderr
    # and what an earlier replay left is no reason to refuse
    assert alignctl(*command).returncode == FINE


@pytest.mark.parametrize("workload, reaches", [("areasync", 4608), ("areasync-512", 1024), ("w512", 4096 + 1024)])
def test_data_that_prepare_would_write_over_is_seen_to_the_last_sector(disk, tmp_path, workload, reaches):
    """Around the writes lie whole pages, if these go through the page cache, and a block more."""
    start = 2 << 20
    command = ["replay", workload, "--start", start, "--count", 2, "--physical", 512, "--phase", "prepare", "--on", disk,
               "--state", tmp_path / "state", *(["--areas", 1] if workload.startswith("areasync") else [])]
    content = bytearray(disk.stat().st_size)
    content[start + reaches - 1] = 1
    disk.write_bytes(content)
    refused = alignctl(*command)
    assert refused.returncode == BUSY and f"holds data in the sector at byte {start + reaches - 512}\n" in refused.stderr
    assert disk.read_bytes() == content
    assert alignctl(*command, "--force", disk).returncode == FINE
    # and no further than that
    assert disk.read_bytes()[start + reaches - 512:].startswith(b"alignctl")
    assert not any(disk.read_bytes()[start + reaches:])


def test_a_device_in_use_is_refused_by_replay_and_attach(loop, disk, tmp_path):
    replay = ["replay", "w512", "--on", loop, "--count", 2]
    assert alignctl(*replay).returncode == FINE
    on_file = alignctl("replay", "w512", "--on", disk, "--count", 2)
    assert on_file.returncode == BUSY and f"is the backing file of {loop.name}" in on_file.stderr

    subprocess.run(["mkfs.ext4", "-q", "-F", loop], timeout=patience(60), check=True)
    signed = alignctl(*replay)
    assert signed.returncode == BUSY and "carries the signature of ext4" in signed.stderr

    where = tmp_path / "mnt"
    where.mkdir()
    if subprocess.run(["mount", loop, where], timeout=patience(60), check=False).returncode:
        pytest.skip("ext4 cannot be mounted here")
    try:
        for command in (replay, ["attach", loop]):
            refused = alignctl(*command)
            assert refused.returncode == BUSY
            assert f"{loop.name} is mounted on {where}" in refused.stderr
    finally:
        subprocess.run(["umount", where], timeout=patience(60), check=True)


def test_a_mount_that_only_another_process_sees_is_named(loop, tmp_path):
    subprocess.run(["mkfs.ext4", "-q", "-F", loop], timeout=patience(60), check=True)
    where = tmp_path / "mnt"
    where.mkdir()
    # It says that it has mounted, and goes on until its input ends.
    other = subprocess.Popen(["unshare", "-m", "--propagation", "private", "sh", "-c", f"mount {loop} {where} && echo up && cat"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if other.stdout.readline() != "up\n":
            pytest.skip("cannot mount in a mount namespace of its own")
        refused = alignctl("replay", "w512", "--on", loop, "--count", 2)
        assert refused.returncode == BUSY
        assert re.search(rf"{loop.name} is mounted on {where} for process \d+ \(", refused.stderr)
    finally:
        other.stdin.close()
        other.wait(patience(20))


def test_a_device_that_a_program_holds_is_refused(loop):
    held = os.open(loop, os.O_RDWR | os.O_EXCL)
    try:
        for command in (["replay", "w512", "--on", loop, "--count", 2], ["attach", loop]):
            refused = alignctl(*command)
            assert refused.returncode == BUSY and f"{loop}: in use" in refused.stderr
    finally:
        os.close(held)


def test_a_device_that_a_program_writes_to_is_no_place_to_save_and_restore(loop, tmp_path):
    """A virtual machine does not hold its disk exclusively, and what it wrote meanwhile would be undone."""
    saved = tmp_path / "saved"
    command = ["conform", loop, "--rounds", 20, "--save", saved]
    written = os.open(loop, os.O_RDWR)
    try:
        refused = alignctl(*command)
        assert refused.returncode == BUSY and f"process {os.getpid()} (" in refused.stderr, refused.stderr
        assert "has it open for writing" in refused.stderr and not saved.exists()
        assert alignctl(*command, "--force", loop).returncode == FINE
    finally:
        os.close(written)
    read = os.open(loop, os.O_RDONLY)
    try:
        assert alignctl(*command).returncode == FINE
    finally:
        os.close(read)


def test_nor_is_a_file_that_a_program_writes_to(disk, tmp_path):
    """As the image of a virtual machine that runs, which no exclusive open guards."""
    saved = tmp_path / "saved"
    command = ["conform", disk, "--rounds", 20, "--save", saved]
    with open(disk, "r+b"):
        refused = alignctl(*command)
        assert refused.returncode == BUSY and f"process {os.getpid()} (" in refused.stderr, refused.stderr
        assert "has it open for writing" in refused.stderr and not saved.exists()
        assert alignctl(*command, "--force", disk).returncode == FINE
    with open(disk, "rb"):
        assert alignctl(*command).returncode == FINE


def test_the_option_that_a_refusal_proposes_can_be_pasted(tmp_path):
    disk = tmp_path / "my 'disk'.img"
    disk.write_bytes(b"thesis" * 100000)
    refused = alignctl("conform", disk, "--time", 1)
    assert refused.returncode == BUSY
    [option] = re.findall(r"--force (.*) if nothing on it matters", refused.stderr)
    assert shlex.split(option) == [str(disk)]


@pytest.fixture
def empty():
    """A block device of no size: a loop device without a file, of a number that no other test takes."""
    number = 1000 + os.getpid()
    control = os.open("/dev/loop-control", os.O_RDWR) if os.path.exists("/dev/loop-control") and not os.geteuid() else -1
    if control < 0:
        pytest.skip("loop devices need root and /dev/loop-control")
    try:
        fcntl.ioctl(control, LOOP_CTL_ADD, number)
        yield f"/dev/loop{number}"
        fcntl.ioctl(control, LOOP_CTL_REMOVE, number)
    finally:
        os.close(control)


@pytest.mark.parametrize("arguments", [
    ["attach"], ["conform"], ["probe", "block-size"], ["plan", "w512", "--on"], ["replay", "w512", "--on"],
    ["verify", "w512", "--on"], ["record", "--output", "recording"], ["top", "--once"]])
def test_a_drive_without_a_medium_is_named_as_such(empty, tmp_path, arguments):
    """And not by what does not fit into 0 bytes, such as a trace that probe has made."""
    refused = alignctl(*arguments, empty, cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (IO, "")
    assert f"alignctl: {empty}: has no size; is a medium in the drive?\n" in refused.stderr and "trace.csv" not in refused.stderr


def test_what_lies_below_a_loop_device_is_in_use(loop, tmp_path):
    """O_EXCL opens it, and a file system behind an offset shows no signature at its start."""
    made = subprocess.run(["losetup", "--find", "--show", "--offset", "1M", loop], text=True, capture_output=True, check=True)
    upper = made.stdout.strip()
    try:
        for command in (["attach", loop], ["conform", loop, "--time", 1], ["replay", "w512", "--on", loop, "--count", 2]):
            refused = alignctl(*command, cwd=tmp_path)
            assert refused.returncode == BUSY
            assert f"{loop.name} is the backing device of {os.path.basename(upper)}\n" in refused.stderr
    finally:
        subprocess.run(["losetup", "--detach", upper], check=True)


@pytest.fixture
def btrfs(loop, tmp_path):
    """A loop device with Btrfs, and where a subvolume of it is mounted: files there have numbers of no device."""
    folder = tmp_path / "mounted"
    folder.mkdir()
    subprocess.run(["mkfs.btrfs", "-q", "--mixed", loop], check=True)
    if subprocess.run(["mount", loop, folder], check=False).returncode:
        pytest.skip("this kernel does not mount Btrfs")
    try:
        subprocess.run(["btrfs", "-q", "subvolume", "create", folder / "sub"], check=True)
        yield loop, folder / "sub"
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_file_on_btrfs_is_known_to_be_on_its_disk(btrfs):
    loop, folder = btrfs
    recorded = alignctl("record", loop, "--seconds", 1, "--output", folder / "recording")
    assert f"{folder}/recording: lies on {loop} itself" in recorded.stderr
    refused = alignctl("conform", loop, "--prepare", folder / "state")
    assert refused.returncode == USAGE and f"--prepare {folder}/state: lies on the disk of {loop}" in refused.stderr
    image = folder / "image"
    image.write_bytes(bytes(1 << 20))
    made = subprocess.run(["losetup", "--find", "--show", image], text=True, capture_output=True, check=True).stdout.strip()
    try:
        devices = {row["name"]: row for row in json.loads(alignctl("check", made, "--json").stdout)["devices"]}
    finally:
        subprocess.run(["losetup", "--detach", made], check=True)
    assert devices[os.path.basename(made)]["lies_on"] == [loop.name]
