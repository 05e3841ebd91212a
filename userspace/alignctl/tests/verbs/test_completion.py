# SPDX-License-Identifier: GPL-2.0
"""bash's completion, which asks the program: its answers are those of the program's own tables."""

import json
import os
import re
import subprocess

import pytest

from alignctl_program import ALIGNCTL, METHODS, VERBS, alignctl
from lab.pace import patience
from lab.paths import REPO

SCRIPT = REPO / "userspace/alignctl/completion/alignctl"
ASK = r'''
source "$0"
program=$1
COMP_WORDS=("$@")
COMP_WORDS=("alignctl" "${COMP_WORDS[@]:1}")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_alignctl "$program" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
'''
COMMON = {"--help", "--version"}
# What --X nonsense is answered with, where X is one of several words.
CHOICE = re.compile(r"must be ((?:[\w-]+, )*[\w-]+ or [\w-]+)(?:;|$)", re.M)


@pytest.fixture
def ask(tmp_path, machine):
    """What bash offers for the last of some words, on the made-up machine, in an empty folder."""
    folder = tmp_path / "here"
    folder.mkdir()
    environment = {**os.environ, "ALIGNCTL_SYSROOT": str(machine[0])}

    def run(*words):
        done = subprocess.run(["bash", "--norc", "-c", ASK, SCRIPT, ALIGNCTL, *words], text=True, capture_output=True, check=True,
                              timeout=patience(60), cwd=folder, env=environment)
        assert not done.stderr
        return done.stdout.splitlines()
    run.folder, run.machine = folder, environment
    return run


def options_of(verb):
    """{option: the word for its argument, or None}"""
    shown = alignctl(verb, "--help").stdout
    return {option: argument or None for option, argument in
            re.findall(r"^ (--[a-z-]+)(?: ([A-Zon|]\S*))?(?=\s)", shown, re.M)}


def choices():
    """{(verb, option): the words that it can be}, as the program says when it refuses another one."""
    found = {}
    for verb in VERBS:
        for option, argument in options_of(verb).items():
            refused = alignctl(verb, option, "nonsense", "x") if argument else None
            said = refused and CHOICE.search(refused.stderr)
            if said:
                found[verb, option] = re.split(r", | or ", said[1])
    return found


def test_the_verbs_are_those_of_the_help(ask):
    assert ask("") == [*VERBS, "help", "--help", "--version"]
    assert ask("re") == ["replay", "record"]
    assert ask("nothing") == [] and ask("nothing", "") == []


@pytest.mark.parametrize("verb", VERBS)
def test_the_options_of_a_verb_are_those_of_its_help(ask, verb):
    assert set(ask(verb, "--")) == {*options_of(verb), *COMMON}


def test_an_option_that_is_refused_is_not_offered(ask):
    assert ask("record", "--con") == [] and "--convert" not in ask("record", "")


def test_words_that_an_option_can_be_are_those_that_a_refusal_names(ask):
    known = choices()
    assert {option for _, option in known} == {"--by", "--method", "--mode", "--modes", "--phase", "--timing", "--format",
                                               "--from", "--to", "--write-cache"}
    for (verb, option), words in known.items():
        assert ask(verb, option, "") == words, (verb, option)
        assert ask(verb, option, words[-1][:-1]) == [words[-1]], (verb, option)
        # as bash splits --mode=pad
        assert ask(verb, option, "=") == words and ask(verb, option, "=", words[0]) == [words[0]], (verb, option)


def test_an_option_whose_argument_has_no_names_offers_nothing(ask):
    """A number, or a name that is new."""
    asked = 0
    for verb in VERBS:
        for option, argument in options_of(verb).items():
            if argument in ("N", "KIB", "SECTORS", "SECONDS", "X", "NAME"):
                assert ask(verb, option, "") == [], (verb, option)
                asked += 1
    assert asked > 20


def test_a_list_goes_on_behind_its_comma(ask):
    assert ask("verify", "--modes", "raw,") == ["raw,report", "raw,pad", "raw,coalesce"]
    assert ask("verify", "--modes", "pad,raw,c") == ["pad,raw,coalesce"]


def test_a_number_that_can_be_a_word_offers_it(ask):
    assert ask("attach", "--physical", "") == ["auto"]


def operands(answers):
    return [word for word in answers if not word.startswith("--")]


def test_workloads_and_methods_are_those_of_the_program(ask):
    document = json.loads(alignctl("workloads", "--json").stdout)
    workloads = [workload["name"] for workload in document["workloads"]]
    assert len(workloads) > 40
    assert operands(ask("plan", "")) == operands(ask("verify", "w512", "--count", "5", "")) == workloads
    assert operands(ask("replay", "")) == workloads
    assert operands(ask("probe", ""))[:len(METHODS)] == [method["name"] for method in document["methods"]]


def test_devices_are_those_of_the_machine(ask, machine):
    (machine[0] / "sys/class/block/cciss!c0d0").mkdir()
    assert operands(ask("attach", "")) == ["/dev/cciss/c0d0", "/dev/mapper/align-sda"]
    assert operands(ask("set", "")) == operands(ask("detach", "--force", "")) == operands(ask("stats", "")) == ["align-sda"]
    assert operands(ask("set", "align-sda", "")) == []
    assert operands(ask("verify", "--live", "")) == ["align-sda"]
    assert operands(ask("attach", "--all", "")) == operands(ask("attach", "--tab", "x", "")) == []
    assert operands(ask("stats", "x", "al")) == ["align-sda"]
    assert "/dev/mapper/align-sda" in ask("replay", "--on", "/dev/m")


@pytest.mark.parametrize("words", [
    ["convert"], ["plan", "--json"], ["replay", "--on"], ["replay", "--state"], ["replay", "--check"], ["verify", "--html"],
    ["fleet"], ["fleet", "x", "--json"], ["fleet", "--html"], ["verify", "--drive-control"], ["record", "--output"],
    ["record", "/dev/sda", "--"]])
def test_files_are_offered_where_one_can_stand(ask, words):
    (ask.folder / "a trace.csv").touch()
    (ask.folder / "b").touch()
    assert ask(*words, "a ") == ["a trace.csv"]
    if words[-1].startswith("--") and words[-1] not in ("--", "--json"):
        assert ask(*words, "=", "b") == ["b"]


def test_files_are_not_offered_where_none_can_stand(ask):
    (ask.folder / "report").touch()
    for words in ([], ["set"], ["list"], ["workloads"], ["verify"], ["attach"], ["attach", "--name"]):
        assert ask(*words, "rep") == [word for word in VERBS if not words and word.startswith("rep")]
    assert ask("attach", "--mode", "rep") == ["report"]


def test_asking_does_nothing_and_refuses_nothing(ask):
    for verb in VERBS:
        for option in options_of(verb):
            asked = alignctl("complete", verb, "x", "--output", "made", "--json", option, "", cwd=ask.folder, env=ask.machine)
            assert asked.returncode == 0 and not asked.stderr, asked
    assert not os.listdir(ask.folder)
