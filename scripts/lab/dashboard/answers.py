# SPDX-License-Identifier: GPL-2.0
"""What the panels' queries answer over a run, as a document, and the picture of such a document."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from . import picture
from .monitors import Monitors
from .panels import Frame, Panel, filled, rate_interval

# Of the document.
FORMAT = 2


def answers(monitors: Monitors, asked: Sequence[Panel], stretches: Sequence[picture.Stretch], said: str) -> dict[str, Any]:
    """Return what the queries of panels answer over the time of the stretches, as a document.

    stretches   their times in seconds since 1970
    said        what the run was, in words
    """
    step = monitors.scraped
    begin, end = stretches[0].begin, stretches[-1].end
    window = rate_interval(step, monitors.scraped)
    charts = []
    for panel in asked:
        curves = []
        for target in panel.targets:
            for labels, points in monitors.over(filled(target.query, window), begin, end, step):
                curves.append({"legend": target.named(labels),
                               "points": [(at - begin, value) for at, value in points if math.isfinite(value)]})
        charts.append({**{each.name: getattr(panel, each.name) for each in fields(Frame)}, "step": step, "curves": curves})
    return {"said": said, "charts": charts, "span": end - begin,
            "stretches": [{"name": each.name, "begin": each.begin - begin, "end": each.end - begin} for each in stretches],
            "rate_interval_s": window, "scrape_interval_s": monitors.scraped}


def drawn(found: dict[str, Any]) -> str:
    """Return the picture of a document of answers()."""
    charts = [picture.Chart(**{**each, "curves": [picture.Curve(curve["legend"], [(at, value) for at, value in curve["points"]])
                                                  for curve in each["curves"]]}) for each in found["charts"]]
    stretches = [picture.Stretch(**each) for each in found["stretches"]]
    return picture.draw(charts, stretches, found["span"], f"{found['said']}: {', '.join(each.title for each in charts)}")
