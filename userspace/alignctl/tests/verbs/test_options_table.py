# SPDX-License-Identifier: GPL-2.0
"""What the table of a verb's options says, the verb does: for each row of each table, as alignctl help --json has them."""

import json
import re

import pytest

from alignctl_program import VERBS, alignctl

USAGE = 2

# An argument that each word of the help stands for.
ARGUMENTS = {"N": "4096", "N|auto": "4096", "N [COUNT]": "1", "512": "512", "KIB": "4", "X": "2", "SECTORS": "8", "SECONDS": "1",
             "START+LENGTH": "0+1M", "MIN-MAX": "10-30", "on|off": "on", "KIND": "sub-block+read/across", "FILE": "x", "DEV": "x",
             "DISK": "x", "STATE": "x", "NAME": "x", "LINE": "x", "SOCKET": "x", "SOURCE": "x", "LIST": "op,offset,bytes"}
# Ranges that 4096 is not in.
SMALL = {"depth", "threads", "jobs", "repeat"}
DOCUMENT = json.loads(alignctl("help", "--json").stdout)
TABLES = {verb["verb"]: {row["option"]: row for row in verb["options"]} for verb in DOCUMENT["verbs"]}
ROWS = [(verb, option) for verb, table in TABLES.items() for option in table]


def words(verb, option):
    """The option with a good argument, if it takes one."""
    row = TABLES[verb][option]
    if row["argument"] is None:
        return [f"--{option}"]
    return [f"--{option}", "7" if option in SMALL else row["values"][0] if row["values"] else ARGUMENTS[row["argument"]]]


def refusal(verb, *arguments):
    """What the verb says of arguments that it refuses."""
    refused = alignctl(verb, *arguments, "x")
    assert refused.returncode == USAGE, (verb, arguments, refused)
    assert not refused.stdout
    return refused.stderr


def test_all_verbs_have_a_table():
    assert tuple(TABLES) == VERBS


@pytest.mark.parametrize("verb, option", ROWS)
def test_a_row_names_options_of_its_verb(verb, option):
    row = TABLES[verb][option]
    named = {*row["excludes"], *(row["only_with"] or ()), *row["needs"]}
    assert named <= {*TABLES[verb]} - {option}


@pytest.mark.parametrize("verb", TABLES)
def test_a_form_names_options_of_its_verb_with_their_arguments(verb):
    forms = next(found["forms"] for found in DOCUMENT["verbs"] if found["verb"] == verb)
    known = {f"--{option}": row["values"][0] if len(row["values"]) == 1 else row["argument"] or ""
             for option, row in TABLES[verb].items()}
    for form in forms:
        for option, behind in re.findall(r"(--[a-z-]+)([^-]*)", form.partition(" [-- ")[0]):
            assert option in known and (behind.lstrip() + " ").startswith(known[option]), (form, option)


EXCLUDED = [(verb, option, other) for verb, option in ROWS for other in TABLES[verb][option]["excludes"]]


@pytest.mark.parametrize("verb, option, other", EXCLUDED)
def test_options_that_exclude_each_other_are_refused_together(verb, option, other):
    for arguments in ([*words(verb, option), *words(verb, other)], [*words(verb, other), *words(verb, option)]):
        assert f"--{option}, --{other}: exclude each other" in refusal(verb, *arguments)


ALONE = [(verb, option, other) for verb, option in ROWS if TABLES[verb][option]["only_with"] is not None
         for other in TABLES[verb] if other not in (option, *TABLES[verb][option]["only_with"])]


@pytest.mark.parametrize("verb, option, other", ALONE)
def test_what_does_not_go_with_an_option_is_refused(verb, option, other):
    said = refusal(verb, *words(verb, option), *words(verb, other))
    # Of two that are so, the one that comes first in the table says it.
    assert f"--{other}: does not apply to --{option}" in said or f"--{option}: does not apply to --{other}" in said


NEEDING = [(verb, option) for verb, option in ROWS if TABLES[verb][option]["needs"]]


