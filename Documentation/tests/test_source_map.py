# SPDX-License-Identifier: GPL-2.0
"""The source map names every room and every file of kmod/, and nothing that is not there; the one glossary has a word once."""

import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
MAP = (TOP / "Documentation/develop/source-map.rst").read_text()
GLOSSARY = (TOP / "Documentation/glossary.rst").read_text()
DOCUMENTS = sorted((TOP / "Documentation").rglob("*.rst"))
# A room lies at most so deep; further down are configurations, corpora, and tests in folders of their rooms' names.
DEPTH = 3
# The section whose folders are named from the program's root, as its includes are.
ROOTS = {"alignctl": "userspace/alignctl"}


def tracked():
    done = subprocess.run(["git", "ls-files"], cwd=TOP, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a git checkout: what belongs to the tree is not known")
    return [Path(line) for line in done.stdout.splitlines()]


def rooms(paths):
    """The folders that lie at most DEPTH deep, without the top."""
    return {parent.as_posix() for path in paths for parent in path.parents if 0 < len(parent.parts) <= DEPTH}


def sections(text):
    """{title: text of the section}, of the titles that are underlined with =."""
    parts = re.split(r"^([^\n]+)\n=+\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def folders(text):
    """Every folder that a map names, from the top of the tree. A name below / is one of the running system's."""
    return {f"{ROOTS[title]}/{name}" if title in ROOTS and not (TOP / name).exists() else name
            for title, body in sections(text).items() for name in re.findall(r"``([\w.][\w./]*)/``", body)}


def words(text):
    """The words that definition lists of a glossary explain."""
    return re.findall(r"^   (\w[^\n]*)\n     \w", text, re.M)


def test_every_room_is_on_the_map():
    missing = rooms(tracked()) - folders(MAP)
    assert not missing, f"Documentation/develop/source-map.rst does not name {sorted(missing)}"


def test_every_folder_on_the_map_exists():
    named = folders(MAP)
    assert len(named) > 40
    assert not {name for name in named if not (TOP / name).is_dir()}


def test_every_file_of_the_target_is_on_the_map():
    section = sections(MAP)["The target"]
    files = {path.name for path in tracked() if path.parent.as_posix() == "kmod"}
    assert "block.c" in files
    assert files == set(re.findall(r"``(\w+\.[ch]|Kbuild|Kconfig)``", section))


def test_every_file_that_the_map_names_by_its_path_exists():
    named = re.findall(r"``((?:kmod|userspace|scripts|Documentation)/[\w./]+\.\w+)``", MAP)
    assert named
    assert not [name for name in named if not (TOP / name).exists()]


def test_the_glossary_has_each_word_once():
    listed = [word.strip().lower() for words_ in words(GLOSSARY) for word in words_.split(",")]
    assert len(listed) > 50
    assert sorted(set(listed)) == sorted(listed)


def test_there_is_one_glossary():
    assert "Boundary" in words(GLOSSARY) and "Keeper" in words(GLOSSARY)
    titled = [path.name for path in DOCUMENTS if re.search(r"^Glossary\n=", path.read_text(), re.M)]
    assert titled == ["glossary.rst"]


# The test of the tests: what is wrong is found.

def test_a_room_that_is_not_named_is_found():
    text = "alignctl\n========\n\n``base/`` and ``kmod/``\n\nOther\n=====\n\n``scripts/lab/``\n"
    assert folders(text) == {"userspace/alignctl/base", "kmod", "scripts/lab"}
    assert rooms([Path("a/b/c/d/e.c"), Path("x.c")]) == {"a", "a/b", "a/b/c"}
