# SPDX-License-Identifier: GPL-2.0
"""The verdicts of alignctl conform: each device is made, examined and removed, and the document gets what was found."""

import contextlib
import json
import re
import sys
import textwrap

import pytest

from lab.conform import __main__ as conform
from lab.conform.__main__ import SUBJECTS, TARGET, Subject, Verdict, examine, example, page, status_of
from lab.conform.cuts import CUTS, Found
from lab.machines.remote import GuestError

FOUND = {"rounds": 312, "faulty": 0, "fewer_than_one_in": 104, "cannot_tell": {"discard": "Operation not supported"},
         "faults": {"lost-update": 0, "stale-read": 0}}


class Guest:
    """A stand-in for the guest, which says what conform has found and keeps the commands; one that is in `fails` fails."""

    def __init__(self, found, fails=""):
        self.found, self.fails, self.commands = found, fails, []

    def run(self, *argv, ok=(0,), **_):
        self.commands.append(argv[-1])
        if argv[-1] == self.fails:
            raise GuestError(f"{self.fails}: status 1: no such thing\nmore")
        return ""

    def json(self, *argv, **_):
        self.commands.append(argv[1])
        if argv[1] == self.fails:
            raise GuestError(f"{self.fails}: status 1: no such thing\nmore")
        return json.loads(json.dumps(self.found))


def test_a_device_is_made_examined_and_removed():
    guest = Guest(FOUND)
    found = examine(guest, Subject("x", "/dev/x", ("make",), ("remove",)), 1)
    assert guest.commands == ["make", "conform", "remove"]
    assert found == Verdict("x", 312, 0, "", 104, "discard") and found.words == "none; fewer than 1 in 104"


def test_faults_are_named_and_a_device_that_cannot_be_made_has_its_reason():
    faulty = examine(Guest({**FOUND, "faulty": 3, "fewer_than_one_in": None, "faults": {"lost-update": 3, "stale-read": 0}}),
                     Subject("x", "/dev/x"), 1)
    assert faulty.words == "lost-update 3"
    guest = Guest(FOUND, fails="make")
    assert examine(guest, Subject("x", "/dev/x", ("make",), ("remove",)), 1).words == "make: status 1: no such thing"
    assert guest.commands == ["make", "true", "remove"]
    lacking = examine(Guest(FOUND, fails="make"), Subject("x", "/dev/x", ("make",), ("remove",), "no such blocks"), 1)
    assert (lacking.words, lacking.why) == ("no such blocks", "")
    # What conform has to say of one that was made is another reason.
    made = examine(Guest(FOUND, fails="conform"), Subject("x", "/dev/x", ("make",), ("remove",), "no such blocks"), 1)
    assert (made.words, made.lacking) == ("conform: status 1: no such thing", "")


@pytest.mark.parametrize("found, status", [
    (Verdict("dm-ebs, 512 on 4096", 9, 2, "lost-update 2"), 0), (Verdict("loop", lacking="no such blocks"), 0),
    (Verdict("dm-align, pad", 9), 0), (Verdict("dm-align, pad", 9, 1, "lost-update 1"), 1), (Verdict("loop", why="gone"), 1),
    (Found("nbdkit, cache=unsafe", 5, 2), 0), (Found("dm-align, pad", 5), 0), (Found("dm-align, coalesce", 5, 1), 1),
    (Found("dm-linear", why="gone"), 1)])
def test_a_fault_of_the_target_is_a_failure_and_one_of_the_kernel_is_not(found, status):
    assert status_of([Verdict("other", 9), found]) == status


def test_the_target_is_told_by_its_name():
    assert len([each for each in SUBJECTS if each.name.startswith(TARGET)]) > 5
    assert len([cut for cut in CUTS if cut.before.name.startswith(TARGET)]) == 3


def test_what_was_examined_before_the_guest_died_is_shown(tmp_path, monkeypatch, capsys):
    guest = Guest(FOUND, fails="true")
    # The second device is not made, and the guest does not answer any more.
    monkeypatch.setattr(conform, "SUBJECTS", (Subject("one", "/dev/x"), Subject("two", "/dev/y", ("true",), ("remove",))))
    monkeypatch.setattr(conform, "OUT", tmp_path)
    monkeypatch.setattr(conform.kernels, "release", lambda series: series)
    monkeypatch.setattr(conform.modules, "build_for", lambda release: (tmp_path, ""))
    monkeypatch.setattr(conform.peer, "dm_ebs", lambda series: tmp_path / "dm-ebs.ko")
    monkeypatch.setattr(conform.drives, "serve", lambda *_: contextlib.nullcontext({}))
    monkeypatch.setattr(conform.remote, "boot", lambda *_, **__: contextlib.nullcontext(guest))
    monkeypatch.setattr(sys, "argv", ["conform", "--json", str(tmp_path / "found.json")])
    with pytest.raises(SystemExit, match="2"):
        conform.main()
    said = capsys.readouterr()
    assert "one" in said.out and "the guest ended after 1 of 2 devices: true: status 1" in said.err
    assert [each["name"] for each in json.loads((tmp_path / "found.json").read_text())] == ["one"]


def test_of_a_faulty_device_the_first_fault_is_shown_and_both_tables():
    said = "\n\n".join(["/dev/x: blocks", "lost-update: one\n REQUEST\n  1", "lost-update: two", "KIND  FAULTY\na     2",
                        "METHOD  FAULTY\nsync    2", "rounds: 9 of 3 kinds; faulty: 2\n"])
    guest = Guest(FOUND)
    guest.run = lambda *_, **__: said
    assert example(guest, Subject("x", "/dev/x"), 1) == "::\n\n" + textwrap.indent("\n\n".join([
        "/dev/x: blocks", "lost-update: one\n REQUEST\n  1", "(1 more faults)", "KIND  FAULTY\na     2",
        "METHOD  FAULTY\nsync    2", "rounds: 9 of 3 kinds; faulty: 2"]), "    ") + "\n"


def test_the_document_gets_a_row_for_each_and_keeps_the_rest(tmp_path, monkeypatch):
    monkeypatch.setattr(conform, "PAGE", tmp_path / "page.rst")
    conform.PAGE.write_text("before\n.. verdicts: begin\nold\n.. verdicts: end\nafter\n")
    conform.update("verdicts", page([Verdict("a", 5, 0, "", 2, "discard"), Verdict("longer", why="gone")], "6.12", 60))
    text = conform.PAGE.read_text()
    assert text.startswith("before\n.. verdicts: begin\n") and text.endswith(".. verdicts: end\nafter\n") and "old" not in text
    assert re.search(r"^a +5 +0 +none; fewer than 1 in 2; not tried: discard$", text, re.M)
    assert re.search(r"^longer +0 +0 +gone$", text, re.M)


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_what_is_made_is_removed_again(subject):
    assert bool(subject.make) == bool(subject.remove)
