# SPDX-License-Identifier: GPL-2.0
"""The model's figures beside the published ones: a drawing for each profile, for the page and for the document.

A row is a published figure. Its mark lies where the model's figure does, as a deviation from the published one; a full mark is
a row that the model claims, a hollow one any other row. The band is the tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from align_reports.charts import across, upward
from align_reports.svg import LINE, WIDTH, line, polyline, rect, text
from align_reports.table import size_name

from ..dashboard.picture import COLOURS

MARGIN, GAP = 12, 20
COLUMNS = 3
TITLE = 18
ROW = 2 * LINE + 4     # a name, and below it the scale
# The deviation, in percent, at the ends of the scale, which a mark does not leave.
REACH = 40
SCALE = 100.0           # half its length
CENTRE = SCALE + 20    # room for half a label
MARK = 8
AXIS = 18
PLOT, LEFT, RIGHT = 110, 66, 8
STYLE = """
svg .band { fill: var(--pad); fill-opacity: .12; }
svg .zero { stroke: var(--soft); stroke-width: 1; }
svg .holds { fill: var(--coalesce); stroke: var(--coalesce); }
svg .off { fill: var(--bad); stroke: var(--bad); }
svg .hollow { fill: none; stroke: var(--soft); stroke-width: 1.5; }
svg .curve { fill: none; stroke: var(--pad); stroke-width: 1.8; stroke-linejoin: round; }
svg .point { fill: var(--pad); }
"""


def figure(value: float | None) -> str:
    """Return a figure with three significant digits, or a dash if there is none."""
    if value is None:
        return "\N{EN DASH}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def kind(row: dict[str, Any]) -> str:
    if row["not_claimed"]:
        return "hollow"
    return "holds" if row["holds"] else "off"


def place(percent: float) -> float:
    return CENTRE + min(max(percent, -REACH), REACH) / REACH * SCALE


def rows(found: Sequence[dict[str, Any]], tolerance: float, top: float) -> tuple[list[str], float]:
    """Draw the rows of a profile from `top` on; return the pieces and where they end."""
    end = top + len(found) * ROW
    parts = []
    for number, row in enumerate(found):
        y = top + number * ROW
        low, high = y + LINE, y + LINE + MARK + 6
        parts += [text(0, y + LINE - 4, row["name"]),
                  rect(place(-tolerance), low, place(tolerance) - place(-tolerance), high - low, "band"),
                  line(CENTRE, low, CENTRE, high, "zero")]
        unit = f" {row['unit']}" if row["unit"] else ""
        parts.append(text(WIDTH, high - 3, f"{figure(row['published'])} : {figure(row['measured'])}{unit}", "tick", "end"))
        if row["deviation_percent"] is not None:
            parts.append(rect(place(row["deviation_percent"]) - MARK / 2, low + 3, MARK, MARK, kind(row),
                              f"{row['deviation_percent']:+.1f} %"))
    for percent in (-REACH, -tolerance, tolerance, REACH):
        parts.append(text(place(percent), end + LINE, f"{percent:+g} %", "tick", "middle"))
    return parts, end + AXIS


def curve(chunks: Sequence[dict[str, float]], top: float, mark: float | None) -> tuple[list[str], float]:
    """Draw the throughput of random reads by their size, and the published size at which it saturates, if there is one."""
    low, high = chunks[0]["bytes"], chunks[-1]["bytes"]
    most = max(each["mb_s"] for each in chunks) * 1.05

    def x_of(size: float) -> float:
        return LEFT + math.log(size / low) / math.log(high / low) * (WIDTH - LEFT - RIGHT)

    def y_of(rate: float) -> float:
        return top + (1 - rate / most) * PLOT

    parts = []
    step = 10.0 ** math.floor(math.log10(most))
    for rate in upward([[step / each * number for number in range(int(most / step * each) + 1)] for each in (2, 1)], y_of):
        parts.append(line(LEFT, y_of(rate), WIDTH - RIGHT, y_of(rate), "grid"))
        parts.append(text(LEFT - 6, y_of(rate) + 4, f"{rate:g} MB/s", "tick", "end"))
    sizes = [each["bytes"] for each in chunks]
    for size, centre, name in across([sizes[::2], sizes[::4]], x_of, size_name):
        parts.append(line(x_of(size), y_of(0), x_of(size), y_of(0) + 3, "axis"))
        parts.append(text(centre, y_of(0) + LINE + 2, name, "tick", "middle"))
    if mark is not None:
        parts.append(line(x_of(mark), y_of(0), x_of(mark), y_of(most), "zero"))
    parts.append(polyline([(x_of(each["bytes"]), y_of(each["mb_s"])) for each in chunks], "curve"))
    return parts, y_of(0) + AXIS


def saturation(profile: dict[str, Any]) -> float | None:
    """Return the published size at which the throughput of a profile saturates, in bytes."""
    for row in profile["rows"]:
        if row["name"].startswith("chunk-size"):
            return row["published"] * (1 << 20)
    return None


def said(profile: dict[str, Any]) -> str:
    """Return what a profile's drawing shows, in words."""
    claimed = [row for row in profile["rows"] if not row["not_claimed"]]
    worst = max((abs(row["deviation_percent"]) for row in claimed), default=0)
    return (f"{profile['name']}: {len(claimed)} claimed figures, at most {worst:.1f} % off, "
            f"{len(profile['rows']) - len(claimed)} not claimed")


