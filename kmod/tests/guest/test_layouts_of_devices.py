# SPDX-License-Identifier: GPL-2.0
"""
The options that check --layout recommends, run as printed where they need a block device or a mount: see
userspace/alignctl/tests/remedy/test_layouts.py.
"""

import contextlib
import json
import os
import re

import pytest

from followed import ALIGNCTL, findings, shell
from rig.dm import block_name, run
from rig.filesystem import fsck, mounted

SECTOR = 512
MIB = 1 << 20
UNITS = [SECTOR << shift for shift in range(12)]


def layouts(device, *options):
    """{name: its layout} of a device."""
    done = run(ALIGNCTL, "check", device, "--layout", *map(str, options), "--json")
    [row] = json.loads(done.stdout)["devices"]
    return {layout["layout"]: layout for layout in row["layouts"]}


def made(name, device, *options, answer=""):
    """Make a layout on a device by its command, as printed, and return the layout."""
    layout = layouts(device, *options)[name]
    shell(layout["give"], answer=answer)
    return layout


def test_an_array_of_md_has_its_data_at_a_unit(rig):
    """And the array's superblock is written in less, which check has a note about."""
    run("modprobe", "-a", "raid1")
    disk = rig.drive("p4096").path
    # mdadm asks whether the array may be one that nothing boots from
    layout = made("md", disk, "--physical", 4096, answer="y\n")
    try:
        for unit in UNITS:
            other = layouts(disk, "--physical", unit)["md"]
            assert other["give"] == layout["give"]
            found = findings(disk, "--physical", unit)
            # md-logical: which kernels assemble it, with any layout
            assert {name for device, name in found if device == block_name(disk)} - {"md-logical"} == (
                {"md-superblock"} if other["left"] else set())
            assert all(row["note"] for row in found.values()) and bool(other["left"]) == (unit > SECTOR)
    finally:
        run("mdadm", "--stop", "/dev/md/new")
        run("mdadm", "--zero-superblock", disk)


def test_a_shifted_disk_is_laid_out_from_a_unit_on(rig):
    """The disk says its own alignment offset; a file system on its partition begins at a unit."""
    with rig.scsi_debug(megabytes=64, sector_size=SECTOR, physblk_exp=3, lowest_aligned=7) as disk:
        assert layouts(disk)["ext4"]["give"] is None
        made("partition", disk)
        part = f"{disk}1"
        made("ext4", part)
        fsck("ext4", part)
        # of the disk itself: the kernel cuts requests without the offset
        assert set(findings(part)) == {(block_name(disk), "split")}


def mounts(needs):
    """Whether this kernel mounts a file system that has the needs of a layout."""
    version = tuple(map(int, os.uname().release.split(".")[:2]))
    least = re.fullmatch(r"Linux (\d+)\.(\d+) or later", needs)
    if least:
        return version >= tuple(map(int, least.groups()))
    beyond = re.fullmatch(r"a later Linux than (\d+)\.(\d+), as (\d+)\.(\d+)", needs)
    refuses, takes = tuple(map(int, beyond.groups()[:2])), tuple(map(int, beyond.groups()[2:]))
    if refuses < version < takes:
        pytest.skip(f"the layout does not say whether Linux {version} mounts it")
    return version >= takes


@contextlib.contextmanager
def image(folder):
    """A loop device of an image that is large enough for XFS with any of its logs."""
    path = folder / "image"
    with open(path, "wb") as file:
        file.truncate(1024 * MIB)
    run("modprobe", "loop")
    loop = run("losetup", "--find", "--show", path).stdout.strip()
    try:
        yield loop
    finally:
        run("losetup", "--detach", loop)


def mounts_what_is_made(name, kind, device, unit, answer=""):
    """Make a file system by its layout, mount it twice, and return its layout, and whether all of that was done."""
    needs = layouts(device, "--physical", unit)[name]["needs"]
    try:
        # mkfs.xfs asks the kernel for its sectors, too
        made(name, device, "--physical", unit, answer=answer)
        with mounted(kind, device) as folder:
            (folder / "file").write_text("content")
        with mounted(kind, device) as folder:
            assert (folder / "file").read_text() == "content"
        return needs, True
    except (AssertionError, OSError) as error:
        assert needs, error
        return needs, False
    finally:
        run("wipefs", "--all", device)


def test_a_file_system_is_mounted_by_the_kernels_that_its_layout_needs(rig, tmp_path):
    run("modprobe", "-a", "xfs", "ext4")
    with image(tmp_path) as loop:
        for name, kind, answer in (("xfs", "xfs", ""), ("xfs-block", "xfs", ""), ("xfs-sector", "xfs", ""), ("ext4", "ext4", ""),
                                   ("ext4-block", "ext4", "y\n")):
            needs, done = mounts_what_is_made(name, kind, loop, 16384, answer)
            assert done == (needs is None or mounts(needs)), f"{name} needs {needs}"
