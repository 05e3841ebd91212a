# SPDX-License-Identifier: GPL-2.0
"""The loop over hosts in fleet.rst leaves what alignctl fleet ranks, and shows a host that did not answer; Prometheus reads the
queries, and they ask for metrics that there are."""

import json
import os
import re
import subprocess
from pathlib import Path

from lab.pace import patience
from lab.paths import OUT

DOCUMENT = Path(__file__).resolve().parents[1] / "admin" / "fleet.rst"
IO = 3
# In place of ssh: the host is this machine, unless it is "gone".
SSH = """#!/bin/sh
[ "$1" = -n ] && [ "$2" != gone ] || exit 255
shift 2
exec "$@"
"""


def loop():
    """The commands of the first block with the prompt of an ordinary shell."""
    block = re.search(r"^(    \$ .*\n(?:    .*\n)*)", DOCUMENT.read_text(), re.M)[1]
    return re.sub(r"^    [$>] ", "", block, flags=re.M)


def test_the_loop_by_ssh_leaves_an_answer_of_each_host(tmp_path):
    (tmp_path / "bin").mkdir()
    ssh = tmp_path / "bin/ssh"
    ssh.write_text(SSH)
    ssh.chmod(0o755)
    (tmp_path / "hosts").write_text("web1\ngone\ndb1.example.com\n")
    environment = {**os.environ, "PATH": f"{ssh.parent}:{OUT / 'bin'}:{os.environ['PATH']}"}
    subprocess.run(["bash", "-c", loop()], cwd=tmp_path, env=environment, timeout=patience(60), check=False)
    done = subprocess.run([OUT / "bin/alignctl", "fleet", "answers", "--json"], cwd=tmp_path, env=environment, text=True,
                          capture_output=True, timeout=patience(60), check=False)
    assert (done.returncode, done.stderr) == (IO, "alignctl fleet: answers/gone.check.json: is empty: make it again\n")
    assert {host["host"] for host in json.loads(done.stdout)["hosts"]} == {"web1", "db1.example.com"}


def queries_of_the_document():
    section = re.search(r"Some queries(.*?)^Rules, alerts", DOCUMENT.read_text(), re.M | re.S)
    return [line for line in re.findall(r"^ {4}(.*)$", section[1], re.M)
            if not line.startswith(("# ", "alignctl_", "systemctl "))]


def test_prometheus_reads_the_queries_and_they_ask_for_what_there_is(tmp_path):
    queries = queries_of_the_document()
    assert len(queries) > 4
    rules = tmp_path / "rules.yml"
    rules.write_text(json.dumps({"groups": [{"name": "x", "rules": [{"record": f"query:{number}", "expr": query}
                                                                     for number, query in enumerate(queries)]}]}))
    done = subprocess.run(["promtool", "check", "rules", rules], text=True, capture_output=True, timeout=patience(60),
                          check=False)
    assert done.returncode == 0, done.stderr
    # as --help lists them
    shown = "".join(subprocess.run([OUT / "bin/alignctl", verb, "--help"], text=True, capture_output=True, check=True).stdout
                    for verb in ("check", "top"))
    asked = set(re.findall(r"alignctl_\w+", " ".join(queries)))
    assert asked <= set(re.findall(r"^ (alignctl_\w+)$", shown, re.M)), asked


# Two hosts, whose disks get 12 touches of 6 writes a second: one of 7200 rpm, one of 5400, an SSD with units of 16 KiB that is
# sent 4 KiB for each, which is rated for two years of what it writes besides, and a disk that says nothing.
DISKS = {("db1", "sda"): 1 / 120, ("db1", "sdb"): 1 / 90, ("db2", "sda"): 0, ("db2", "sdb"): None}
A_SECOND = {"touches_total": 12, "misaligned_writes_total": 6, "written_bytes_total": 12 * 4096,
            "touched_bytes_total": 12 * 16384}


def test_prometheus_makes_of_touches_what_the_document_says(tmp_path):
    series, minutes = [], 90
    for (host, device), revolution in DISKS.items():
        labels = f'{{instance="{host}",device="{device}"}}'
        series += [{"series": f"alignctl_disk_{name}{labels}", "values": f"0+{60 * rate}x{minutes}"}
                   for name, rate in A_SECOND.items()]
        if revolution is not None:
            series.append({"series": f'alignctl_check_revolution_seconds{labels[:-1]},source="drive"}}',
                           "values": f"{revolution}x{minutes}"})
    series.append({"series": 'alignctl_check_rated_writes_bytes{instance="db2",device="sda",source="hwdb"}',
                   "values": f"{2 * 365 * 86400 * 12 * 12288}x{minutes}"})
    shares, extra, unknown = [query for query in queries_of_the_document() if "revolution_seconds" in query]
    [worn] = [query for query in queries_of_the_document() if "rated_writes" in query]
    expected = {shares: {("db1", "sda"): 6 / 120, ("db1", "sdb"): 6 / 90},
                extra: {("db2", "sda"): 86400 * 12 * 12288}, unknown: {("db2", "sdb"): 12}, worn: {("db2", "sda"): 0.5}}
    tests = tmp_path / "tests.yml"
    tests.write_text(json.dumps({"tests": [{"interval": "1m", "input_series": series, "promql_expr_test": [
        {"expr": f"round(1000 * ({query}))", "eval_time": f"{minutes}m", "exp_samples": [
            {"labels": f'{{instance="{host}",device="{device}"}}', "value": round(1000 * value)}
            for (host, device), value in found.items()]} for query, found in expected.items()]}]}))
    done = subprocess.run(["promtool", "test", "rules", tests], text=True, capture_output=True, timeout=patience(60), check=False)
    assert done.returncode == 0, done.stdout + done.stderr
