# SPDX-License-Identifier: GPL-2.0
"""What --help and --version print, of the program and of each verb."""

import re

import pytest

from alignctl_program import COUNTERS, VERBS, alignctl, man_page

FINE = 0


def options_of(verb):
    return re.findall(r"^ (?:-[hV], )?(--[a-z-]+)", alignctl(verb, "--help").stdout, re.M)


def test_help_lists_every_verb():
    shown = alignctl("--help")
    assert shown.returncode == FINE
    assert re.findall(r"^ ([a-z]+)  ", shown.stdout, re.M) == list(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_has_the_same_shape(verb):
    shown = alignctl(verb, "--help")
    assert shown.returncode == FINE and not shown.stderr
    assert shown.stdout.startswith(f"\nUsage:\n alignctl {verb}")
    assert shown.stdout.endswith(f"For more details see alignctl-{verb}(8).\n")
    assert max(map(len, shown.stdout.split("Counters")[0].splitlines())) <= 80


@pytest.mark.parametrize("verb", VERBS)
def test_the_usage_line_has_options_where_they_are_taken(verb):
    """What follows "--" is a command's, and an option there would not be the verb's."""
    usage = alignctl(verb, "--help").stdout.split("\n\n")[0].splitlines()[2:]
    for own, _, of_command in (line.partition(" [-- ") for line in usage):
        assert re.search(r"--[a-z]|\[options\]", own) and "--" not in of_command and "[options]" not in of_command


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_is_in_the_man_page(verb):
    for option in options_of(verb):
        name = "alignctl.8" if option in ("--help", "--version") else f"alignctl-{verb}.8"
        assert option in man_page(name), f"{option} is not in {name}"


@pytest.mark.parametrize("arguments", [["--version"], ["list", "--version"]])
def test_version(arguments):
    shown = alignctl(*arguments)
    assert shown.returncode == FINE
    assert re.fullmatch(r"alignctl \d+\.\d+\n", shown.stdout)


def test_help_of_stats_explains_every_counter():
    shown = alignctl("stats", "--help").stdout
    for name, _ in COUNTERS:
        assert re.search(rf"^ {name} +\w+ +\w+", shown, re.M), name
