# SPDX-License-Identifier: GPL-2.0
"""Power cuts of alignctl conform: each device is cut, comes back, and is judged; the document gets what was found."""

import dataclasses
import json
import re
from collections import Counter

import pytest

from lab.conform import __main__ as conform
from lab.conform.__main__ import Subject
from lab.conform.cuts import CUTS, Cut, Found, cut_often, example, page
from lab.machines.remote import GuestError

FOUND = {"faulty": 0, "durable": 9, "not_durable_lost": 2, "faults": {"lost-write": 0, "torn-block": 0}}
CLEAN = "rm -f /run/conform.state"
SAID = "dev: heading\n\nlost-write: a\n from\n\nlost-write: b\n flush 1 made it durable\n\nrequests: 3\ndurable: 4"


class Machine:
    """A stand-in for the guest and the drive, which keeps the commands; one that is in `fails` fails."""

    def __init__(self, found, fails=""):
        self.found, self.fails, self.commands = found, fails, []

    def run(self, *argv, **_):
        words = " ".join(argv)
        said = "prepare" if "--prepare" in words else "after" if "--after" in words else argv[-1]
        self.commands.append(f"{said} killed" if "kill it" in words else said)
        if said == self.fails:
            raise GuestError(f"{said}: status 2: warning\nno such thing")
        return SAID

    def json(self, *argv, **_):
        self.commands.append(argv[3] if argv[3] == "--after" else argv[2])
        return json.loads(json.dumps(self.found))

    def control(self, command):
        self.commands.append(command.split(" at=")[0])


def cut_of(kill=""):
    return Cut(Subject("x", "/dev/x", ("make",), ("remove",)), Subject("x", "/dev/y", ("again",), ("end",)), kill)


def test_a_device_is_cut_comes_back_and_is_judged():
    machine = Machine(FOUND)
    found = cut_often(machine, machine, cut_of(), 2)
    assert machine.commands == 2 * [CLEAN, "make", "power cut", "prepare", "remove", "power on", "again", "--after", "end"]
    assert (found.cuts, found.bad_cuts, found.durable, found.lost, found.words) == (2, 0, 18, 4, "none")


def test_one_that_is_killed_has_its_faults_and_what_was_printed_of_the_first():
    machine = Machine({**FOUND, "faulty": 3, "faults": {"lost-write": 3, "torn-block": 0}})
    found = cut_often(machine, machine, cut_of("kill it"), 1)
    assert machine.commands == [CLEAN, "make", "prepare killed", "remove", "power on", "again", "--after", "after", "end"]
    assert found.words == "lost-write 3, in 1 cuts" and found.shown == SAID


def test_one_that_cannot_be_cut_has_its_reason():
    machine = Machine(FOUND, fails="prepare")
    found = cut_often(machine, machine, cut_of(), 5)
    assert found.words == "no such thing" and machine.commands[-3:] == ["remove", "power on", "true"]


def test_the_document_gets_a_row_for_each_and_a_finding_with_a_flush(tmp_path, monkeypatch):
    monkeypatch.setattr(conform, "PAGE", tmp_path / "page.rst")
    conform.PAGE.write_text("before\n.. cuts: begin\nold\n.. cuts: end\nafter\n")
    bad = Found("longer", 5, 2, 70, 3, Counter({"lost-write": 4, "neighbour": 0}), SAID)
    conform.update("cuts", page([Found("a", 5, 0, 60, 7), bad], "6.12", 5))
    text = conform.PAGE.read_text()
    assert "old" not in text and re.search(r"^a +5 +60 +7 +none$", text, re.M)
    assert re.search(r"^longer +5 +70 +3 +lost-write 4, in 2 cuts$", text, re.M)
    assert "lost-write: b" in example(bad) and "lost-write: a" not in example(bad) and "(1 more findings)" in example(bad)


@pytest.mark.parametrize("subject", [part for cut in CUTS for part in (cut.before, cut.after)], ids=dataclasses.astuple)
def test_what_is_made_is_removed_again(subject):
    assert bool(subject.make) == bool(subject.remove)
