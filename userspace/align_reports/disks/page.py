# SPDX-License-Identifier: GPL-2.0
"""What physical blocks of each size would cost some disks, as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from ..page import Heading, definitions, document, key, panel, said, table
from ..svg import LINE, WIDTH, line, polyline, rect, svg, text
from ..table import NONE, number, rate, size_name

# Disks that have a row; the page says how many it leaves out.
MOST_ROWS = 500
# Shares of the disks, and of what they cost, that have a line.
SHARES = (0, 0.25, 0.5, 0.75, 1)
LEFT, TOP, HEIGHT = 60, 8, 150
CURVE = "svg .curve { fill: none; stroke-width: 2; } svg .curve.raw { stroke: var(--raw); }\n"
KEY = (("raw", "starts as they are"), ("pad", "each start moved to where it is best"))


def _size(name: dict[str, Any]) -> str:
    return size_name(name["physical_block_size"])


def _per_byte(extra: int, written: int) -> float:
    return extra / written if written else 0


def bars(sizes: Sequence[dict[str, Any]], written: int) -> str:
    """Draw, for each size of blocks, the bytes that the drives write beyond each byte that they are given."""
    pairs = [(_per_byte(size["extra_bytes"], written), _per_byte(size["extra_bytes_moved"], written)) for size in sizes]
    most = max((value for pair in pairs for value in pair), default=0) or 1
    row, room = 30, WIDTH - LEFT - 62
    parts = []
    for index, (size, pair) in enumerate(zip(sizes, pairs, strict=True)):
        top = TOP + index * row
        parts.append(text(0, top + 16, _size(size), "name"))
        for place, (kind, value) in enumerate(zip(("raw", "pad"), pair, strict=True)):
            y = top + 2 + 12 * place
            parts += [rect(LEFT, y, value / most * room, 10, kind, f"{_size(size)}: {rate(value)} bytes more for each byte"),
                      text(LEFT + value / most * room + 4, y + 9, f"+{rate(value)}", "tick")]
    label = "; ".join(f"{_size(size)}: {rate(pair[0])}, moved {rate(pair[1])}" for size, pair in zip(sizes, pairs, strict=True))
    return svg(TOP + row * len(sizes), f"Bytes written beyond each byte given. {label}", parts)


def skew(costs: Sequence[int]) -> str:
    """Draw which share of what all disks cost the dearest ones have. costs: falling."""
    total, room = sum(costs), WIDTH - LEFT - 8
    points: list[tuple[float, float]] = [(LEFT, TOP + HEIGHT)]
    for index, below in enumerate(accumulate(costs), 1):
        points.append((LEFT + room * index / len(costs), TOP + HEIGHT * (1 - below / total)))
    # as many corners as there are pixels
    step = max(1, len(points) // (2 * WIDTH))
    parts = []
    for share in SHARES:
        y = TOP + HEIGHT * (1 - share)
        parts += [line(LEFT, y, LEFT + room, y, "grid"), text(LEFT - 6, y + 4, f"{share:.0%}", "tick", "end"),
                  text(min(LEFT + room * share, WIDTH - 16), TOP + HEIGHT + LINE + 2, f"{share:.0%}", "tick", "middle")]
    parts.append(polyline([*points[:-1:step], points[-1]], "curve raw"))
    tenth = sum(costs[:max(1, len(costs) // 10)]) / total
    return svg(TOP + HEIGHT + 22, f"Share of the cost by share of the disks. The dearest tenth has {tenth:.0%}", parts)


def sentences(found: dict[str, Any]) -> list[str]:
    """Say what the page has found."""
    disks, total = found["disks"], found["total"]
    costly = [disk for disk in disks if disk["extra_bytes"]]
    words = [f"On physical blocks of {_size(found)}, {number(len(costly))} of {number(len(disks))} disks make partial touches: "
             f"{number(total['touches'])}, for {size_name(total['extra_bytes'])} beyond the "
             f"{size_name(total['bytes_written'])} that are written."]
    advice = {"move": "a move of the start", "pad": "mode pad", "coalesce": "mode coalesce"}
    for remedy, name in advice.items():
        nr = sum(disk["recommendation"] == remedy for disk in disks)
        if nr:
            words.append(f"For {number(nr)} of them, {name} is recommended.")
    for size in total["what_if"]:
        if size["physical_block_size"] in (16384, 65536) and size["physical_block_size"] != found["physical_block_size"]:
            words.append(f"On blocks of {_size(size)} it would be {number(size['touches'])} touches, and drives would write "
                         f"{rate(1 + _per_byte(size['extra_bytes'], total['bytes_written']))} bytes for each; with each start "
                         f"moved to where it is best, {rate(1 + _per_byte(size['extra_bytes_moved'], total['bytes_written']))}.")
    return words


def _row(disk: dict[str, Any]) -> list[str]:
    def known(value: int | None) -> str:
        return NONE if value is None else number(value)

    return [disk["disk"], number(disk["writes"]), size_name(disk["bytes_written"]), number(disk["touches"]),
            size_name(disk["extra_bytes"]), str(disk["best_move_sectors"]), number(disk["touches_moved"]),
            known(disk["pad_left"]), known(disk["coalesce_left"]), disk["recommendation"],
            *(rate(size["write_amplification"]) for size in disk["what_if"])]


def render(found: dict[str, Any], machine: dict[str, str]) -> str:
    """Return the page of a document."""
    disks, total = found["disks"], found["total"]
    sizes, written = total["what_if"], total["bytes_written"]
    panels = panel("By size of block", bars(sizes, written), "Bytes that the drives write beyond each byte that they are given.")
    costs = [disk["extra_bytes"] for disk in disks]
    if total["extra_bytes"] and len(disks) > 1:
        panels += panel("By disk", skew(costs), "Share of the cost, upward, that the dearest of the disks have, to the right.")
    of_sizes = table(
        [Heading("Physical block", title=True), Heading("Touches"), Heading("Extra"), Heading("Amplification"),
         Heading("Touches, moved"), Heading("Extra, moved"), Heading("Amplification, moved")],
        [[("", [_size(size), number(size["touches"]), size_name(size["extra_bytes"]), rate(size["write_amplification"]),
                number(size["touches_moved"]), size_name(size["extra_bytes_moved"]),
                rate(1 + _per_byte(size["extra_bytes_moved"], written) if written else 0)]) for size in sizes]])
    of_disks = table(
        [Heading("Disk", title=True), Heading("Writes"), Heading("Written"), Heading("Touches"), Heading("Extra"),
         Heading("Best move"), Heading("Touches, moved"), Heading("Left, pad"), Heading("Left, coalesce"),
         Heading("Recommended", word=True), *(Heading(_size(size)) for size in sizes)],
        [[("", _row(disk)) for disk in disks[:MOST_ROWS]]])
    left = len(disks) - MOST_ROWS
    more = f"<p>{number(left)} more, which cost less, are in the document that --json prints.</p>" if left > 0 else ""
    how = {"physical block": _size(found), "logical block": size_name(found["logical_block_size"]),
           "alignment offset": size_name(found["alignment_offset"]), "shift": f"{found['shift_sectors']} sectors",
           "touch": "a write or write-zeroes and a physical block that it covers in part: a read-modify-write of the drive",
           "extra": "bytes of all blocks touched, less the bytes written", **machine}
    return document("What physical blocks cost these disks", f"""\
{said(sentences(found), None, bool(total["touches"]))}
{key(KEY)}
<div class="panels">{panels}</div>
<h2>By size of block</h2>
{of_sizes}
<h2>By disk</h2>
<p>The dearest first. The last columns are the bytes of all blocks touched, by the bytes written, on blocks of that size.</p>
{of_disks}
{more}
{definitions("How it was computed", how.items())}""", CURVE)
