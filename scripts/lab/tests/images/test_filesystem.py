# SPDX-License-Identifier: GPL-2.0
"""Files of an image are read without a mount, and what is wrong with the image is said."""

import subprocess

import pytest

from lab.images import filesystem

PARTITION = 63 * 512


def make(folder, image, offset=0):
    """Make a file system of a folder, `offset` bytes into a file."""
    with open(image, "wb") as file:
        file.truncate(offset + (8 << 20))
    subprocess.run(["/sbin/mkfs.ext4", "-q", "-F", "-d", folder, "-E", f"offset={offset}", image, "8M"], check=True)
    return f"{image}?offset={offset}" if offset else image


@pytest.fixture(params=[0, PARTITION])
def image(request, tmp_path):
    boot = tmp_path / "root/boot"
    boot.mkdir(parents=True)
    for release in ("6.9.0-1-amd64", "6.12.3-amd64", "6.13.1-amd64"):
        (boot / f"vmlinuz-{release}").write_text(f"kernel {release}")
    for release in ("6.9.0-1-amd64", "6.12.3-amd64"):
        (boot / f"initrd.img-{release}").write_text(f"initramfs {release}")
    return make(tmp_path / "root", tmp_path / "image", request.param)


def test_the_newest_kernel_is_the_one_that_a_boot_loader_would_boot(image, tmp_path):
    assert "vmlinuz-6.13.1-amd64" in filesystem.names(image, "/boot")
    # Of versions, not of letters, and with an initramfs.
    assert filesystem.newest_kernel(image) == "6.12.3-amd64"
    filesystem.fetch(image, "/boot/vmlinuz-6.12.3-amd64", tmp_path / "kernel")
    assert (tmp_path / "kernel").read_text() == "kernel 6.12.3-amd64"


def test_what_is_not_there_is_an_error(image, tmp_path):
    with pytest.raises(OSError, match="File not found"):
        filesystem.fetch(image, "/boot/none", tmp_path / "none")
    with pytest.raises(OSError, match="File not found"):
        filesystem.names(image, "/none")
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare/boot").mkdir()
    with pytest.raises(OSError, match="no kernel with an initramfs"):
        filesystem.newest_kernel(make(tmp_path / "bare", tmp_path / "empty"))


def test_damage_is_found(image, tmp_path):
    assert filesystem.faults(image) == ""
    filesystem.recover(image)
    with open(tmp_path / "image", "r+b") as file:
        # The count of free blocks in the superblock, which then does not have its checksum either.
        file.seek(int(str(image).partition("?offset=")[2] or 0) + 1024 + 12)
        file.write(bytes(4))
    assert filesystem.faults(image)
