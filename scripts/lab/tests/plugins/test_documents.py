# SPDX-License-Identifier: GPL-2.0
"""Each JSON document of alignctl that a test brings back is judged by the schema of its verb."""

import copy
import json
import subprocess

import pytest
from jsonschema import Draft202012Validator

from lab.plugins import documents


def changed(monkeypatch, verb, change):
    """Let the plugin have another schema of a verb."""
    [(kind, validator)] = documents.kinds(verb)
    kind = copy.deepcopy(kind)
    change(kind["properties"][verb]["items"])
    changed_validator = Draft202012Validator({**validator.schema, **kind})
    monkeypatch.setattr(documents, "kinds", lambda _: [(kind, changed_validator)])


def take_away(items):
    del items["properties"]["summary"]
    items["required"].remove("summary")


def ask_for_more(items):
    items["required"].append("another")


def be_a_number(items):
    items["properties"]["summary"]["type"] = "number"


@pytest.mark.parametrize("change, said", [
    (take_away, "'summary' was unexpected"),
    (ask_for_more, "'another' is a required property"),
    (be_a_number, "is not of type 'number'"),
])
def test_a_document_that_is_not_as_its_schema_ends_the_test(monkeypatch, change, said):
    changed(monkeypatch, "workloads", change)
    with pytest.raises(AssertionError, match=said):
        subprocess.run([documents.ALIGNCTL, "workloads", "--json"], capture_output=True, check=True)


def test_a_document_that_is_as_its_schema_passes():
    done = subprocess.run([documents.ALIGNCTL, "workloads", "--json"], capture_output=True, check=True)
    assert json.loads(done.stdout)["workloads"]


@pytest.mark.parametrize("command, verb", [
    ([documents.ALIGNCTL, "list", "--json"], "list"),
    (["nice", str(documents.ALIGNCTL), b"stats", b"--json"], "stats"),
    ([documents.ALIGNCTL, "list"], None),
    ([documents.ALIGNCTL, "list", "--json", "--json-schema"], None),
    ([documents.ALIGNCTL, "record", "x", "--", "y", "--json"], None),
    (["cat", "--json"], None),
    (f"{documents.ALIGNCTL} list --json", None),
])
def test_a_command_is_told_by_its_words(command, verb):
    assert documents.verb_of(command) == verb


@pytest.mark.parametrize("text, found", [
    (b'{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]), ('{"a": 1}\n{"a": ', [{"a": 1}]), ("no document", []), ("[1]", []),
])
def test_documents_of_a_text_are_taken_one_by_one(text, found):
    assert list(documents.documents(text)) == found


def test_members_are_told_by_their_paths():
    text, null = {"type": "string"}, {"type": "null"}
    schema = {"title": "v", "properties": {
        "a": {"anyOf": [text, null]}, "b": {"type": "array", "items": {"properties": {"c": text, "d": text}}},
        "e": {"type": "object", "additionalProperties": {"$ref": "#/$defs/f"}}, "g": text}}
    definitions = {"f": {"properties": {"h": {"anyOf": [text, null]}}}}
    every = ["v: a", "v: a null", "v: b", "v: b[].c", "v: b[].d", "v: e", "v: e.*.h", "v: e.*.h null", "v: g"]
    assert list(documents.members(schema, definitions, None, "v")) == every
    made = {"a": "x", "b": [{"c": "x"}, {}], "e": {"one": {"h": None}}}
    assert [member for member in every if member not in documents.members(schema, definitions, [made], "v")] == \
        ["v: a null", "v: b[].d", "v: g"]


def test_what_no_test_has_printed_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(documents, "FOLDER", tmp_path)
    monkeypatch.setattr(documents, "_seen", set())
    subprocess.run([documents.ALIGNCTL, "workloads", "--json"], capture_output=True, check=True)
    documents.pytest_unconfigure()
    documents.pytest_configure()
    told = documents.unseen(tmp_path)
    assert "list: devices[].targets[].mode" in told
    assert not [member for member in told if member.startswith("workloads: ")]
