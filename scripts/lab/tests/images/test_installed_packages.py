# SPDX-License-Identifier: GPL-2.0
"""The packages of `make deb` in a system with its own kernel: installed, used, upgraded under a live device, built for a new
kernel by DKMS, removed with nothing left."""

import json
import re
import shutil
import subprocess

import pytest

from lab.images import project
from lab.images.image import Image
from lab.linux import kernels
from lab.paths import REPO

pytestmark = [pytest.mark.check_all("test_packages.py looks into the packages, without a system to install them in"),
              pytest.mark.timeout(3600)]
OURS = "alignctl dm-align-dkms nbdkit-drive512e-plugin"
DISK = "/dev/disk/by-id/virtio-drive0"
# Tests of autopkgtest; that of alignctl looks into manual pages, which the image does not have.
AUTOPKGTESTS = ("device", "plugin")
# Seconds of the reference machine for apt, which unpacks, compiles for DKMS and makes an initramfs under emulation.
APT_SECONDS = 600
# Every file that is ours, wherever a package or its scripts may have put it; not the history of dpkg, apt and systemd.
LEFT = (r"find / -xdev \( -path /var/log -o -path /var/lib/apt -o -path /var/cache -o -path /root -o -path /mnt \) -prune -o "
        r"\( -iname '*dm[-_]align*' -o -name '*align[ct]*' -o -name '*drive512e*' \) -print")


def build(folder, version):
    """Build the packages of a copy of the tree with another version."""
    tree = folder / "source"
    tree.mkdir(parents=True)
    names = subprocess.run(["git", "ls-files", "-z"], cwd=REPO, capture_output=True, check=True).stdout
    subprocess.run(["cpio", "--quiet", "-0", "-p", "-d", tree], cwd=REPO, input=names, check=True)
    source = tree / "kmod/version.c"
    source.write_text(re.sub(r'MODULE_VERSION\(".*"\)', f'MODULE_VERSION("{version}")', source.read_text()))
    subprocess.run([tree / "scripts/packaging/build", "deb", folder / "deb"], check=True, stdout=subprocess.DEVNULL)
    return sorted((folder / "deb").glob("*.deb"))


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Return the packages of two versions, {version: files}."""
    folder = tmp_path_factory.mktemp("packages")
    return {version: build(folder / version, version) for version in ("0.8", "0.9")}


@pytest.fixture(scope="module", params=project.generations())
def system(request, packages, tmp_path_factory):
    """Return an image whose kernel is not its generation's newest, the newest release, and a folder with a repository of each
    version of the packages, which have the newest kernel, too."""
    where = kernels.generation(request.param)
    series = kernels.series_of(where.depends("linux-image-amd64")[0].removeprefix("linux-image-"))
    releases = sorted((found[1] for name in where.names(f"linux-image-{series}.")
                       if (found := re.fullmatch(rf"linux-image-({kernels.RELEASE})", name))), key=kernels.version_key)
    old, new = releases[-2:]
    image = Image(request.param, ("dkms", f"linux-headers-{old}"), kernel=f"linux-image-{old}")
    folder = tmp_path_factory.mktemp(request.param)
    for version, files in packages.items():
        repository = folder / version
        repository.mkdir()
        for file in files:
            shutil.copy(file, repository)
        where.repository([*files, "libnbd-bin", "linux-image-amd64", "linux-headers-amd64"], repository)
    shutil.copytree(REPO / "scripts/packaging/debian/tests", folder / "autopkgtest")
    return image, new, folder


def use_repository(machine, version):
    machine.check(f"echo 'deb [trusted=yes] file:/mnt/project/{version} ./' >/etc/apt/sources.list && apt-get -q update")


def ledger(machine):
    [device] = json.loads(machine.check("alignctl stats --json"))["devices"]
    return device["counters"]


def write(machine, text, sector):
    machine.check(f"printf '%-512s' '{text}' | dd of=/dev/mapper/live bs=512 seek={sector} oflag=direct conv=notrunc "
                  "iflag=fullblock status=none")


def read(machine, sector):
    return machine.check(f"dd if=/dev/mapper/live bs=512 skip={sector} count=1 iflag=direct status=none").strip()


def test_packages_live_and_leave_nothing(system):
    image, newest, folder = system
    with image.machine(f"packages-{image.generation}", disks=["64M"], project=folder, memory="2G") as machine:
        machine.boot()
        assert machine.check("uname -r").strip() != newest
        assert machine.check(LEFT) == ""

        # Install, load, attach, use.
        use_repository(machine, "0.8")
        machine.check(f"apt-get -q -y install {OURS} libnbd-bin", APT_SECONDS)
        for name in AUTOPKGTESTS:
            machine.check(f"sh /mnt/project/autopkgtest/{name}")
        machine.check("modprobe dm-align")
        assert machine.check("cat /sys/module/dm_align/version").strip() == "0.8"
        machine.check(f"alignctl attach {DISK} --name live --mode pad")
        write(machine, "written by 0.8", 3)
        assert ledger(machine)["rmw_expected"] == 1

        # Upgrade under a live device: it works on, with the module that it has, and that is said.
        use_repository(machine, "0.9")
        said = machine.check("apt-get -q -y upgrade", APT_SECONDS)
        assert "devices keep the module 0.8" in said
        assert machine.check("cat /sys/module/dm_align/version").strip() == "0.8"
        assert "0.9" in machine.check("alignctl --version")
        assert read(machine, 3) == "written by 0.8"
        write(machine, "written between", 12)
        assert ledger(machine)["rmw_expected"] == 2
        machine.check("alignctl detach live && modprobe -r dm-align")
        machine.check(f"alignctl attach {DISK} --name live --mode pad")
        assert machine.check("cat /sys/module/dm_align/version").strip() == "0.9"
        assert read(machine, 12) == "written between"
        machine.check("alignctl detach live")

        # A new kernel: DKMS has built for it when it boots.
        machine.check("apt-get -q -y install linux-image-amd64 linux-headers-amd64", 2 * APT_SECONDS)
        machine.reboot()
        assert machine.check("uname -r").strip() == newest
        machine.check(f"alignctl attach {DISK} --name live --mode pad")
        assert machine.check("cat /sys/module/dm_align/version").strip() == "0.9"
        assert read(machine, 3) == "written by 0.8"

        # Removal leaves a live device alone; what remains of it ends with the device.
        said = machine.check("apt-get -q -y remove dm-align-dkms", APT_SECONDS)
        assert "devices keep the module until they are detached" in said
        write(machine, "without a package", 21)
        assert read(machine, 21) == "without a package"
        machine.check("alignctl detach live && rmmod dm-align")
        machine.check(f"apt-get -q -y purge {OURS}", APT_SECONDS)
        assert machine.check(LEFT) == ""
        assert machine.run("modprobe dm-align")[0]
        assert machine.run("for image in /boot/initrd.img-*; do lsinitramfs $image; done | grep -i align")[0] == 1
        assert machine.check(f"dpkg-query -W -f='${{Package}} ${{db:Status-Status}}\\n' {OURS} 2>/dev/null || true") \
            .count("installed") == 0
        machine.poweroff()
