# SPDX-License-Identifier: GPL-2.0
"""What CONTRIBUTING.md tells a developer to touch, to run and to look for exists, and each recipe fits a screen."""

import re
from pathlib import Path

import pytest

from lab import pick

TOP = Path(__file__).resolve().parents[2]
TEXT = (TOP / "CONTRIBUTING.md").read_text()
RECIPES = TEXT.partition("\n# Recipes\n")[2]
# A line of a recipe that says where its names begin.
BELOW = re.compile(r"^Below `([\w/]+/)`:$", re.M)


def sections(text):
    """{title: text} of the sections."""
    parts = re.split(r"^## (.*)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def named(text):
    """[(folder, name)] of the files and folders that a text names; placeholders and bare words are none."""
    return [("" if below is None else below[1], name)
            for body in sections(text).values() for below in [BELOW.search(body)]
            for name in [*re.findall(r"`(\.?[\w-]+(?:/[\w.-]+)+/?|\.?[\w-]+\.(?:c|h|py|toml)|Makefile)[` ]", body),
                         *re.findall(r"\]\(([^)]+)\)", body)]]


def missing(text):
    return [name for folder, name in named(text) if not (TOP / folder / name).exists() and not (TOP / name).exists()]


def symbols(text):
    """Functions, tables and macros in backquotes: f(), table[], MACRO, and the names behind struct and enum."""
    return set(re.findall(r"`(?:(\w+)(?:\(\)|\[\]))`", text)) | set(re.findall(r"`(?:struct|enum) (\w+)`", text)) \
        | set(re.findall(r"`([A-Z][A-Z_]+)`", text))


def test_every_file_that_it_names_exists():
    assert len(named(TEXT)) > 50
    assert not missing(TEXT)


def test_every_make_target_exists():
    targets = set(re.findall(r"^([a-z-]+):", (TOP / "Makefile").read_text(), re.M))
    told = set(re.findall(r"(?:^ {4}|`|&& )make ([a-z][a-z-]*)", TEXT, re.M))
    assert {"programs", "modules", "test", "check"} <= told
    assert not told - targets


def test_every_test_that_it_names_is_found_by_make_test():
    words = set(re.findall(r"make test T=([\w.:]+)(?![\w.:<])", TEXT))
    assert len(words) > 10
    assert not [word for word in words if not pick.pick(word)]


def test_every_function_and_table_that_it_names_exists():
    files = [path for folder in ("kmod", "kunit", "userspace", "scripts") for kind in ("*.[ch]", "*.py", "Kbuild")
             for path in (TOP / folder).rglob(kind)]
    sources = "\n".join(path.read_text() for path in files)
    told = symbols(RECIPES)
    assert len(told) > 20
    assert not [name for name in told if not re.search(rf"\b{name}\b", sources)]


def test_a_type_is_defined_in_the_file_behind_it():
    told = [(name, folder, file) for body in sections(TEXT).values() for below in [BELOW.search(body)]
            for folder in ["" if below is None else below[1]]
            for name, file in re.findall(r"`((?:enum|struct) \w+)` \(`([\w/.]+)`\)", " ".join(body.split()))]
    assert told
    for name, folder, file in told:
        path = TOP / folder / file
        assert f"{name} {{" in (path if path.exists() else TOP / file).read_text(), f"{file} does not define {name}"


@pytest.mark.parametrize("title", sections(RECIPES))
def test_a_recipe_fits_a_screen_and_ends_with_a_command(title):
    lines = sections(RECIPES)[title].strip().splitlines()
    assert len(lines) <= 25
    assert lines[-1].startswith("    make ")


def test_what_is_not_there_is_found():
    text = "## A\n\nBelow `kmod/`:\n\n1. `block.c`, `bloc.c`, `scripts/lab/paths.py`, `verbs/<verb>.c`\n"
    assert missing(text) == ["bloc.c"]
    assert symbols("`f()` `t[]` `struct s` `MACRO` `--word`") == {"f", "t", "s", "MACRO"}
