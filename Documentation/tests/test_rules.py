# SPDX-License-Identifier: GPL-2.0
"""The manual and fleet have what the rules of check say of themselves, and no rule is left out of their list."""

from pathlib import Path

import pytest

from lab.program import load

generator = load(Path(__file__).resolve().parents[1] / "gen-rules")


def test_the_documents_have_what_the_rules_say():
    contents = {path.name: path.read_text() for path in generator.documents()}
    assert generator.findings(contents, generator.parts(generator.rules())) == []


def test_each_rule_is_in_the_list():
    names = [name for path in generator.AUDIT.glob("*.c") for name, _ in generator.STRUCT.findall(path.read_text())]
    assert len(names) > 20
    assert sorted(name.replace("_", "-") for name in names) == sorted(rule.name for rule in generator.rules())


# The test of the tests: what is wrong is found.

HEADER = "#define FOR_EACH_RULE(apply)\t\\\n\tapply(one_two)\t\\\n\tapply(three)\n"
ONE = """\
const struct rule rule_one_two = {
\t.name = "one-two", .grade = RULE_UNIT,
\t.man =
\t\t"It is `--one`, "
\t\t"a \\"word\\".",
};
"""
THREE = """\
const struct rule rule_three = {
\t.name = "three",
\t.note = RULE_NOTE,
\t.grade = RULE_SHIFT,
\t.man = "Three.",
};
"""


@pytest.fixture
def audit(tmp_path):
    (tmp_path / "rule.h").write_text(HEADER)
    (tmp_path / "b.c").write_text(ONE)
    (tmp_path / "a.c").write_text(THREE)
    return tmp_path


def test_the_parts_follow_from_the_rules(audit):
    assert generator.parts(generator.rules(audit)) == {
        "list": '.TP\n.B one\\-two\nIt is \\fB\\-\\-one\\fR, a \\(dqword\\(dq.\n.TP\n.BR three " (note)"\nThree.\n',
        "grades": '    "shift": {"three"},\n    "unit": {"one-two"},\n',
        "grade shift": "three:\n", "grade unit": "one\\-two:\n"}


@pytest.mark.parametrize("old,new", [
    ('"three"', '""'), ('\t.man = "Three.",\n', ""), ('"Three."', '""'), ("rule_three", "rule_four"),
], ids=["no name", "no words", "empty words", "not defined"])
def test_a_rule_without_name_or_words_is_refused(audit, old, new):
    (audit / "a.c").write_text(THREE.replace(old, new))
    with pytest.raises(SystemExit, match="rule_three has no .name or no .man"):
        generator.rules(audit)


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
