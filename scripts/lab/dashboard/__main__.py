# SPDX-License-Identifier: GPL-2.0
"""The picture of the dashboard, from a run of a real load on an emulated drive.

Boots a guest with an align device, lets the same load run in mode report, pad and coalesce, writes the metrics as
align-metrics.timer does, and has them scraped by node_exporter and Prometheus of this machine. Sends the queries of
dashboard.json as Grafana would, writes the answers as dashboard.json below --out, and draws them as an SVG.
"""

from __future__ import annotations

import argparse
import math
import re
import shutil
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from align_reports import folder, output

from ..machines import remote
from ..paths import OUT, REPO, say
from . import picture
from .monitors import Monitors
from .panels import Frame, filled, panels, rate_interval
from .run import MODES, Phase, started

FINE, BROKEN = 0, 2
PICTURE = REPO / "Documentation/dashboard.svg"
TIMER = REPO / "scripts/packaging/systemd/align-metrics.timer"
SECONDS = 180
# Of the document of answers.
FORMAT = 1


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="lab.dashboard", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=SECONDS, metavar="N",
                        help=f"length of the load in each mode (default: {SECONDS})")
    parser.add_argument("--out", type=Path, default=OUT / "dashboard", metavar="DIR",
                        help="folder for answers, logs and Prometheus' data (default: out/dashboard)")
    parser.add_argument("--picture", type=Path, default=PICTURE, metavar="FILE",
                        help="the SVG (default: Documentation/dashboard.svg)")
    parser.add_argument("--again", action="store_true", help="draw the answers of the last run, without a run")
    return parser.parse_args(argv)


def interval() -> float:
    """Return the seconds between two runs of the timer, which is as often as Prometheus scrapes."""
    [found] = re.findall(r"^OnUnitActiveSec=(\d+)$", TIMER.read_text(), re.MULTILINE)
    return float(found)


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


def make(given: argparse.Namespace) -> int:
    file = given.out / "dashboard.json"
    if not given.again:
        for name in ("textfiles", "data", "log"):
            shutil.rmtree(given.out / name, ignore_errors=True)
        phases = []
        with started(given.out, seconds=given.seconds * len(MODES), every=interval()) as run:
            for mode in MODES:
                say(f"dashboard: the load in mode {mode}, {given.seconds:g} s")
                phases.append(run.phase(mode, given.seconds))
            folder.save(file, FORMAT, answers(run.monitors, phases))
    given.picture.write_text(drawn(folder.load(file, FORMAT, "dashboard")))
    say(f"{given.picture}; the answers: {file}")
    return FINE


def main(argv: list[str]) -> int:
    given = arguments(argv)
    try:
        with folder.exclusive(given.out):
            return make(given)
    except (folder.InUse, remote.GuestError, RuntimeError, OSError, ValueError) as error:
        print(f"dashboard: {error}", file=sys.stderr)
        return BROKEN


if __name__ == "__main__":
    output.run("dashboard", main)
