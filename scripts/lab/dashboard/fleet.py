# SPDX-License-Identifier: GPL-2.0
"""The picture of the dashboard of many hosts, from real loads in three guests.

Boots three guests with disks and loads that differ, writes the metrics of check and top as the services do, and has them
scraped by a node_exporter for each guest, and Prometheus, of this machine. After a while the shifted partition of the first
one is made anew at a boundary. Sends the queries of fleet.json as Grafana would, writes the answers as fleet.json below
--out, and draws them as an SVG.
"""

from __future__ import annotations

import argparse
import shutil
import time

from align_reports import folder, output

from ..paths import say
from .answers import FORMAT, answers, drawn
from .command import FINE, arguments, made
from .fleet_run import ALIGNED, HOSTS, interval, scraped, started
from .panels import FLEET, panels
from .picture import Stretch

# Longer than the five minutes of the rules' rates, so that the end of each stretch shows it alone.
SECONDS = 420
# The host that is mended.
MENDED = HOSTS[0].name


def make(given: argparse.Namespace) -> int:
    file = given.out / "fleet.json"
    if not given.again:
        for name in ("textfiles", "data", "log"):
            shutil.rmtree(given.out / name, ignore_errors=True)
        with started(given.out, seconds=2 * given.seconds, every=interval()) as (machines, monitors):
            begin = scraped(monitors, time.time())
            say(f"fleet-dashboard: the loads of {', '.join(machines)}, {given.seconds:g} s")
            for machine in machines.values():
                machine.begin(2 * given.seconds + 120)
            time.sleep(given.seconds)
            machine, change = machines[MENDED], time.time()
            machine.end()
            machine.partition(ALIGNED)
            machine.check()
            machine.begin(given.seconds + 60)
            mended = scraped(monitors, time.time())
            say(f"fleet-dashboard: the partition of {MENDED} begins at sector {ALIGNED}, {given.seconds:g} s")
            time.sleep(given.seconds)
            end = time.time()
            for machine in machines.values():
                machine.end()
            stretches = [Stretch("as found", begin, change), Stretch(f"{MENDED} mended", mended, end)]
            folder.save(file, FORMAT, answers(monitors, panels(FLEET), stretches,
                                              f"The dashboard's panels over {len(HOSTS)} hosts, of which one is mended"))
    given.picture.write_text(drawn(folder.load(file, FORMAT, "fleet-dashboard")))
    say(f"{given.picture}; the answers: {file}")
    return FINE


def main(argv: list[str]) -> int:
    given = arguments(argv, "lab.dashboard.fleet", __doc__, "fleet-dashboard", SECONDS,
                      f"loads before and after {MENDED} is mended")
    return made(given, "fleet-dashboard", make)


if __name__ == "__main__":
    output.run("fleet-dashboard", main)
