# SPDX-License-Identifier: GPL-2.0
"""The target with deliberate faults: builds of a copy of its sources with a patch of faults/, which breaks a rule of its order.
The first lines of a patch say which."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ..linux import modules
from ..paths import OUT, REPO

PATCHES = Path(__file__).with_name("faults")
BLOCK, SECTORS = 4096, 131072
# The target's name in the kernel's log.
MODULE = "dm_align"


@dataclass(frozen=True)
class Mutant:
    """A patch by its name, and the mode of the target in which the fault shows."""
    name: str
    mode: str

    @property
    def patch(self) -> Path:
        return PATCHES / f"{self.name}.patch"

    def table(self, drive: str) -> str:
        return f"0 {SECTORS} align {drive} 0 6 mode {self.mode} physical_block_size {BLOCK} alignment_offset 0"


MUTANTS = (Mutant("pads-side-by-side", "pad"), Mutant("aligned-write-passes-pad", "pad"), Mutant("read-ignores-held", "coalesce"))


def change(mutant: Mutant, folder: Path) -> str | None:
    """Apply the patch to the sources in `folder`; return what patch says if that fails."""
    done = subprocess.run(["patch", "--strip=1", "--fuzz=0", "--no-backup-if-mismatch", f"--input={mutant.patch}"], cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout if done.returncode else None


def copy(folder: Path) -> None:
    """Copy the target's sources to kmod/ in a folder, which is emptied."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "kmod").mkdir(parents=True)
    for path in (REPO / "kmod").iterdir():
        if modules.is_source(path):
            shutil.copy(path, folder / "kmod")


def build(mutant: Mutant, release: str) -> Path:
    """Build the target with a fault for a Debian release; return the module. Raises BuildFailed."""
    sources = OUT / "conform" / "mutants" / mutant.name
    copy(sources)
    said = change(mutant, sources)
    if said:
        raise modules.BuildFailed(f"{mutant.patch}: {said}")
    folder, _ = modules.build_for(release, name=f"{release}-{mutant.name}", sources=sources)
    return folder / "dm-align.ko"
