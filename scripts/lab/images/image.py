# SPDX-License-Identifier: GPL-2.0
"""Root images of Debian generations: mmdebstrap installs packages of the archive into a folder, which becomes an ext4 image
without a loop device. An image is made once for a recipe and kept in the cache; machines boot copies of it.
"""

import dataclasses
import os
import subprocess
import tempfile
from pathlib import Path

from .. import kept
from ..linux import archive, kernels
from ..machines import remote
from ..paths import CACHE, fail, say
from . import filesystem, machine

RECIPE = Path(__file__).with_name("recipe")
# Beside the essential packages and apt; the libraries are alignctl's.
PACKAGES = ("cryptsetup", "dbus", "e2fsprogs", "fdisk", "initramfs-tools", "kexec-tools", "kmod", "kpartx", "libbpf1",
            "libjson-c5", "liburing2", "lvm2", "mdadm", "mount", "procps", "python3", "systemd", "systemd-sysv", "udev",
            "usr-is-merged", "xfsprogs", "zstd")
# Generations that have an image, oldest first, and their packages beside PACKAGES.
GENERATIONS = {"bookworm": (), "trixie": ("systemd-cryptsetup",)}
SIZE = "4G"
UUID = "5ca1ab1e-0000-4000-8000-d0a119000001"
# Of no use in a test, and a third of the files.
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/man/*")


@dataclasses.dataclass(frozen=True)
class Image:
    """The root image of a generation, with further `packages`, and with the package `kernel` of an image."""
    generation: str
    packages: tuple = ()
    kernel: str = "linux-image-amd64"
    uuid = UUID

    def folder(self):
        """Return the folder in the cache that has root.img, made if missing."""
        parts = sorted(path for path in RECIPE.rglob("*") if path.is_file())
        key = kept.digest(self.generation, " ".join(self._packages()), UUID, SIZE, " ".join(LEFT_OUT), remote.AGENT, *parts)
        return kept.result("images", key, self._make)

    def file(self):
        return self.folder() / "root.img"

    def release(self):
        """Return the release of the image's newest kernel."""
        return filesystem.newest_kernel(self.file())

    def machine(self, name, **options):
        """Return a Machine that boots a copy of the image; `options` as it takes them."""
        return machine.Machine(self, name, **options)

    def _packages(self):
        return sorted({*PACKAGES, *GENERATIONS[self.generation], self.kernel, *self.packages})

    def _make(self, folder):
        say(f"making a system image of Debian {self.generation} in {folder.parent} (0.3 GB to fetch)")
        try:
            with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
                self._install(Path(scratch), folder / "root.img")
            # A module for this kernel can then be built when the archive has it no more.
            kernels.fetch_headers(filesystem.newest_kernel(folder / "root.img"), kernels.generation(self.generation))
        except (archive.Missing, archive.Unreachable) as why:
            fail(f"no system image of Debian {self.generation}: {why}")

    def _install(self, scratch, image):
        repository = kernels.generation(self.generation).repository(["?essential", "apt", *self._packages()],
                                                                    scratch / "packages")
        files, agent = scratch / "files", scratch / "files/usr/lib/lab"
        subprocess.run(["cp", "-R", RECIPE / "files", files], check=True)
        agent.mkdir(parents=True)
        subprocess.run(["cp", remote.AGENT, agent], check=True)
        root = os.geteuid() == 0
        tree, packed = scratch / "tree", scratch / "root.tar"
        _run(["mmdebstrap", f"--mode={'root' if root else 'unshare'}", "--variant=apt", f"--include={','.join(self._packages())}",
              "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr", '--aptopt=APT::Sandbox::User "root"',
              *(f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT),
              # Before the kernel is installed, whose initramfs is made by these files.
              f"--essential-hook=cp -R '{files}/.' \"$1\"",
              self.generation, packed, f"deb [trusted=yes] copy:{repository} ./"])
        tree.mkdir()
        user = [] if root else ["unshare", "--map-root-user", "--map-auto"]
        _run([*user, RECIPE / "finish", packed, tree, image, SIZE, UUID])


def _run(command):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode:
        fail(f"{command[0]} failed:\n{done.stdout[-4000:]}")