def panels(document: dict[str, Any]) -> list[tuple[str, list[str], float]]:
    """Return (title, pieces, height) of each panel of the picture: the profiles, and each curve with a published point."""
    found = []
    for profile in document["profiles"]:
        found.append((profile["name"], *rows(profile["rows"], document["tolerance_percent"], TITLE)))
    for profile in document["profiles"]:
        if saturation(profile):
            found.append((f"{profile['name']}: random reads by size",
                          *curve(profile["chunks"], TITLE, saturation(profile))))
    return found


def style() -> str:
    plain = STYLE.replace("svg ", "")
    for name, colour in COLOURS.items():
        plain = plain.replace(f"var(--{name})", colour)
    return (f"text {{ fill: {COLOURS['ink']}; font: 11px system-ui, sans-serif; }} .tick {{ fill: {COLOURS['soft']}; }} "
            f".name {{ font-weight: 600; }} .grid {{ stroke: {COLOURS['rule']}; }} .axis {{ stroke: {COLOURS['soft']}; }} "
            f".paper {{ fill: {COLOURS['paper']}; }}" + plain.replace("\n", " "))


def draw(document: dict[str, Any]) -> str:
    """Return the picture of all profiles as an SVG that needs nothing else."""
    return sheet(panels(document), "Published and modelled figures. " + "; ".join(map(said, document["profiles"])))


def sheet(drawings: Sequence[tuple[str, list[str], float]], words: str) -> str:
    """Return an SVG that needs nothing else. drawings: title, pieces and height of each; words: what they show"""
    ends = [float(MARGIN)] * COLUMNS
    groups = []
    for title, parts, height in drawings:
        column = ends.index(min(ends))
        groups.append(f'<g transform="translate({MARGIN + column * (WIDTH + GAP)} {ends[column]:.1f})">'
                      f'{text(0, LINE - 3, title, "name")}{"".join(parts)}</g>')
        ends[column] += height + GAP
    width, height = 2 * MARGIN + COLUMNS * WIDTH + (COLUMNS - 1) * GAP, max(ends) - GAP + MARGIN
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-label="{escape(words)}">',
        "<!-- SPDX-License-Identifier: GPL-2.0 -->", f"<title>{escape(words)}</title>", f"<style>{style()}</style>",
        rect(0, 0, width, height, "paper"), *groups, "</svg>", ""])
