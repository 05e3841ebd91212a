# SPDX-License-Identifier: GPL-2.0
"""dm-ebs, the kernel's own target for 512-byte access on larger blocks, as the benchmark's peer.

Debian's kernels lack dm-ebs, so the module is built from the linux-source package of the same version, once, in the
cache.

    scripts/python -m lab.linux.peer [6.12|7.2]     build dm-ebs.ko if missing, and print its path
"""

import shutil
import subprocess
import sys

from ..paths import CACHE, fail, locked, say, whole
from . import kernels, roots
from .modules import BuildFailed, gcc_tree

SOURCES = ("dm-ebs-target.c", "dm.h", "dm-stats.h")
KBUILD = "obj-m := dm-ebs.o\ndm-ebs-y := dm-ebs-target.o\n"


def dm_ebs(series):
    """Return dm-ebs.ko for a stock series or release, built if missing. Raises BuildFailed."""
    release, source = kernels.release(series), kernels.fetch_source(series)
    folder = CACHE / "peer" / f"{release}-{source.name}"
    with locked(f"peer-{folder.name}"):
        if not folder.exists():
            say(f"building dm-ebs for {release} from {source.name}")
            with whole(folder) as scratch:
                for name in SOURCES:
                    shutil.copy(source / "drivers/md" / name, scratch / name)
                (scratch / "Kbuild").write_text(KBUILD)
                tree, root = gcc_tree(release)
                command = ["make", "-C", str(tree), f"M={scratch}", "modules"]
                done = subprocess.run(roots.inside(root, [CACHE], command) if root else command,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                if done.returncode:
                    raise BuildFailed(f"{' '.join(command)}\n{done.stdout}")
    return folder / "dm-ebs.ko"


if __name__ == "__main__":
    try:
        print(dm_ebs(sys.argv[1] if len(sys.argv) > 1 else kernels.USUAL))
    except BuildFailed as error:
        fail(str(error), 1)
