# SPDX-License-Identifier: GPL-2.0
"""What all documents have in common that --json prints: the member format, which the manual names."""

import json
import os
import re

import pytest

from align_reports.verify import command as verify
from alignctl_program import AREA, METHODS, VERBS, alignctl, few
from lab.paths import REPO

FINE = 0
# A command of each document, and its heading in the manual; not of verify's modes, record and top, which need a drive.
DOCUMENTS = {
    "check": (["check", "DISK"], "JSON OF CHECK"),
    "check --remedies": (["check", "--remedies"], "JSON OF CHECK"),
    "list": (["list"], "JSON OF LIST"),
    "stats": (["stats"], "JSON OF STATS"),
    "stats --drive": (["stats", "--drive"], "JSON OF STATS"),
    "stats --compare": (["stats", "--compare", "SAVED"], "JSON OF STATS --COMPARE"),
    "workloads": (["workloads"], "JSON OF WORKLOADS"),
    "plan": (["plan", "w512"], "JSON OF PLAN"),
    "convert": (["convert", "TRACE", "--output", "NEW"], "JSON OF CONVERT"),
    "replay": (["replay", "w512", "--on", "DISK", "--count", "5"], "JSON OF REPLAY"),
    "replay --dry-run": (["replay", "w512", "--on", "DISK", "--count", "5", "--dry-run"], "JSON OF REPLAY"),
    "replay TRACE": (["replay", "TRACE", "--on", "DISK", "--state", "STATE"], "JSON OF REPLAY"),
    "replay TRACE --dry-run": (["replay", "TRACE", "--on", "DISK", "--dry-run"], "JSON OF REPLAY"),
    "replay --check": (["replay", "--check", "STATE"], r"JSON OF REPLAY --CHECK"),
    "verify --vs": (["verify", "w512", "--on", "DISK", "--vs", "OTHER", "--count", "5", "--repeat", "2"],
                    "JSON OF MANY RUNS"),
    "verify --vs --dry-run": (["verify", "w512", "--on", "DISK", "--vs", "OTHER", "--count", "5", "--dry-run"],
                              "JSON OF MANY RUNS"),
    "probe": (["probe", "sorted-reads", "DISK", "--count", "20", "--span", "8M"], "JSON OF MANY RUNS"),
    **{f"probe {method} --dry-run": (["probe", method, "DISK", "--dry-run", *few(method), *(AREA if writes else [])],
                                     "JSON OF MANY RUNS") for method, writes in METHODS.items()},
}
ELSEWHERE = {"record", "top"}


def format_in_manual(heading):
    """The number that the section of the manual names first."""
    manual = (REPO / "Documentation/man/alignctl.8").read_text().replace("\\-", "-")
    section = re.search(rf"^\.S[SH] {re.escape(heading)}\n(.*?)(?=^\.S[SH] )", manual, re.M | re.S)[1]
    return int(re.search(r"\.B format\n(?:\(|is )(\d+)", section)[1])


@pytest.fixture
def words(disk, tmp_path):
    """The words of a command, with files to work on."""
    other, trace = tmp_path / "other", tmp_path / "trace.csv"
    with open(other, "wb") as file:
        file.truncate(disk.stat().st_size)
    trace.write_text("op,offset,bytes\nwrite,0,4096\nread,0,4096\n")
    files = {"DISK": disk, "OTHER": other, "TRACE": trace, "STATE": tmp_path / "state", "NEW": tmp_path / "new",
             "SAVED": tmp_path / "saved.json"}
    return lambda arguments: [files.get(word, word) for word in arguments]


def test_every_verb_that_prints_json_is_looked_at():
    prints = {verb for verb in VERBS if "--json" in alignctl(verb, "--help").stdout}
    assert prints == {name.split()[0] for name in DOCUMENTS} | ELSEWHERE


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_begins_with_the_format_that_the_manual_names(words, machine, name):
    arguments, heading = DOCUMENTS[name]
    if name == "replay --check":
        assert alignctl(*words(DOCUMENTS["replay TRACE"][0])).returncode == FINE
    environment = {**os.environ, "ALIGNCTL_SYSROOT": str(machine[0])} if arguments[0] in ("list", "stats") else None
    if "SAVED" in arguments:
        words(["SAVED"])[0].write_text(alignctl("stats", "--json", env=environment).stdout)
    done = alignctl(*words(arguments), "--json", env=environment)
    assert done.returncode == FINE, done.stderr
    document = json.loads(done.stdout)
    assert next(iter(document)) == "format" and document["format"] == format_in_manual(heading)


def test_the_manual_has_the_format_of_verify():
    """That its document has it, align_reports/tests/test_verify.py sees to."""
    assert format_in_manual("JSON OF VERIFY") == verify.FORMAT


def test_numbers_of_many_runs_are_numbers(words):
    done = alignctl(*words(DOCUMENTS["verify --vs"][0]), "--json")
    assert json.loads(done.stdout)["repetitions"] == 2
