# SPDX-License-Identifier: GPL-2.0
"""
A machine boots from an image that was made for sectors of 512 bytes, copied to a disk of 4096: the initramfs attaches the
disk by its line of aligntab, finds the partition and mounts the root on it.
"""

import re
import shutil
import subprocess

import pytest

from lab.linux import gates
from lab.machines import again, alone, drives, vm
from lab.paths import OUT, REPO
from lab.plugins.batch import BOOT_SECONDS
from lab.plugins.extent import one_kernel
from rig.direct import SECTOR

MIB = 1 << 20
SIZE, START, PART = 48 * MIB, 2049, 32 * MIB
INIT = REPO / "kmod/tests/rig/root_of_smaller_blocks.sh"
TAB = b"root /dev/vda mode=coalesce,logical=512,hold-ms=600000,x-initrd.attach\n"


def command(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def make(image, tree):
    """Make the image, whose root's blocks of 1024 bytes begin inside blocks of 4096."""
    for name in ("bin", "dev", "proc", "sys"):
        (tree / name).mkdir(parents=True)
    shutil.copy("/bin/busybox", tree / "bin/busybox")
    (tree / "bin/sh").symlink_to("busybox")
    shutil.copy(INIT, tree / "init")
    (tree / "init").chmod(0o755)
    with open(image, "wb") as file:
        file.truncate(SIZE)
    command("sh", "-c", f"echo 'start={START}, size={PART // SECTOR}, type=L' | /sbin/sfdisk --quiet --label gpt {image}")
    command("/sbin/mkfs.ext4", "-q", "-b", 1024, "-d", tree, "-E", f"offset={START * SECTOR}", image, f"{PART >> 10}k")


@pytest.mark.check_all("guest/test_boot.py finds such a root in a running system, without a boot of its own")
@pytest.mark.timeout(0)
@pytest.mark.parametrize("series", one_kernel("the initramfs and the target's table are the same on each kernel"))
def test_a_root_made_for_sectors_of_512_bytes_is_booted_from_a_disk_of_4096(series, tmp_path):
    image, initrd = tmp_path / "image", tmp_path / "initrd"
    make(image, tmp_path / "tree")
    booted = alone.kernel(series, "virtio_blk", "dm_mod", "dm_bufio", "ext4")
    alone.initramfs(booted, initrd, INIT, programs=[OUT / "bin" / "alignctl", "kpartx"], files={
        "dm-align.ko": gates.module(series).read_bytes(), "etc/aligntab": TAB, "newroot/empty": b""})
    server = drives.Server(size=str(SIZE), options=(f"file={image}",), presented={"logical": 4096})

    def boot(suffix):
        with drives.serve({"disk": server}, tmp_path / f"drives{suffix}") as served:
            run = alone.run(booted, initrd, name=f"root-of-smaller-blocks-{series}{suffix}", timeout=BOOT_SECONDS,
                            drives=[served["disk"].attached()])
            assert served["disk"].control("stats")["touches"] == 0, "the drive has received parts of blocks"
        return run

    run = again.run(boot)
    assert run.status == 0 and not run.faults, vm.explain(run)
    told = dict(re.findall(r"\] root: (\w+) (\S+)$", run.console, re.M))
    end = run.console[-2000:]
    assert "found" not in told and (told["disk"], told.get("from"), told.get("logical")) == \
        ("4096", "/dev/mapper/root1", "512"), end
    counts = {name: int(value) for name, value in told.items() if name.startswith("rmw_") and value.isdigit()}
    assert counts["rmw_expected"] == counts["rmw_avoided"] + counts["rmw_host"] + counts["rmw_pending"] and \
        counts["rmw_drive"] == counts["rmw_lost"] == 0 < counts["rmw_host"], counts
    part = f"{image}?offset={START * SECTOR}"
    command("/sbin/e2fsck", "-fn", part)
    assert command("/sbin/debugfs", "-R", "cat /lines", part) == "".join(f"line {i}\n" for i in range(1, 101))
    print(f"{run.seconds:.1f} s in the machine")
