# SPDX-License-Identifier: GPL-2.0
"""What the metrics of thousands of hosts cost a Prometheus: `make bench-prometheus`.

    scripts/python -m lab.bench.prometheus [--hosts N] [--disks N] [--minutes N] [--json]

Each host is a target of its own, with what its node_exporter would serve of the files of `alignctl check` and `alignctl top`,
and nothing else. A few targets with honor_labels would be less work, but no figure of a user's Prometheus: each target has its
own connection, its own five series of the scrape, and its own time within the interval. One program serves them all: a host is
the path of an address, and its name the label instance.

The metrics of check are as alignctl prints them of a made-up host, with every eighth disk shifted, one of MODELS models,
and a time of revolution for three of four disks; those of top are written here, and count on between scrapes. The rules are
those of fleet.rules.yml. Prometheus is that of this machine, and shares it with the program that serves.

Prints series, scrapes, rules, memory and the queries of fleet.json, or all of it as JSON. Exit status: 0 measured, 1 a scrape or
a rule failed, so that the figures are of no use, 2 it could not run.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import math
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..dashboard import monitors
from ..dashboard.panels import FLEET, filled, panels
from ..paths import OUT, fail, say
from .check import make

ALIGNCTL = OUT / "bin/alignctl"
HOSTS, DISKS, MINUTES, INTERVAL = 5000, 12, 15, 60
MODELS = 40
# Of one disk of four, which does not rotate, 0.
REVOLUTIONS = (60 / 7200, 60 / 7200, 60 / 5400, 0)
FINE, FAILED, UNABLE = 0, 1, 2
# Writes a second of a disk, at least.
WRITES, BLOCK = 50, 4096
# A write of a load: writes, those that are misaligned, and begin inside a block; touches; bytes, and bytes of the blocks touched.
LOADS = {"whole": (1, 0, 0, 0, BLOCK, BLOCK), "shifted": (1, 1, 1, 2, BLOCK, 2 * BLOCK), "small": (1, 1, 0, 1, 512, BLOCK)}


def printed(root: Path, disks: int) -> str:
    """Return the metrics that check prints of a made-up host."""
    make(root, disks, 0, b"")
    done = subprocess.run([ALIGNCTL, "check", "--format", "prometheus"], capture_output=True, text=True,
                          env={**os.environ, "ALIGNCTL_SYSROOT": str(root)})
    if done.returncode:
        fail(f"alignctl check: {done.stderr.strip()}")
    return done.stdout


def family(name: str, kind: str, samples: list[str]) -> str:
    return "".join([f"# HELP {name} as alignctl says it\n# TYPE {name} {kind}\n", *(f"{name}{sample}\n" for sample in samples)])


class Host:
    """A made-up host with its number; check: what check prints of such a one."""

    def __init__(self, number: int, check: str) -> None:
        self.number = number
        self.devices = sorted(set(re.findall(r'_disk_info{device="([^"]*)"', check)))
        self.shifted = set(re.findall(r'_shift_bytes{device="([^"]*)".*} [1-9]', check))
        # Times of a revolution are added below, so that there are some with any sysfs of the made-up host.
        check = re.sub(r"(# \w+ )?alignctl_check_revolution_seconds.*\n", "", check)
        check = re.sub(r'model="[^"]*"', lambda _: f'model="model {number % MODELS}"', check)
        check = re.sub(r'wwn="naa.[^"]{9}', f'wwn="naa.5{number:08x}', check)
        begin = re.search(r"^alignctl_check_timestamp_seconds \d+\n", check, re.M)
        if not begin:
            raise ValueError("check does not say when it answered")
        self._before, self._after = check[:begin.start()], check[begin.end():] + family(
            "alignctl_check_revolution_seconds", "gauge",
            [f'{{device="{device}",source="drive"}} {REVOLUTIONS[(number + index) % len(REVOLUTIONS)]:.15g}'
             for index, device in enumerate(self.devices)])

    def check(self) -> str:
        """Return align-check.prom, as it is after an answer of now."""
        return f"{self._before}alignctl_check_timestamp_seconds {time.time():.0f}\n{self._after}"

    def disks(self, seconds: float) -> str:
        """Return align-disks.prom, some seconds after the counters began; no disk counts as fast as the next one."""
        columns: dict[str, list[int]] = {name: [] for name in ("writes", "misaligned_writes", "inside_writes", "touches",
                                                              "written_bytes", "touched_bytes")}
        for index, device in enumerate(self.devices):
            writes = round(seconds * WRITES * (1 + (self.number + 7 * index) % 13 / 13))
            shifted, small = device in self.shifted, (self.number + index) % 4 == 0
            for column, each in zip(columns.values(), LOADS["shifted" if shifted else "small" if small else "whole"]):
                column.append(each * writes)
        return "".join([
            family("alignctl_disk_build_info", "gauge", ['{version="0.1"} 1']),
            family("alignctl_disk_missed_completions_total", "counter", [" 0"]),
            family("alignctl_disk_physical_block_bytes", "gauge",
                   [f'{{device="{device}",source="kernel"}} {BLOCK}' for device in self.devices]),
            *(family(f"alignctl_disk_{name}_total", "counter",
                     [f'{{device="{device}"}} {value}' for device, value in zip(self.devices, values)])
              for name, values in columns.items())])

    def served(self, seconds: float) -> str:
        """Return what node_exporter serves: both files, and what it adds of files."""
        files = family("node_textfile_mtime_seconds", "gauge",
                       [f'{{file="/var/lib/prometheus/node-exporter/{name}.prom"}} {time.time():.0f}'
                        for name in ("align-check", "align-disks")])
        return self.check() + self.disks(seconds) + files


def serve(port: int, hosts: list[Host]) -> None:
    """Answer each request for /<number> by the metrics of that host, until killed."""
    began = time.time()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                number = int(re.match(rb"GET /(\d+)", head)[1])  # type: ignore[index]
                body = hosts[number].served(time.time() - began).encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n")
                writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                await writer.drain()
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", port)
        await server.serve_forever()

    asyncio.run(run())


@contextlib.contextmanager
def serving(folder: Path, hosts: list[Host], interval: float) -> Iterator[monitors.Monitors]:
    """Run the program that serves the hosts, and a Prometheus that scrapes them and itself, with the rules."""
    exporter, prometheus = monitors.free_ports(2)
    targets = [{"targets": [f"127.0.0.1:{exporter}"],
                "labels": {"instance": f"host{host.number:05}", "__metrics_path__": f"/{index}"}}
               for index, host in enumerate(hosts)]
    (folder / "targets.json").write_text(json.dumps(targets))
    every = f"{round(interval * 1000)}ms"
    config = folder / "prometheus.yml"
    config.write_text(f"""