@pytest.mark.parametrize("verb, option", NEEDING)
def test_an_option_without_one_of_those_that_it_needs_is_refused(verb, option):
    said = refusal(verb, *words(verb, option))
    *most, last = [" ".join(filter(None, (f"--{needed}", row["values"][0] if len(row["values"]) == 1 else row["argument"])))
                   for needed, row in TABLES[verb].items() if needed in TABLES[verb][option]["needs"]]
    listed = f"{', '.join(most)} or {last}" if most else last
    assert said.startswith(f"alignctl: --{option}: needs {listed}") and said.endswith(f"; add {'one' if most else 'it'}\n")
    for needed in TABLES[verb][option]["needs"]:
        assert f"--{option}: needs" not in alignctl(verb, *words(verb, option), *words(verb, needed), "x").stderr


WITH_OPERANDS = [(verb, option) for verb, option in ROWS if TABLES[verb][option]["operands"] is not None]


@pytest.mark.parametrize("verb, option", WITH_OPERANDS)
def test_an_option_has_the_operands_of_its_row_and_no_others(verb, option):
    row = TABLES[verb][option]
    takes, needs = row["operands"].split(), [word for needed in row["needs"] for word in words(verb, needed)]
    for over in ("over", "over above"):
        refused = alignctl(verb, *words(verb, option), *needs, *takes, *over.split())
        assert refused.returncode == USAGE and not refused.stdout
        said = f"only {row['operands']}" if takes else "no operand"
        assert refused.stderr == f"alignctl: over: does not apply to --{option}, which takes {said}; leave it out\n"
    missing = alignctl(verb, *words(verb, option), *needs)
    assert (missing.stderr == f"alignctl: --{option}: needs {row['operands']}; add it\n") == bool(takes)


@pytest.mark.parametrize("verb, said", [("attach", "DEV, --all or --tab LINE"), ("replay", "SOURCE or --check STATE")])
def test_options_in_place_of_operands_are_named_where_both_are_missing(verb, said):
    missing = alignctl(verb)
    assert missing.returncode == USAGE and missing.stderr.startswith(f"alignctl: {verb}: needs {said}\n")


NAMED = [(verb, option) for verb, option in ROWS if TABLES[verb][option]["values"]]


@pytest.mark.parametrize("verb, option", NAMED)
def test_an_argument_that_is_none_of_the_values_is_refused_and_the_values_are_named(verb, option):
    said = refusal(verb, f"--{option}", "nonsense")
    *most, last = TABLES[verb][option]["values"]
    listed = f"{', '.join(most)} or {last}" if most else last
    assert said == f"alignctl: --{option} nonsense: must be {listed}\n"


NUMBERS = [(verb, option) for verb, option in ROWS if TABLES[verb][option]["kind"] in ("number", "real")]


@pytest.mark.parametrize("verb, option", NUMBERS)
def test_an_argument_that_is_no_number_is_refused_with_what_it_must_be(verb, option):
    for argument in ("nonsense", "-1", "1e400"):
        assert refusal(verb, f"--{option}={argument}").startswith(f"alignctl: --{option} {argument}: ")


@pytest.mark.parametrize("verb, option", ROWS)
def test_the_kind_of_an_argument_says_whether_there_is_one_and_what_it_can_be(verb, option):
    row = TABLES[verb][option]
    assert (row["kind"] == "none") == (row["argument"] is None)
    assert (row["kind"] == "name") <= bool(row["values"]) <= (row["kind"] in ("name", "list"))


def test_there_are_rows_of_each_kind():
    assert min(map(len, (EXCLUDED, ALONE, NEEDING, WITH_OPERANDS, NAMED, NUMBERS))) >= 8


@pytest.mark.parametrize("arguments, said", [
    (["help", "x"], "no verb 'x'; 'alignctl --help' lists them"),
    (["help", "plann"], "no verb 'plann'; did you mean 'plan'?"),
    (["help", "plan", "check"], "help: takes one VERB, or --json, and not 'check' behind it"),
])
def test_help_for_what_is_no_verb_is_refused(arguments, said):
    refused = alignctl(*arguments)
    assert refused.returncode == USAGE and said in refused.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_is_what_the_verb_prints(verb):
    assert alignctl("help", verb).stdout == alignctl(verb, "--help").stdout


def test_help_alone_lists_the_verbs():
    assert alignctl("help").stdout == alignctl("--help").stdout
