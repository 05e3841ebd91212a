# SPDX-License-Identifier: GPL-2.0
"""The project as `make install` leaves it, for a machine: a tree that the machine sees and copies onto its own root."""

import subprocess

import pytest

from ..linux import archive, modules
from ..paths import OUT, REPO
from .image import GENERATIONS

# Where a machine sees the tree.
AT = "/mnt/project/tree"
# Below /lib the root has links where the tree has folders.
COPY = f"tar -C {AT} -c . | tar -C / -x --keep-directory-symlink --no-same-owner && depmod"


def generations():
    """Return the generations whose systems can run what is compiled here, as parameters of a test."""
    known = list(GENERATIONS)
    own = archive.own_generation()
    return [name if own in known and known.index(name) >= known.index(own) else
            pytest.param(name, marks=pytest.mark.skip(reason=f"programs that are compiled here do not run on {name}"))
            for name in known]


def tree(release, folder):
    """Fill folder/tree with the programs and the module for a release; return the folder."""
    for program in ("alignctl", "drive512e"):
        subprocess.run(["make", "-s", "-C", REPO / "userspace" / program, f"OUT={OUT}", f"DESTDIR={folder / 'tree'}",
                        "PREFIX=/usr", "install"], check=True)
    built, _ = modules.build_for(release)
    subprocess.run(["install", "-D", "-m", "644", built / "dm-align.ko",
                    folder / f"tree/lib/modules/{release}/updates/dm-align.ko"], check=True)
    return folder
