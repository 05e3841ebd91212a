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

DOCUMENT = Path(__file__).resolve().parents[1] / "fleet.rst"
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


def test_prometheus_reads_the_queries_and_they_ask_for_what_there_is(tmp_path):
    section = re.search(r"What to ask(.*?)^How many\n", DOCUMENT.read_text(), re.M | re.S)
    queries = [line for line in re.findall(r"^ {4}(.*)$", section[1], re.M)
               if not line.startswith(("# ", "alignctl_", "systemctl "))]
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
