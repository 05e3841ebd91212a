# SPDX-License-Identifier: GPL-2.0
"""The panels of the dashboards, and their queries as Grafana would send them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from ..paths import REPO

DASHBOARD = REPO / "scripts/packaging/monitoring/dashboard.json"
FLEET = REPO / "scripts/packaging/monitoring/fleet.json"


@dataclass(frozen=True)
class Target:
    """A query of a panel. legend: legendFormat."""

    query: str
    legend: str

    def named(self, labels: dict[str, str]) -> str:
        """Return the legend of a series."""
        return re.sub(r"{{\s*(\w+)\s*}}", lambda found: labels.get(found[1], ""), self.legend)


@dataclass(frozen=True)
class Frame:
    """How a panel looks. unit: Grafana's name of it; least: where the axis begins, if not at the least value; x, y: its place."""

    title: str
    unit: str
    stacked: bool
    least: float | None
    x: int
    y: int


@dataclass(frozen=True)
class Panel(Frame):
    """A panel with its queries."""

    targets: tuple[Target, ...]


def panels(dashboard: Path = DASHBOARD) -> list[Panel]:
    """Return the panels of a dashboard, in its order."""
    found = []
    for each in json.loads(dashboard.read_text())["panels"]:
        defaults, place = each["fieldConfig"]["defaults"], each["gridPos"]
        found.append(Panel(each["title"], defaults["unit"], defaults["custom"]["stacking"]["mode"] == "normal",
                           defaults.get("min"), place["x"], place["y"],
                           tuple(Target(target["expr"], target["legendFormat"]) for target in each["targets"])))
    return found


def rate_interval(step: float, scraped: float) -> float:
    """Return Grafana's $__rate_interval in seconds, of a data source with this interval between scrapes."""
    return max(step + scraped, 4 * scraped)


def filled(query: str, interval: float) -> str:
    """Replace the variables: all hosts, all devices, and the interval in seconds."""
    variables = {"$__rate_interval": f"{round(interval * 1000)}ms", "$instance": ".*", "$name": ".*", "$device": ".*"}
    for name, value in variables.items():
        query = query.replace(name, value)
    if "$" in query:
        raise ValueError(f"a variable is not replaced: {query}")
    return query