global: {{scrape_interval: {every}, scrape_timeout: {every}, evaluation_interval: {every}}}
rule_files: [{monitors.FLEET_RULES}]
scrape_configs:
  - {{job_name: node, file_sd_configs: [{{files: [{folder}/targets.json]}}]}}
  - {{job_name: prometheus, scrape_interval: 2s, scrape_timeout: 2s, static_configs: [{{targets: ["127.0.0.1:{prometheus}"]}}]}}
""")
    server = multiprocessing.get_context("fork").Process(target=serve, args=(exporter, hosts), daemon=True)
    server.start()
    try:
        with monitors.serving(folder, prometheus, "/-/ready", "prometheus", f"--config.file={config}",
                              f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{prometheus}"):
            yield monitors.Monitors({}, prometheus, interval)
    finally:
        server.kill()


def one(watched: monitors.Monitors, query: str) -> float:
    """Return the value of a query that has one series, or nan."""
    found = watched.at(query)
    return found[0][1] if len(found) == 1 else math.nan


def largest(values: dict[str, float], number: int) -> dict[str, float]:
    return dict(sorted(values.items(), key=lambda each: -each[1])[:number])


def measured(watched: monitors.Monitors, folder: Path, minutes: float) -> dict[str, Any]:
    """Return the figures of the last minutes."""
    span = f"{max(round(minutes * 60), 1)}s"
    rules: dict[str, float] = {}
    groups: dict[str, float] = {}
    for group in json.loads(monitors.ask(watched.prometheus, "/api/v1/rules"))["data"]["groups"]:
        groups[group["name"]] = group["evaluationTime"]
        for rule in group["rules"]:
            rules[rule["name"]] = rule["evaluationTime"]
    queries = {}
    end = time.time()
    for panel in panels(FLEET):
        for target in panel.targets:
            began = time.perf_counter()
            watched.over(filled(target.query, watched.scraped), end - 60 * minutes, end, watched.scraped)
            queries[panel.title] = time.perf_counter() - began
    self = '{job="prometheus"}'
    return {
        "targets_up": one(watched, 'sum(up{job="node"})'),
        "scraped_series": one(watched, 'sum(scrape_samples_scraped{job="node"})'),
        "recorded_series": one(watched, 'count({__name__=~".+:.+"})'),
        "head_series": one(watched, f"prometheus_tsdb_head_series{self}"),
        "head_chunks": one(watched, f"prometheus_tsdb_head_chunks{self}"),
        "samples_per_s": one(watched, 'sum(scrape_samples_scraped{job="node"})') / watched.scraped,
        "scrape_median_s": one(watched, 'quantile(0.5, scrape_duration_seconds{job="node"})'),
        "scrape_p99_s": one(watched, 'quantile(0.99, scrape_duration_seconds{job="node"})'),
        "scrape_max_s": one(watched, f'max(max_over_time(scrape_duration_seconds{{job="node"}}[{span}]))'),
        "scrapes_failed": one(watched, f'sum(count_over_time((up{{job="node"}} == 0)[{span}:])) or vector(0)'),
        "rules_mean_s": one(watched, f"sum(avg_over_time(prometheus_rule_group_last_duration_seconds[{span}]))"),
        "rules_max_s": one(watched, f"sum(max_over_time(prometheus_rule_group_last_duration_seconds[{span}]))"),
        "rule_group_s": groups, "slowest_rules_s": largest(rules, 5),
        "rules_failed": one(watched, "sum(prometheus_rule_evaluation_failures_total)"),
        "rule_runs_missed": one(watched, "sum(prometheus_rule_group_iterations_missed_total)"),
        "rss_bytes": one(watched, f"process_resident_memory_bytes{self}"),
        "rss_max_bytes": one(watched, f"max_over_time(process_resident_memory_bytes{self}[{span}])"),
        "heap_bytes": one(watched, f"max_over_time(go_memstats_heap_inuse_bytes{self}[{span}])"),
        "processor_share": one(watched, f"rate(process_cpu_seconds_total{self}[{span}])"),
        "disk_bytes": sum(path.stat().st_size for path in (folder / "data").rglob("*") if path.is_file()),
        "slowest_panels_s": largest(queries, 3),
    }


def version() -> str:
    said = subprocess.run(["prometheus", "--version"], capture_output=True, text=True, check=True)
    return re.search(r"version (\S+)", said.stdout + said.stderr)[1]  # type: ignore[index]


def table(found: dict[str, Any]) -> str:
    """Return the figures for people."""
    mib = 1 << 20
    return "\n".join([
        f"{found['hosts']} hosts of {found['disks']} disks, scraped every {found['interval_s']:g} s "
        f"for {found['minutes']:g} minutes, Prometheus {found['prometheus']}",
        f"  series    {found['head_series']:.0f} in the head: {found['scraped_series']:.0f} scraped, "
        f"{found['recorded_series']:.0f} recorded, 5 for each target",
        f"  scrapes   {found['targets_up']:.0f} targets up, {1e3 * found['scrape_median_s']:.1f} ms median, "
        f"{1e3 * found['scrape_p99_s']:.1f} ms 99 %, {1e3 * found['scrape_max_s']:.0f} ms longest; "
        f"{found['samples_per_s']:.0f} samples a second; failed: {found['scrapes_failed']:.0f}",
        f"  rules     {found['rules_mean_s']:.2f} s for all, {found['rules_max_s']:.2f} s with the longest time of each group; "
        f"failed: {found['rules_failed']:.0f}, runs missed: {found['rule_runs_missed']:.0f}",
        *(f"            {seconds:.2f} s  {name}" for name, seconds in found["slowest_rules_s"].items()),
        f"  memory    {found['rss_max_bytes'] / mib:.0f} MiB resident at most, {found['rss_bytes'] / mib:.0f} at the end; "
        f"heap {found['heap_bytes'] / mib:.0f} MiB; {found['head_chunks']:.0f} chunks in the head, "
        f"{found['disk_bytes'] / mib:.0f} MiB on disk",
        f"  processor {100 * found['processor_share']:.0f} % of one of {found['processors']}, which run "
        f"{found['load']:.1f} programs",
        *(f"  panel     {seconds:.2f} s  {title}" for title, seconds in found["slowest_panels_s"].items())])


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench-prometheus", description="Measure Prometheus over the metrics of many hosts.")
    parser.add_argument("--hosts", type=int, default=HOSTS)
    parser.add_argument("--disks", type=int, default=DISKS)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="of scraping, the first half of which does not count")
    parser.add_argument("--interval", type=float, default=INTERVAL, metavar="SECONDS",
                        help="between two scrapes and two runs of the rules")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if not shutil.which("prometheus"):
        fail("prometheus is missing: make setup installs it", UNABLE)
    with tempfile.TemporaryDirectory(prefix="bench-prometheus-") as name:
        folder = Path(name)
        check = printed(folder / "host", given.disks)
        hosts = [Host(number, check) for number in range(given.hosts)]
        with serving(folder, hosts, given.interval) as watched:
            say(f"bench-prometheus: scraping {given.hosts} hosts for {given.minutes:g} minutes")
            time.sleep(60 * given.minutes)
            figures = measured(watched, folder, given.minutes / 2)
    found = {"hosts": given.hosts, "disks": given.disks, "minutes": given.minutes, "interval_s": given.interval,
             "prometheus": version(), "processors": os.cpu_count(), "load": os.getloadavg()[1],
             **figures}
    print(json.dumps(found, indent=2) if given.json else table(found))
    failed = found["scrapes_failed"] or found["rules_failed"] or found["rule_runs_missed"]
    return FAILED if failed or found["targets_up"] != given.hosts else FINE


if __name__ == "__main__":
    sys.exit(main())
