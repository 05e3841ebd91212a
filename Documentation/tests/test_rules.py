# SPDX-License-Identifier: GPL-2.0
"""The manual and fleet have what the rules of check say of themselves, and no rule is left out of their list."""

import json
import re
from pathlib import Path

import pytest

from lab.program import load

generator = load(Path(__file__).resolve().parents[1] / "gen-rules")
AUDIT = generator.TOP / "userspace" / "alignctl" / "audit"


def test_the_documents_have_what_the_rules_say():
    contents = {path.name: path.read_text() for path in generator.documents()}
    assert generator.findings(contents, generator.parts(generator.rules())) == []


def test_each_rule_is_in_the_list():
    names = [name for path in AUDIT.glob("*.c") for name in re.findall(r"\brule_(\w+)\s*=", path.read_text())]
    assert len(names) > 20
    assert sorted(name.replace("_", "-") for name in names) == sorted(rule["name"] for rule in generator.rules())


# The test of the tests: what is wrong is found.

ONE = {"name": "one-two", "fault": "sometimes", "grade": "unit", "text": 'It is `--one`, a "word".'}
THREE = {"name": "three", "fault": "never", "grade": "shift", "text": "Three."}


@pytest.fixture
def printing(tmp_path, monkeypatch):
    """Let a program that prints some rules be alignctl."""
    def let(*rules):
        (tmp_path / "printed").write_text(json.dumps({"remedies": [], "rules": rules}))
        (tmp_path / "alignctl").write_text(f"#!/bin/sh\n[ \"$*\" = 'check --remedies --json' ] && cat {tmp_path}/printed\n")
        (tmp_path / "alignctl").chmod(0o755)
        monkeypatch.setattr(generator, "ALIGNCTL", tmp_path / "alignctl")
    return let


def test_the_parts_follow_from_the_rules(printing):
    printing(ONE, THREE)
    assert generator.parts(generator.rules()) == {
        "list": '.TP\n.B one\\-two\nIt is \\fB\\-\\-one\\fR, a \\(dqword\\(dq.\n.TP\n.BR three " (note)"\nThree.\n',
        "grades": '    "shift": {"three"},\n    "unit": {"one-two"},\n',
        "grade shift": "three:\n", "grade unit": "one\\-two:\n"}


@pytest.mark.parametrize("lacking", ["name", "text"])
@pytest.mark.parametrize("nothing", ["", None])
def test_a_rule_without_name_or_words_is_refused(printing, lacking, nothing):
    printing(ONE, {**THREE, lacking: nothing})
    with pytest.raises(SystemExit, match="a rule has no .name or no .man: .*never"):
        generator.rules()


PLACE = "A\n# gen-rules: list\nold\n# end of gen-rules\nB\n"


@pytest.mark.parametrize("text,parts,wrong", [
    (PLACE, {"list": "old\n"}, []),
    (PLACE, {"list": "new\n"}, ["a has not what the rules say: run 'Documentation/gen-rules update'"]),
    (PLACE, {}, ["a has a place for 'list', which is no part"]),
    (PLACE * 2, {"list": "old\n"}, ["'list' has 2 places, not one"]),
    ("", {"list": "old\n"}, ["'list' has 0 places, not one"]),
], ids=["same", "other text", "no part", "twice", "no place"])
def test_a_difference_is_found(text, parts, wrong):
    assert generator.findings({"a": text}, parts) == wrong


@pytest.mark.parametrize("mark", ["#", "    #", '.\\"'])
def test_a_place_gets_its_part(mark):
    assert generator.filled(PLACE.replace("#", mark), {"list": "new\n"}) == PLACE.replace("#", mark).replace("old", "new")
