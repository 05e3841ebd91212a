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
import sys
import time
from pathlib import Path

from align_reports import folder, output

from ..machines import remote
from ..paths import OUT, REPO, say
from .answers import FORMAT, answers, drawn
from .fleet_run import ALIGNED, HOSTS, interval, scraped, started
from .panels import FLEET, panels
from .picture import Stretch

FINE, BROKEN = 0, 2
PICTURE = REPO / "Documentation/admin/fleet-dashboard.svg"
# Longer than the five minutes of the rules' rates, so that the end of each stretch shows it alone.
SECONDS = 420
# The host that is mended.
MENDED = HOSTS[0].name


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="lab.dashboard.fleet", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=SECONDS, metavar="N",
                        help=f"length of the loads before and after {MENDED} is mended (default: {SECONDS})")
    parser.add_argument("--out", type=Path, default=OUT / "fleet-dashboard", metavar="DIR",
                        help="folder for answers, logs and Prometheus' data (default: out/fleet-dashboard)")
    parser.add_argument("--picture", type=Path, default=PICTURE, metavar="FILE",
                        help="the SVG (default: Documentation/admin/fleet-dashboard.svg)")
    parser.add_argument("--again", action="store_true", help="draw the answers of the last run, without a run")
    return parser.parse_args(argv)


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
    given = arguments(argv)
    try:
        with folder.exclusive(given.out):
            return make(given)
    except (folder.InUse, remote.GuestError, RuntimeError, OSError, ValueError) as error:
        print(f"fleet-dashboard: {error}", file=sys.stderr)
        return BROKEN


if __name__ == "__main__":
    output.run("fleet-dashboard", main)
