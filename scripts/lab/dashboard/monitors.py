# SPDX-License-Identifier: GPL-2.0
"""node_exporter, one for each host, and Prometheus, all on this machine's loopback: what they serve, and answers to queries."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..pace import Limit, patience
from ..paths import REPO

RULES = REPO / "scripts/packaging/monitoring/align.rules.yml"
FLEET_RULES = REPO / "scripts/packaging/monitoring/fleet.rules.yml"
# A series of a range: its labels, and the points (time in seconds, value) that there are.
Series = tuple[dict[str, str], list[tuple[float, float]]]


def free_ports(number: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)]
        return [each.getsockname()[1] for each in sockets]


def ask(port: int, path: str, **query: Any) -> str:
    """Return the answer to a request as text. Raises URLError, of which HTTPError is one, or ConnectionError."""
    url = f"http://127.0.0.1:{port}{path}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(url, timeout=patience(20)) as answer:
        return answer.read().decode()


@contextlib.contextmanager
def serving(folder: Path, port: int, ready: str, *command: object) -> Iterator[None]:
    """Run a daemon that answers on its port; `ready` is the path of an address that answers then."""
    limit = Limit(30)
    file = folder / f"{port}.log"
    with open(file, "w") as log, subprocess.Popen([*map(str, command)], stdout=log, stderr=log) as running:
        try:
            while True:
                try:
                    ask(port, ready)
                    break
                except (urllib.error.URLError, ConnectionError):
                    if running.poll() is not None or limit.over():
                        raise RuntimeError(f"{command[0]} does not answer: {file.read_text()}") from None
                    time.sleep(0.1)
            yield
        finally:
            running.terminate()


@dataclass(frozen=True)
class Monitors:
    """A Prometheus that scrapes node_exporters, each of which serves the files of a folder.

    exporters   their ports, by the name of the host that they stand for
    scraped     seconds between two scrapes
    """

    exporters: dict[str, int]
    prometheus: int
    scraped: float

    def served(self, host: str) -> str:
        """Return the metrics that the node_exporter of a host serves now."""
        return ask(self.exporters[host], "/metrics")

    def _data(self, path: str, **query: Any) -> Any:
        """Return the data of an answer. Raises RuntimeError with Prometheus' words if it refuses a query."""
        try:
            return json.loads(ask(self.prometheus, path, **query))["data"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{query}: {error.read().decode()}") from error

    def at(self, query: str, when: float | None = None) -> list[tuple[dict[str, str], float]]:
        """Return (labels, value) of each series of a query, at a time in seconds, or now."""
        given = {} if when is None else {"time": f"{when:.3f}"}
        return [(each["metric"], float(each["value"][1]))
                for each in self._data("/api/v1/query", query=query, **given)["result"]]

    def over(self, query: str, begin: float, end: float, step: float) -> list[Series]:
        """Return the series of a query over a range of time."""
        found = self._data("/api/v1/query_range", query=query, start=f"{begin:.3f}", end=f"{end:.3f}", step=f"{step:.3f}")
        return [(each["metric"], [(float(at), float(value)) for at, value in each["values"]]) for each in found["result"]]

    def alerts(self) -> dict[str, str]:
        """Return {name: "pending" or "firing"} of the alerts whose conditions hold."""
        return {each["labels"]["alertname"]: each["state"] for each in self._data("/api/v1/alerts")["alerts"]}


@contextlib.contextmanager
def watching(folder: Path, hosts: dict[str, Path], scraped: float) -> Iterator[Monitors]:
    """Run both programs of this machine, with the rules; their own files lie in `folder`.

    hosts   {name of a host, which the label instance has: folder of the files that its node_exporter serves}
    """
    prometheus, *ports = free_ports(1 + len(hosts))
    exporters = dict(zip(hosts, ports, strict=True))
    every = f"{round(scraped * 1000)}ms"
    config = folder / "prometheus.yml"
    config.write_text(f"""
global: {{scrape_interval: {every}, scrape_timeout: {every}, evaluation_interval: {every}}}
rule_files: [{RULES}, {FLEET_RULES}]
scrape_configs:
  - job_name: node
    static_configs: {json.dumps([{"targets": [f"127.0.0.1:{port}"], "labels": {"instance": host}}
                                 for host, port in exporters.items()])}
""")
    with contextlib.ExitStack() as running:
        for host, port in exporters.items():
            running.enter_context(serving(
                folder, port, "/metrics", "prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{port}",
                "--collector.disable-defaults", "--collector.textfile", f"--collector.textfile.directory={hosts[host]}"))
        running.enter_context(serving(
            folder, prometheus, "/-/ready", "prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address=127.0.0.1:{prometheus}"))
        yield Monitors(exporters, prometheus, scraped)
