# SPDX-License-Identifier: GPL-2.0
"""Ansible's role fetches what alignctl says of each host to where alignctl fleet finds it, and hosts that fail stand alone."""

import json
import os
import subprocess

import pytest

from lab.pace import patience
from lab.paths import OUT, REPO

ALIGNCTL = OUT / "bin/alignctl"
PLAYBOOK = REPO / "scripts/packaging/ansible/fleet.yml"
FINDINGS = 1


def image(path, start):
    """An image of a disk with one partition at that sector."""
    entry = bytes([0, 0, 0, 0, 0x83, 0, 0, 0]) + start.to_bytes(4, "little") + (4096).to_bytes(4, "little")
    path.write_bytes(bytes(446) + entry + bytes(48) + b"\x55\xaa")
    os.truncate(path, 8 << 20)
    return path


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Three hosts, which all are this machine, each with a disk of its own; the last one's alignctl is missing."""
    folder = tmp_path_factory.mktemp("fleet")
    hosts = {"aligned": {"align_check_devices": [str(image(folder / "a disk", 2048))]},
             "shifted.example.com": {"align_check_devices": [str(image(folder / "b", 63))]},
             "failing": {"align_alignctl": "/nonexistent/alignctl"}}
    (folder / "inventory.json").write_text(json.dumps({"all": {"hosts": hosts, "vars": {
        "ansible_connection": "local", "align_become": False, "align_alignctl": str(ALIGNCTL), "align_stats_seconds": 1,
        "align_answers": str(folder / "answers")}}}))
    old = folder / "answers/failing/check.json"
    old.parent.mkdir(parents=True)
    old.write_text('{"format": 1, "devices": [], "findings": []}')
    done = subprocess.run(["/usr/bin/ansible-playbook", "-i", folder / "inventory.json", PLAYBOOK], capture_output=True,
                          text=True, timeout=patience(300), check=False, cwd=folder,
                          env={**os.environ, "ANSIBLE_LOCALHOST_WARNING": "False", "ANSIBLE_HOME": str(folder / "home"),
                               "ANSIBLE_LOCAL_TEMP": str(folder / "local"), "ANSIBLE_REMOTE_TEMP": str(folder / "remote")})
    return folder, done


def test_each_host_has_its_answers_in_a_folder_of_its_own(played):
    folder, done = played
    found = {str(path.relative_to(folder / "answers")) for path in (folder / "answers").rglob("*.json")}
    assert found == {f"{host}/{verb}.json" for host in ("aligned", "shifted.example.com") for verb in ("check", "stats")}, \
        done.stdout + done.stderr
    direct = subprocess.run([ALIGNCTL, "check", "--json", folder / "b"], capture_output=True, text=True, check=False)
    assert json.loads((folder / "answers/shifted.example.com/check.json").read_text()) == json.loads(direct.stdout)


def test_a_host_that_fails_is_told_and_leaves_no_answer_of_another_day(played):
    folder, done = played
    assert done.returncode != 0 and "failing" in done.stdout and not list((folder / "answers/failing").iterdir())


def test_the_answers_are_ranked(played):
    folder, _ = played
    done = subprocess.run([ALIGNCTL, "fleet", folder / "answers", "--json"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (FINDINGS, "")
    hosts = json.loads(done.stdout)["hosts"]
    assert [(host["host"], host["shift"], host["documents"]) for host in hosts] == \
        [("shifted.example.com", 1, ["check", "stats"]), ("aligned", 0, ["check", "stats"])]
