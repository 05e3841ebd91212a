# SPDX-License-Identifier: GPL-2.0
"""The published figures beside those of the drive models on a virtual clock, and the models beside the plugin in real time."""

from __future__ import annotations

import json
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from align_reports.probe.target import Request

from ..demo.workloads import touches
from ..machines import drives
from . import measures
from .measures import BLOCK, Drive
from .rows import ROWS, TOLERANCE
from .target import NbdTarget

# Of the document.
FORMAT = 1
# Columns of a line.
WIDTH = 80
# Percent by which the mean of a disk may be off in real time; the transport's time is in it.
LIVE_TOLERANCE = 15
LIVE_SIZE = 1 << 30
# Requests of a run in real time: writes that cover blocks in part, and random reads.
LIVE_COUNT = 200


def names() -> list[str]:
    """Return the profiles that have rows."""
    there = {row.profile for row in ROWS}
    return [name for name in measures.profiles() if name in there]


def of_profile(name: str) -> dict[str, Any]:
    """Measure all rows of a profile; return its part of the document."""
    profile = measures.profiles()[name]
    found: dict[str, Any] = {"name": name, "about": profile.about}
    if profile.kind == "disk":
        found["chunks"] = [{"bytes": size, "mb_s": measures.chunk_mb_s(Drive(name), size)} for size in measures.CHUNKS]
    found["rows"] = []
    for row in ROWS:
        if row.profile == name:
            measured = row.measured()
            found["rows"].append({
                "name": row.name, "source": row.source, "unit": row.unit, "cache": "on" if row.cached else "off",
                "published": row.published, "measured": measured, "deviation_percent": row.deviation(measured),
                "not_claimed": row.unclaimed, "holds": row.holds(measured)})
    return found


def figures(only: str | None = None) -> dict[str, Any]:
    """Measure on the virtual clock, of all profiles or of one; return the document of the page.

    A profile has "name", "about", for a disk "chunks" (the throughput of random reads by their size), and "rows"; "live" takes
    what real_time() returns.
    """
    profiles = [of_profile(name) for name in names() if only in (None, name)]
    return {"format": FORMAT, "tolerance_percent": TOLERANCE, "profiles": profiles, "live": [],
            "within": all(row["holds"] for profile in profiles for row in profile["rows"])}


def live_requests() -> list[Request]:
    """Return the requests of a run in real time."""
    places = measures.Places()
    return [Request(False, places.draw(LIVE_SIZE, BLOCK), BLOCK) if number % 2 else Request(True, 512 + number * 4 * BLOCK, BLOCK)
            for number in range(LIVE_COUNT)]


def judged(model_us: float, plugin_us: float, claimed: bool, counted: int, expected: int) -> bool:
    """Check a run in real time: all touches are counted, and a disk's mean is near the model's."""
    return counted == expected and (not claimed or abs(plugin_us / model_us - 1) * 100 <= LIVE_TOLERANCE)


def real_time(name: str) -> dict[str, Any]:
    """Run the plugin with a profile, through NBD in real time, against its model. Raises OSError if it does not run."""
    requests = live_requests()
    model_us = measures.seconds(Drive(name), requests) / len(requests) * 1e6
    with tempfile.TemporaryDirectory(prefix="drive512e-") as folder:
        control = Path(folder) / "control"
        with NbdTarget(profile=name, size=LIVE_SIZE, control=control) as target:
            plugin_us = sum(target.each(requests)) / len(requests)
            counted = json.loads(drives.ask(control, "stats"))["touches"]
    profile = measures.profiles()[name]
    expected = sum(touches(each.offset, each.bytes, profile.block, profile.boundary) for each in requests if each.write)
    claimed = profile.kind == "disk"
    return {"profile": name, "model_us": model_us, "plugin_us": plugin_us, "touches": counted, "expected_touches": expected,
            "claimed": claimed, "holds": judged(model_us, plugin_us, claimed, counted, expected)}


def number(value: float | None) -> str:
    """Return a figure with four digits in all, or a dash if there is none, in 11 columns."""
    if value is None:
        return f"{'-':>11}"
    return f"{value:11.{3 if value < 10 else 2 if value < 100 else 1 if value < 1000 else 0}f}"


def reason(why: str) -> str:
    return textwrap.fill(why, WIDTH, initial_indent="    not claimed: ", subsequent_indent=6 * " ", break_long_words=False,
                         break_on_hyphens=False)


def row_lines(row: dict[str, Any]) -> Iterator[str]:
    start = f"  {row['name']:31} {row['source']:7} {number(row['published'])} {number(row['measured'])}"
    unit, deviation = row["unit"] or "", row["deviation_percent"]
    if deviation is None:
        yield f"{start} {unit}".rstrip()
    else:
        yield f"{start} {unit:4} {deviation:+7.1f} %" + ("" if row["holds"] else f"   outside {TOLERANCE} %")
    if row["not_claimed"]:
        yield reason(row["not_claimed"])


def virtual_lines(document: dict[str, Any]) -> Iterator[str]:
    yield f"{'On the virtual clock':41} {'published':>11} {'measured':>11}"
    for profile in document["profiles"]:
        yield f"{profile['name']}: {profile['about']}"
        for row in profile["rows"]:
            yield from row_lines(row)


def live_lines(live: list[dict[str, Any]]) -> Iterator[str]:
    """Return the lines about the runs in real time, none without such a run."""
    if live:
        yield ""
        yield f"{'The plugin, through NBD in real time':41} {'model, us':>11} {'plugin, us':>11}"
    for run in live:
        percent = (run["plugin_us"] / run["model_us"] - 1) * 100
        off = run["claimed"] and abs(percent) > LIVE_TOLERANCE
        yield (f"  {run['profile']:39} {number(run['model_us'])} {number(run['plugin_us'])}      {percent:+7.1f} %"
               + (f"   outside {LIVE_TOLERANCE} %" if off else ""))
        if run["touches"] != run["expected_touches"]:
            yield f"    counted {run['touches']} touches, not {run['expected_touches']}"
        if not run["claimed"]:
            yield reason("the transport takes about as long as the drive")


def text(document: dict[str, Any]) -> str:
    """Return the figures as lines of text."""
    verdict = ("all that is claimed is within its tolerance" if document["within"] else
               "there are claimed figures outside their tolerance")
    return "\n".join([*virtual_lines(document), *live_lines(document["live"]), "", verdict, ""])
