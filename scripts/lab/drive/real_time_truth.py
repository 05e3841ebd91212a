# SPDX-License-Identifier: GPL-2.0
"""What the quick methods tell of each drive model in real time, through NBD, beside what is true of it.

One run of rotation and one of block-size on each profile.
`python -m lab.drive.real_time_truth [PROFILE...] [--document]` prints the table.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.table import Table

from align_reports.probe import block_size
from align_reports.progress import wide

from . import documents
from .block_size_truth import AREA, PENALTY, PROFILES, SIZE, Truth
from .probe_truth import DISKS, beside, holds, size_of, told
from .target import NbdTarget

SEED = 1


def speed(profile: str) -> tuple[list[str], bool]:
    """Return what rotation tells, as cells, and whether nothing told is wrong."""
    with NbdTarget(profile=profile, size=size_of(profile)) as target:
        found = told("rotation", target, SEED)
    said = ("does not rotate" if found["rotates"] is False else
            beside(found["rpm"], DISKS[profile].rpm, 1, 1) if profile in DISKS else "cannot tell")
    rpm = found["rpm"]
    inside = not rpm or rpm["low"] <= DISKS[profile].rpm <= rpm["high"]
    return [f"{found['took_s']:.0f} s", str(DISKS[profile].rpm) if profile in DISKS else "none", said], \
        inside and holds(profile, "rotation", found)


def block(truth: Truth) -> tuple[list[str], bool]:
    """Return what block-size tells, as cells, and whether nothing told is wrong."""
    with NbdTarget(profile=truth.profile, size=SIZE, **dict(truth.parameters)) as target:
        found = block_size.probe(target, AREA, None, SEED, lambda words: None)
    right = not found.block or found.block == truth.block
    cells = [f"{found.elapsed_s:.0f} s", f"{truth.block.bytes} +{truth.block.offset}",
             f"{found.block.bytes} +{found.block.offset}" if found.block else "cannot tell", f"{truth.penalty / 1000:.3f} ms"]
    if not found.penalty:
        return [*cells, "cannot tell"], right
    off = found.penalty.value / truth.penalty - 1
    # What an SSD takes for a page is not much more than what the transport varies by.
    claimed = truth.profile in DISKS
    return [*cells, f"{found.penalty.value / 1000:.3f} ms {off:+.1%}{'' if claimed else ', not claimed'}"], \
        right and (not claimed or abs(off) <= PENALTY)


def main(argv: Sequence[str]) -> int:
    """
    Print the table, of the profiles asked for or all, with --document into the document, too; return the exit status: 1 if
    something is wrong.
    """
    parser = documents.parser(__doc__)
    known = sorted({truth.profile for truth in PROFILES})
    parser.add_argument("profiles", nargs="*", metavar="PROFILE", help=f"only these; of {' '.join(known)}")
    arguments = parser.parse_args(argv)
    names = arguments.profiles
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no such profile: {' '.join(unknown)}; there are {' '.join(known)}")
    if names and arguments.document:
        parser.error("--document: the document is of all profiles; leave out their names")
    table = Table(title="Methods on the plugin, through NBD in real time", title_justify="left")
    for heading in ("drive", "took", "rpm", "told", "took ", "block", "told ", "penalty", "told  "):
        table.add_column(heading, justify="left" if heading == "drive" else "right")
    status = 0
    speeds: dict[str, tuple[list[str], bool]] = {}
    for truth in PROFILES:
        if names and truth.profile not in names:
            continue
        if truth.profile not in speeds:
            speeds[truth.profile] = speed(truth.profile)
        (turning, fine), (blocks, right) = speeds[truth.profile], block(truth)
        table.add_row(str(truth) if fine and right else f"{truth} FAILED", *turning, *blocks)
        status |= not (fine and right)
    wide().print(table)
    if arguments.document:
        documents.write(documents.PROBE, "real_time_truth", documents.plain(table))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
