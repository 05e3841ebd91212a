# SPDX-License-Identifier: GPL-2.0
"""What the panels' queries answer over a run, as a document, and the picture of such a document."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

from . import picture
from .monitors import Monitors
from .panels import Frame, filled, panels, rate_interval
from .run import Phase

# Of the document.
FORMAT = 1


def answers(monitors: Monitors, phases: list[Phase]) -> dict[str, Any]:
    """Return what the panels' queries answer over the time of the phases, as a document."""
    step = monitors.scraped
    begin, end = phases[0].before, phases[-1].after
    window = rate_interval(step, monitors.scraped)
    charts = []
    for panel in panels():
        curves = []
        for target in panel.targets:
            for labels, points in monitors.over(filled(target.query, window), begin, end, step):
                curves.append({"legend": target.named(labels),
                               "points": [(at - begin, value) for at, value in points if math.isfinite(value)]})
        charts.append({**{each.name: getattr(panel, each.name) for each in fields(Frame)}, "step": step, "curves": curves})
    return {"charts": charts, "span": end - begin,
            "stretches": [{"mode": phase.mode, "begin": phase.before - begin, "end": phase.after - begin}
                          for phase in phases],
            "phases": [vars(phase) for phase in phases], "rate_interval_s": window, "scrape_interval_s": monitors.scraped}


def drawn(found: dict[str, Any]) -> str:
    """Return the picture of a document of answers()."""
    charts = [picture.Chart(**{**each, "curves": [picture.Curve(curve["legend"], [(at, value) for at, value in curve["points"]])
                                                  for curve in each["curves"]]}) for each in found["charts"]]
    stretches = [picture.Stretch(**each) for each in found["stretches"]]
    modes = ", ".join(stretch.mode for stretch in stretches)
    said = (f"The dashboard's panels over the same load in mode {modes}, one after another: "
            f"{', '.join(each.title for each in charts)}")
    return picture.draw(charts, stretches, found["span"], said)
