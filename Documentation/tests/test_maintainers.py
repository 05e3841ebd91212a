# SPDX-License-Identifier: GPL-2.0
"""Each file has an area in MAINTAINERS, whose patterns all match, and what outsiders are told to write to or fill in exists."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

TOP = Path(__file__).resolve().parents[2]
TEXT = (TOP / "MAINTAINERS").read_text()
ADDRESS = "maintainers@dm-align.invalid"


def areas(text):
    """{title: {letter: [values]}} of the entries, behind the introduction."""
    entries = [entry for entry in text.strip().split("\n\n") if re.match(r".+\n[A-Z]:\t", entry)]
    found = {}
    for entry in entries:
        title, *lines = entry.splitlines()
        fields = found.setdefault(title, {})
        for line in lines:
            letter, value = re.fullmatch(r"([A-Z]):\t(\S.*)", line).groups()
            fields.setdefault(letter, []).append(value)
    return found


def matches(pattern, name):
    """Return whether a pattern has a file: below a folder that ends with /, or with * for characters but /."""
    text = re.escape(pattern).replace(r"\*", "[^/]*")
    return bool(re.match(text, name) if pattern.endswith("/") else re.fullmatch(text, name))


def has(fields, name):
    return any(matches(pattern, name) for pattern in fields["F"]) \
        and not any(matches(pattern, name) for pattern in fields.get("X", ()))


def without_area(found, names):
    return [name for name in names if not any(has(fields, name) for fields in found.values())]


def useless(found, names):
    """The patterns of F: and X: that match no file, and those of X: that take away nothing of F:."""
    return [pattern for fields in found.values() for letter in "FX" for pattern in fields.get(letter, ())
            if not any(matches(pattern, name) and (letter == "F" or any(matches(each, name) for each in fields["F"]))
                       for name in names)]


@pytest.fixture(scope="module")
def names():
    done = subprocess.run(["git", "ls-files"], cwd=TOP, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a git checkout: what belongs to the tree is not known")
    return done.stdout.splitlines()


def test_each_file_has_an_area(names):
    assert not without_area(areas(TEXT), names)


def test_each_pattern_matches_a_file(names):
    assert not useless(areas(TEXT), names)


def test_areas_are_in_order_and_complete():
    found = areas(TEXT)
    assert len(found) > 4 and list(found) == sorted(found)
    for title, fields in found.items():
        assert set(fields) <= set("MSFX") and fields["M"] and fields["F"] == sorted(fields["F"]), title
        assert fields["S"][0] in ("Maintained", "Odd Fixes", "Orphan") and len(fields["S"]) == 1


def test_one_address_is_told_everywhere():
    """In each file that has one of this host."""
    files = ("MAINTAINERS", "SECURITY.md", "scripts/packaging/debian/changelog", "scripts/packaging/debian/control",
             "scripts/packaging/debian/copyright", "scripts/packaging/rpm/dm-align.spec")
    assert {name: set(re.findall(r"[\w.-]+@[\w-]+\.[\w.-]+", (TOP / name).read_text())) for name in files} \
        == {name: {ADDRESS} for name in files}


@pytest.mark.parametrize("name", ["SECURITY.md", ".github/PULL_REQUEST_TEMPLATE.md"])
def test_what_outsiders_are_sent_to_exists(name):
    text = (TOP / name).read_text()
    named = re.findall(r"\]\((?!https:)([^)]+)\)|`([\w./]+\.(?:md|rst)|NEWS)`|\b([A-Z]+\.md)\b", text)
    assert named
    assert not [path for found in named for path in found if path and not (TOP / path).exists()]
    targets = re.findall(r"^([a-z-]+):", (TOP / "Makefile").read_text(), re.M)
    assert set(re.findall(r"`make ([a-z-]+)", text)) <= set(targets)


@pytest.mark.parametrize("path", sorted((TOP / ".github/ISSUE_TEMPLATE").iterdir()), ids=lambda path: path.name)
def test_a_form_of_an_issue_is_one(path):
    form = yaml.safe_load(path.read_text())
    assert set(form) == {"name", "description", "body"} and form["body"]
    parts = {part["id"]: part for part in form["body"]}
    assert len(parts) == len(form["body"]) and any(part.get("validations") == {"required": True} for part in parts.values())
    for part in parts.values():
        assert part["type"] in ("dropdown", "textarea") and part["attributes"]["label"]
        assert (part["type"] == "dropdown") == ("options" in part["attributes"])
    # Of alignctl, only verbs and options that there are.
    source = "".join(file.read_text() for file in (TOP / "userspace/alignctl").glob("verbs/*.c"))
    for verb in re.findall(r"alignctl ([a-z]+)", path.read_text()):
        assert f'"{verb}", "' in source


# The test of the tests: what is wrong is found.

def test_patterns_are_those_of_the_kernel():
    assert matches("a/", "a/b/c.c") and matches("a/*", "a/b.c") and not matches("a/*", "a/b/c.c")
    assert matches(".*", ".ci") and not matches(".*", "x.ci") and not matches("a", "a/b")


def test_what_has_no_area_or_no_file_is_found():
    found = areas("Words.\n\nONE\nM:\ta <b@c>\nF:\ta/\nF:\tb\nX:\ta/x\nX:\tc\n")
    assert without_area(found, ["a/1", "a/x", "c"]) == ["a/x", "c"]
    assert useless(found, ["a/1", "a/x", "c"]) == ["b", "c"]
