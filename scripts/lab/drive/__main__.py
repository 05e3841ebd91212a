# SPDX-License-Identifier: GPL-2.0
"""The published figures beside those of the drive models, as text and as a page; `make bench-drive` runs it.

Exit status: 0 if all that is claimed is within its tolerance, 1 if something is not, 2 for bad usage or a file that cannot be
written, 3 if a model or the plugin could not be run.
"""

from __future__ import annotations

import argparse
import json
import sys
from html import escape
from pathlib import Path
from typing import Any

from align_reports import output
from align_reports.page import Heading, document, key, panel, table
from align_reports.svg import svg

from ..paths import OUT, REPO, say
from . import documents, picture, published

FINE, OUTSIDE, BROKEN, DRIVE = 0, 1, 2, 3
PICTURE = REPO / "Documentation/develop/drive512e.svg"
DOCUMENT = REPO / "Documentation/develop/drive512e.rst"
# What the document names as the program.
PROGRAM = "published"
HEADINGS = (Heading("figure", title=True), Heading("source", word=True), Heading("unit", word=True), Heading("published"),
            Heading("measured"), Heading("deviation"), Heading("not claimed because", word=True))
KEY = (("coalesce", "claimed"), ("report", "not claimed"), ("host", "tolerance"))


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="lab.drive", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="PROFILE", help="this profile only")
    parser.add_argument("--virtual", action="store_true", help="leave out the plugin in real time")
    parser.add_argument("--json", type=Path, default=OUT / "bench-drive.json", metavar="FILE",
                        help="where to write the figures (default: out/bench-drive.json)")
    parser.add_argument("--page", type=Path, default=OUT / "bench-drive.html", metavar="FILE",
                        help="the page (default: out/bench-drive.html)")
    parser.add_argument("--documents", action="store_true",
                        help="renew picture and table of Documentation/develop/drive512e.rst, too")
    given = parser.parse_args(argv)
    if given.only is not None and given.only not in published.names():
        parser.error(f"--only {given.only}: no profile with published figures; give one of {', '.join(published.names())}")
    if given.only and given.documents:
        parser.error("--documents: the document is of all profiles; leave out --only")
    return given


def cells(row: dict[str, Any]) -> list[str]:
    deviation = row["deviation_percent"]
    return [row["name"], row["source"], row["unit"] or "", picture.figure(row["published"]), picture.figure(row["measured"]),
            picture.figure(None) if deviation is None else f"{deviation:+.1f} %", row["not_claimed"] or ""]


def section(profile: dict[str, Any], tolerance: float) -> str:
    """Return a profile's part of the page: its drawings, then the figures."""
    parts, height = picture.rows(profile["rows"], tolerance, 0)
    drawings = [panel("published : measured", svg(height, picture.said(profile), parts))]
    if "chunks" in profile:
        mark = picture.saturation(profile)
        parts, height = picture.curve(profile["chunks"], 8, mark)
        drawings.append(panel("random reads by size", svg(height, f"Throughput of {profile['name']} by request size", parts),
                              "published to saturate at the line" if mark else ""))
    return (f"<h2>{escape(profile['name'])}</h2>\n<p>{escape(profile['about'])}</p>\n"
            f'<div class="panels">{"".join(drawings)}</div>\n' + table(HEADINGS, [[("", cells(row)) for row in profile["rows"]]]))


def live(found: list[dict[str, Any]]) -> str:
    """Return the part about the runs in real time."""
    if not found:
        return ""
    headings = (Heading("profile", title=True),
                *(Heading(name) for name in ("model, us", "plugin, us", "touches", "verdict")))
    lines = [("", [each["profile"], picture.figure(each["model_us"]), picture.figure(each["plugin_us"]),
                   str(each["touches"]),
                   ("within" if each["holds"] else "outside") if each["claimed"] else "not claimed"]) for each in found]
    return ("<h2>In real time</h2>\n<p>The plugin, through NBD, against the model: the mean time of a request.</p>\n"
            + table(headings, [lines]))


def page(figures: dict[str, Any]) -> str:
    tolerance = figures["tolerance_percent"]
    within = figures["within"]
    verdict = (f"All that is claimed is within {tolerance:g} % of what is published." if within else
               f"There are claimed figures outside {tolerance:g} % of what is published.")
    body = [f'<p class="verdict{"" if within else " bad"}">{verdict}</p>', key(KEY),
            *(section(profile, tolerance) for profile in figures["profiles"]), live(figures["live"])]
    return document("drive512e: model and publications", "\n".join(body), picture.STYLE)


def main(argv: list[str]) -> int:
    given = arguments(argv)
    try:
        figures = published.figures(given.only)
        if given.documents:
            PICTURE.write_text(picture.draw(figures))
            documents.write(DOCUMENT, PROGRAM, published.text(figures))
            say(f"the document: {PICTURE}, {DOCUMENT}")
        if not given.virtual:
            figures["live"] = [published.real_time(profile["name"]) for profile in figures["profiles"]]
            figures["within"] &= all(run["holds"] for run in figures["live"])
        print(published.text(figures), end="")
        given.json.write_text(json.dumps(figures))
        given.page.write_text(page(figures))
        say(f"the page: {given.page}")
    except ChildProcessError as error:
        print(f"bench-drive: {error}", file=sys.stderr)
        return DRIVE
    except (OSError, ValueError) as error:
        print(f"bench-drive: {error}", file=sys.stderr)
        return BROKEN
    return FINE if figures["within"] else OUTSIDE


if __name__ == "__main__":
    output.run("bench-drive", main)
