# SPDX-License-Identifier: GPL-2.0
"""What the man pages say of alignctl's JSON documents is made from its tables by Documentation/gen-json."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
PROGRAM = TOP / "Documentation/gen-json"
PAGES = TOP / "Documentation/man"
ALIGNCTL = TOP / "out/bin/alignctl"
OBJECT = {"type": "object", "properties": {"x_us": {"type": "number", "x-unit": "us"}}, "required": ["x_us"],
          "additionalProperties": False}


def generated(argument, alignctl=ALIGNCTL):
    return subprocess.run([sys.executable, PROGRAM, argument], env={"ALIGNCTL": str(alignctl)}, capture_output=True, text=True,
                          check=False)


def kind(title, form, properties, absent=(), description=None):
    """A kind of document in a schema, as --json-schema has it."""
    return {"type": "object", "properties": {"format": {"const": form}, **properties}, "title": title,
            "required": ["format", *(name for name in properties if name not in absent)], "additionalProperties": False,
            **({"description": description} if description else {})}


@pytest.fixture
def sections(tmp_path):
    """What the program makes of kinds of documents; alignctl is a script that prints their schema."""
    def make(*kinds):
        script = tmp_path / "alignctl"
        schema = {"$schema": "x", "anyOf": list(kinds), "$defs": {"thing": OBJECT, "other": OBJECT}}
        (tmp_path / "schema").write_text(json.dumps(schema))
        script.write_text(f"#!/bin/sh\n[ \"$*\" = 'v --json-schema' ] && exec cat {tmp_path}/schema\n"
                          """echo '{"verbs": [{"verb": "other"}]}'\n""")
        script.chmod(0o755)
        done = generated("v", script)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return make


def test_the_pages_are_what_the_tables_say():
    done = generated("check")
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_the_documents_of_each_verb_have_one_place():
    verbs = json.loads(subprocess.run([ALIGNCTL, "help", "--json"], capture_output=True, check=True).stdout)["verbs"]
    printing = [verb["verb"] for verb in verbs if any(row["option"] == "json-schema" for row in verb["options"])]
    places = [verb for page in PAGES.iterdir() for verb in re.findall(r'^\.\\" gen-json (\S+) begins$', page.read_text(), re.M)]
    assert sorted(places) == sorted([*printing, "help"])


def test_a_member_has_its_type_unit_and_help(sections):
    said = sections(kind("v", 2, {
        "a": {"type": "string", "description": "its name"}, "b-c": {"type": "integer", "x-unit": "bytes"},
        "d": {"anyOf": [{"type": "boolean"}, {"type": "null"}], "description": "null: not known"},
        "e": {"type": "array", "items": {"type": "number"}}, "f": {"enum": ["x", "y"], "description": "which"},
        "g": {"enum": ["x", "y"], "description": "x or y"},
    }, absent=("e",), description="In 1, it was less"))
    assert said == r""".SH JSON OF V
One object;
.B format
is 2.
In 1, it was less.
.TP
.BR a " (text)"
Its name.
.TP
.BR b\-c " (number, bytes)"
.TP
.BR d " (true, false or null)"
null: not known.
.TP
.BR e " (array of numbers; may be absent)"
.TP
.BR f " (text)"
Which.
One of
.BR x ", " y .
.TP
.BR g " (text)"
X or y.
"""


def test_a_number_or_one_of_some_texts_may_be_null(sections):
    choice = {"anyOf": [{"type": "number"}, {"enum": ["x", "y"]}]}
    said = sections(kind("v", 1, {"a": {"anyOf": [choice, {"type": "null"}]}, "b": choice}))
    assert said.endswith('.TP\n.BR a " (number or text, or null), " b " (number or text)"\nText:\n.BR x ", " y .\n')


def test_members_with_one_help_have_one_item(sections):
    same = {"description": "first, and second"}
    said = sections(kind("v", 1, {"a": {"type": "number", **same}, "b": {"type": "number", **same},
                                  "c": {"type": "string", **same}}))
    assert said.endswith('.TP\n.BR a ", " b " (number), " c " (text)"\nFirst, and second.\n')


def test_an_object_with_a_name_is_described_once(sections):
    thing = {"$ref": "#/$defs/thing"}
    said = sections(kind("v", 1, {"a": thing, "b": {"type": "array", "items": thing, "description": "more"}}),
                    kind("v --other", 1, {"c": thing}))
    assert said.count("x_us") == 1
    assert '.BR a " (object)"\n.RS\n.TP\n.BR x_us " (number, us)"\n.RE\n' in said
    assert '.BR b " (array of objects)"\nMore.\nIts members are described above.\n' in said
    assert said.endswith('.BR c " (object)"\nIts members are described in JSON OF V.\n')


def test_a_member_of_another_document_is_not_described_again(sections):
    member = {"type": "string", "description": "its name"}
    said = sections(kind("v", 1, {"a": member, "b": member}), kind("v --other", 1, {"a": member, "b": {"type": "string"}}))
    assert said.endswith('.SH JSON OF V \\-\\-OTHER\nOne object;\n.B format\nis 1.\n'
                         '.TP\n.BR a\nAs in JSON OF V.\n.TP\n.BR b " (text)"\n')


def test_the_document_of_a_verb_in_another_one_is_described_at_the_verb(sections):
    said = sections(kind("v", 1, {"a": {"$ref": "#/$defs/other"}}))
    assert said.endswith('.BR a " (object)"\nIts members are those of alignctl\\-other(8), JSON OF OTHER.\n')


def unknown_sections(name, pages):
    """Return the sections on documents that a page refers to and that neither it nor the page named with them has."""
    text = " ".join(line for line in pages[name].splitlines() if not line.startswith("."))
    named = re.findall(r"(?:(alignctl-[a-z]+)\(8\), )?\b(JSON OF [A-Z-]+(?:,? [A-Z-]+)*)", text)
    return [section for page, section in named if f".SH {section}\n" not in pages.get(f"{page}.8" if page else name, "")]


@pytest.mark.parametrize("text, wrong", [
    ("As in JSON OF V.\n", []),
    ("As in JSON OF PROBE B,\nPROBE C.\n", []),
    ("As in alignctl-w(8), JSON OF W, by name.\n", []),
    ("As in JSON OF W.\n", ["JSON OF W"]),
    ("As in alignctl-w(8), JSON OF V.\n", ["JSON OF V"]),
    ("As in alignctl-x(8), JSON OF X.\n", ["JSON OF X"]),
])
def test_a_section_of_another_page_is_named_with_its_page(text, wrong):
    pages = {"alignctl-v.8": f".SH JSON OF V\n{text}.SH JSON OF PROBE B, PROBE C\n", "alignctl-w.8": ".SH JSON OF W\n"}
    assert unknown_sections("alignctl-v.8", pages) == wrong


def test_the_sections_that_the_pages_refer_to_are_there():
    pages = {path.name: path.read_text().replace("\\-", "-") for path in PAGES.iterdir()}
    assert sum("JSON OF" in text for text in pages.values()) > 10
    assert not {name: wrong for name in pages if (wrong := unknown_sections(name, pages))}
