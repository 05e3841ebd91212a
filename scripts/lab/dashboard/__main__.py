# SPDX-License-Identifier: GPL-2.0
"""The picture of the dashboard, from a run of a real load on an emulated drive.

Boots a guest with an align device, lets the same load run in mode report, pad and coalesce, writes the metrics as
align-metrics.timer does, and has them scraped by node_exporter and Prometheus of this machine. Sends the queries of
dashboard.json as Grafana would, writes the answers as dashboard.json below --out, and draws them as an SVG.
"""

from __future__ import annotations

import argparse
import re
import shutil

from align_reports import folder, output

from ..paths import REPO, say
from .answers import FORMAT, answers, drawn
from .command import FINE, arguments, made
from .panels import panels
from .picture import Stretch
from .run import MODES, started

TIMER = REPO / "scripts/packaging/systemd/align-metrics.timer"
SECONDS = 180


def interval() -> float:
    """Return the seconds between two runs of the timer, which is as often as Prometheus scrapes."""
    [found] = re.findall(r"^OnUnitActiveSec=(\d+)$", TIMER.read_text(), re.MULTILINE)
    return float(found)


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
            stretches = [Stretch(phase.mode, phase.before, phase.after) for phase in phases]
            said = f"The dashboard's panels over the same load in mode {', '.join(MODES)}, one after another"
            found = answers(run.monitors, panels(), stretches, said)
            folder.save(file, FORMAT, {**found, "phases": [vars(phase) for phase in phases]})
    given.picture.write_text(drawn(folder.load(file, FORMAT, "dashboard")))
    say(f"{given.picture}; the answers: {file}")
    return FINE


def main(argv: list[str]) -> int:
    given = arguments(argv, "lab.dashboard", __doc__, "dashboard", SECONDS, "load in each mode")
    return made(given, "dashboard", make)


if __name__ == "__main__":
    output.run("dashboard", main)
