# SPDX-License-Identifier: GPL-2.0
"""Documentation/admin/probe.svg: what methods of probe measure, on models of drives on a virtual clock."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from align_reports.probe import block_size
from align_reports.probe.block_size_method import points
from align_reports.probe.found import Scatter
from align_reports.probe.page import HEIGHT, points as drawn

from ..paths import REPO, say
from . import picture
from .block_size_truth import AREA, SIZE
from .probe_truth import drive, found
from .target import ClockTarget

PICTURE = REPO / "Documentation/admin/probe.svg"
SEED = 1
# Points of a drawing, so that the picture stays small.
MOST = 150


def writes(profile: str) -> Scatter:
    """Return the times of the first writes of block-size by their offset, which show the blocks."""
    with ClockTarget(profile=profile, size=SIZE) as target:
        scan = block_size.probe(target, AREA, None, SEED, lambda _: None).scan
    assert scan
    return Scatter("writes", "us", "bytes from a multiple of 64 KiB", points(scan))


def times(profile: str, method: str) -> Scatter:
    """Return the picture of a method that reads."""
    with drive(profile) as target:
        [scatter] = found(method, target, SEED).curves
    assert isinstance(scatter, Scatter)
    return scatter


def scatters() -> Iterator[tuple[str, Scatter]]:
    yield "usb-liar: block-size, writes by offset", writes("usb-liar")
    yield "qlc-64k: block-size, writes by offset", writes("qlc-64k")
    yield "hdd7200: fullstroke, reads in order of time", times("hdd7200", "fullstroke")
    yield "hdd5400: tracktotrack, reads in order of time", times("hdd5400", "tracktotrack")
    yield "hdd7200: rnddeltaread, reads by distance", times("hdd7200", "rnddeltaread")
    yield "nvme-512e: fullstroke, reads in order of time", times("nvme-512e", "fullstroke")


def draw() -> str:
    """Return the picture as an SVG that needs nothing else."""
    panels = []
    for title, plot in scatters():
        step = -(-len(plot.points) // MOST)
        parts = drawn(Scatter(plot.title, plot.unit, plot.x_unit, plot.points[::step]))
        panels.append((title, [f'<g transform="translate(0 {picture.TITLE})">', *parts, "</g>"], picture.TITLE + HEIGHT + 28.0))
    return picture.sheet(panels, "What methods of probe measure. " + "; ".join(title for title, _, _ in panels))


def main() -> int:
    """Write the picture; return the exit status."""
    PICTURE.write_text(draw())
    say(f"the picture: {PICTURE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
