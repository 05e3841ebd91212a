# SPDX-License-Identifier: GPL-2.0
"""Unpacked roots of other Debian generations, to build in.

Headers come with programs of their generation (modpost, objtool), which need a C library, and name a compiler, that this
machine may lack. A root has both, and the other tools of a build; it is unpacked in the cache, without maintainer scripts,
and used for builds only.
"""

import hashlib
import os
from pathlib import Path

from ..paths import CACHE, fail, locked, say, whole, write_whole
from . import archive, kernels

TOOLS = ("coreutils", "dash", "diffutils", "findutils", "grep", "make", "mawk", "perl-base", "sed", "sparse")
# Mount point of the root that a build sees, in memory: the unpacked root itself stays unmodified.
TOGETHER = "together"

# Run in a private mount namespace, with the root's /usr, this machine's /proc and /dev, and the given folders.
ENTER = """\
set -e
root=$1; shift
mount -t tmpfs tmpfs "$root/{together}"
at=$root/{together}
for name in bin sbin lib lib64; do ln -s "usr/$name" "$at/$name"; done
mkdir -p "$at/usr" "$at/proc" "$at/dev" "$at/tmp"
mount --bind "$root/usr" "$at/usr"
mount --rbind /proc "$at/proc"
mount --rbind /dev "$at/dev"
while [ "$1" != -- ]; do mkdir -p "$at$1"; mount --rbind "$1" "$at$1"; shift; done
shift
exec chroot "$at" "$@"
"""


def _needs(release):
    """Return the generation of a release and the packages that a build against its headers needs; cached beside the headers."""
    memory = CACHE / "headers" / release / "needs"
    if not memory.exists():
        where = kernels.origin(release)
        headers = where.depends(f"linux-headers-{release}")
        kbuild = [name for name in headers if name.startswith("linux-kbuild-")]
        others = {name for package in [f"linux-headers-{release}", *kbuild] for name in where.depends(package)
                  if not name.startswith("linux-")}
        kernels.fetch_headers(release)
        write_whole(memory, " ".join([where.name, *sorted({*others, *TOOLS})]) + "\n")
    generation, *packages = memory.read_text().split()
    return generation, packages


def root(release):
    """Return the root to build modules for a release in, unpacked if missing."""
    try:
        generation, packages = _needs(release)
        folder = CACHE / "roots" / f"{generation}-{hashlib.sha256(' '.join(packages).encode()).hexdigest()[:12]}"
        with locked(f"root-{folder.name}"):
            if not folder.exists():
                say(f"unpacking the compiler of Debian {generation} into {folder} (300 MB)")
                with whole(folder) as scratch:
                    kernels.generation(generation).unpack_all(packages, scratch)
                    awk = scratch / "usr/bin/awk"
                    # update-alternatives would have made this link.
                    if not awk.is_symlink():
                        awk.symlink_to("mawk")
                    (scratch / TOGETHER).mkdir()
    except (archive.Missing, archive.Unreachable) as why:
        fail(f"no compiler to build for kernel {release} with: {why}")
    return folder


def inside(root, folders, command):
    """Return the command that runs `command` in a root, with this machine's `folders` at their own paths."""
    seen = sorted({str(Path(folder).resolve()) for folder in folders})
    # A folder below another one is mounted with it.
    seen = [path for path in seen if not any(path.startswith(f"{other}/") for other in seen)]
    unshare = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    return [*unshare, "sh", "-c", ENTER.format(together=TOGETHER), "sh", str(root), *seen, "--",
            "/usr/bin/env", "PATH=/usr/sbin:/usr/bin", "LC_ALL=C", *command]
