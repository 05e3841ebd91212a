# SPDX-License-Identifier: GPL-2.0
"""The man pages have what the tables of options say, formatters and apropos read them, and what they refer to is there."""

import importlib.machinery
import importlib.util
import json
import re
import subprocess
import sys

import pytest

from lab.paths import REPO

PROGRAM = REPO / "Documentation/gen-man-options"
PAGES = sorted((REPO / "Documentation/man").iterdir())
# As man-pages(7) has them; other sections stand before FILES.
ORDER = ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO")


def loaded():
    loader = importlib.machinery.SourceFileLoader("gen_man_options", str(PROGRAM))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = written
    return module


made = loaded()
VERBS = made.verbs()
UPDATED = made.updated()


@pytest.mark.parametrize("path", UPDATED, ids=lambda path: path.name)
def test_a_page_has_what_the_tables_say(path):
    assert path.read_text() == UPDATED[path], "run 'Documentation/gen-man-options update'"


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb["verb"])
def test_each_option_has_one_entry(verb):
    """One that is written by hand beside the one that is made would be a second."""
    options = re.sub(r"^\.RS\n.*?^\.RE\n", "", made.sections(made.page(verb["verb"]).read_text())["OPTIONS"], flags=re.M | re.S)
    entries = re.findall(r"^\.TP\n(?:\\f.|\.\w+ )--([a-z-]+)", options.replace("\\-", "-"), re.M)
    assert entries == [option["option"] for option in verb["options"]]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb["verb"])
def test_a_range_that_has_two_ends_is_not_at_least_one(verb):
    """Of more than any number may be, the verb says the range."""
    texts = dict(re.findall(r'^\.\\" Text of --([a-z-]+):\n(.*?)^\.\\" End\.$', made.page(verb["verb"]).read_text(), re.M | re.S))
    for name in {option["option"] for option in verb["options"] if option["kind"] == "number"} & {*texts}:
        said = subprocess.run([made.ALIGNCTL, verb["verb"], f"--{name}", "9" * 30], capture_output=True, text=True).stderr
        if re.search(r"must be .* from \d+ to \d+", said):
            assert not re.search(r"at least \d", texts[name]), (name, said)


@pytest.fixture
def table():
    def row(name, **fields):
        return {"option": name, "argument": None, "kind": "none", "help": f"do {name}", "values": [], "excludes": [],
                "only_with": None, "needs": [], "operands": None, "because": None, **fields}
    return row


def test_both_of_two_options_that_exclude_each_other_say_it(table):
    rows = [table("one", excludes=["two", "three"], because="as it is alone"), table("two"), table("three", excludes=["two"])]
    said = [made.constraints(row, rows).replace("\\-", "-").replace("\\fB", "").replace("\\fP", "") for row in rows]
    assert said == ["Not with --two or --three, as it is alone.", "Not with --three.\nNot with --one, as it is alone.",
                    "Not with --two.\nNot with --one, as it is alone."]


def test_a_text_by_hand_stands_for_the_line_of_the_help_and_for_the_values_that_it_names(table):
    row = table("by", argument="WHAT", values=["host", "disk"], needs=["one"], because="which has both")
    plain = made.entry(row, [row], {})
    assert "\nSome of \\fBhost\\fP and" in made.entry({**row, "kind": "list"}, [row], {})
    assert "\nDo by.\nOne of \\fBhost\\fP and \\fBdisk\\fP.\nNeeds \\fB\\-\\-one\\fP, which has both.\n" in plain
    told = made.entry(row, [row], {("of", "by"): "Rows: host or disk.\n", ("before", "by"): ".SS Rows\n"})
    assert told.startswith('.\\" Text before --by:\n.SS Rows\n.\\" End.\n.TP\n') and "Do by" not in told and "One of" not in told
    assert '\n.\\" Text of --by:\nRows: host or disk.\n.\\" End.\nNeeds ' in told
    assert "One of" in made.entry(row, [row], {("of", "by"): "Rows: hosts or disk.\n"})


def test_a_text_of_an_option_that_is_gone_is_reported(table):
    page = '.SH OPTIONS\n.\\" Text of --away:\nGo.\n.\\" End.\n'
    with pytest.raises(SystemExit, match="--away"):
        made.parts({"verb": "list", "summary": "List", "operands": "", "forms": [], "options": [table("json")]}, page)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_is_formatted_without_a_warning(path):
    done = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8", path], capture_output=True, text=True, check=True)
    assert not done.stderr


def test_an_escaped_byte_looks_as_alignctl_prints_it():
    """In an argument of a macro, the "e" of an escaped backslash is printed."""
    for page in ("alignctl.8", "alignctl-stats.8"):
        shown = subprocess.run(["groff", "-man", "-Tutf8", "-P-cbou", REPO / "Documentation/man" / page],
                               capture_output=True, text=True, check=True).stdout
        assert re.findall(r"\S+(?=xNN)", shown) == ["\\"], page


def test_the_initramfs_is_made_anew_by_the_command_that_alignctl_prints():
    """An older kernel's is one of its own."""
    remedies = json.loads(subprocess.run([made.ALIGNCTL, "check", "--remedies", "--json"],
                                         capture_output=True, text=True, check=True).stdout)["remedies"]
    [command] = [remedy["command"] for remedy in remedies if remedy["name"] == "initramfs"]
    texts = "".join(path.read_text() for path in (*PAGES, *REPO.glob("Documentation/admin/*.rst"))).replace("\\-", "-")
    named = re.findall(r"update-initramfs -[-\w ]*", texts)
    assert named and not [name for name in named if not name.startswith(command)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_apropos_finds_a_page_by_its_name(path):
    shown = subprocess.run(["lexgrog", path], capture_output=True, text=True, check=True).stdout
    assert re.search(rf': "{re.escape(path.stem)} - \w.+"$', shown.strip()), shown


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_sections_stand_in_the_usual_order(path):
    titles = re.findall(r"^\.SH (.*)$", path.read_text(), re.M)
    places = [ORDER.index(title if title in ORDER else "") for title in titles]
    assert places == sorted(places) and {"NAME", "DESCRIPTION", "SEE ALSO"} <= set(titles), titles


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_and_sections_that_a_page_names_are_there(path):
    text = path.read_text().replace("\\-", "-")
    own = {name: section for name, section in re.findall(r"^\.BR (align[\w-]+|nbdkit-drive512e-plugin) \((\d)\)", text, re.M)}
    assert own and all((path.parent / f"{name}.{section}") in PAGES for name, section in own.items())
    titles = set(re.findall(r"^\.S[HS] (.*)$", text, re.M))
    heading = r'"?((?:JSON OF|METRICS|TABLES|HISTOGRAM FILES|LAYOUTS|WORKLOADS|EXIT STATUS)[A-Z -]*?)"?'
    named = re.findall(rf"^\.BR? {heading}(?: \S+)?$", text, re.M)
    assert set(named) <= titles, set(named) - titles
