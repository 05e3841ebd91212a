# SPDX-License-Identifier: GPL-2.0
"""Each option of a table arrives in the program that alignctl starts, with the value that its row says, and none is ignored."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, fields
from pathlib import Path

import pytest
from handed import PRINT, handed, left, started

import align_reports
from align_reports import given
from align_reports.compare import command as compare
from align_reports.fleet import command as fleet
from align_reports.live import command as live
from align_reports.probe import command as probe
from align_reports.verify import command as verify
from alignctl_program import ALIGNCTL, AREA, alignctl
from lab.pace import patience

TABLES = {verb["verb"]: {row["option"]: row for row in verb["options"]}
          for verb in json.loads(alignctl("help", "--json").stdout)["verbs"]}
PROGRAMS = {"verify": verify, "compare": compare, "probe": probe, "fleet": fleet}
# Words of each form of a verb. The files are those of a test.
FORMS = {
    "modes": ["verify", "w512", "--on", "one"],
    "modes, random": ["verify", "rand4k", "--on", "one"],
    "two": ["verify", "w512", "--on", "one", "--vs", "two"],
    "two, a trace": ["verify", "trace.csv", "--on", "one", "--vs", "two"],
    "two, reads": ["verify", "rndread", "--on", "one", "--vs", "two"],
    "two, areas": ["verify", "areasync-4k", "--on", "one", "--vs", "two"],
    "two, pauses": ["verify", "db-daemon", "--on", "one", "--vs", "two"],
    "reads": ["probe", "cncread", "one"],
    "writes": ["probe", "cncwrite", "one", *AREA],
    "samples": ["probe", "seqread", "--samples", "x"],
    "fleet": ["fleet", "one"],
}
# An argument that each word of the help stands for, and what arrives.
ARGUMENTS = {"N": ("8K", 8192), "X": ("2.5", 2.5), "SECONDS": ("0.5", 0.5), "FILE": ("a \u00e4,b", "a \u00e4,b"),
             "NAME": ("a,b", "a,b"), "SOCKET": ("x", "x"), "on|off": ("on", "on"), "START+LENGTH": ("4K+2M", [4096, 2 << 20]),
             "DISK": ("8,0", "8,0"), "DEV": ("one", "one"), "LIST": ("op,offset,bytes", "op,offset,bytes")}
# Where that is no good one.
ARGUMENTS_OF = {"depth": ("7", 7), "threads": ("7", 7), "repeat": ("7", 7), "areas": ("2", 2), "count": ("9", 9),
                "span": ("8M", 8 << 20), "vs": ("two", "two")}
# The rows of a table that no program is started with, or that need a device of device-mapper.
NOT_HANDED = {"verify": {"json-schema", "live", "seconds", "period"}, "probe": {"json-schema"}, "fleet": {"json-schema"}}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        with open(name, "wb") as file:
            file.truncate(24 << 20)
    Path("trace.csv").write_text("op,offset,bytes\nwrite,0,4096\n")


def value(row):
    """An argument for a row, and what of it arrives; (None, True): it takes none."""
    if row["argument"] is None:
        return None, True
    if row["values"]:
        listed = row["kind"] == "list"
        return (",".join(row["values"][:2]), row["values"][:2]) if listed else (row["values"][-1], row["values"][-1])
    return ARGUMENTS_OF.get(row["option"], ARGUMENTS[row["argument"]])


@pytest.mark.parametrize("verb, option", [(verb, option) for verb in NOT_HANDED for option in TABLES[verb]
                                          if option not in NOT_HANDED[verb]])
def test_each_option_of_a_table_arrives_with_its_value(files, verb, option):
    """In each form of the verb that takes it, of which there is one at least: in the words for replay, or in its field."""
    argument, expected = value(TABLES[verb][option])
    words = [f"--{option}", *([argument] if argument else [])]
    arrived = 0
    for form in FORMS.values():
        program, members = started(*form, *words) if form[0] == verb else (None, None)
        if not program:
            continue
        found = given.of(PROGRAMS[program].Given, members)
        arrived += 1
        if f"--{option}" in getattr(found, "passed_on", ()):
            at = found.passed_on.index(f"--{option}")
            assert argument is None or found.passed_on[at + 1] == str(expected)
        else:
            mine = getattr(found, option.replace("-", "_"))
            arrives = Path(expected) if isinstance(mine, Path) else expected
            assert arrives in (mine, *(mine if isinstance(mine, list) else ())), form
    assert arrived, f"{verb} --{option}: no form of FORMS takes it"


def test_the_program_of_live_has_a_field_for_each_option_that_goes_with_it():
    rows = TABLES["verify"]
    options = {option.replace("-", "_") for option in ("live", *rows["live"]["only_with"])}
    assert {each.name for each in fields(live.Given)} == options | {"operands", "keeper"}


@pytest.mark.parametrize("verb, command", [("verify", verify), ("verify", compare), ("probe", probe), ("fleet", fleet)])
def test_a_field_is_an_option_or_what_alignctl_adds(verb, command):
    options = {option.replace("-", "_") for option in TABLES[verb]}
    assert {each.name for each in fields(command.Given)} - options <= {"operands", "passed_on", "in_phases", "reader"}


@dataclass(frozen=True, kw_only=True)
class Few:
    needed: int
    path: Path | None = given.member(Path, default=None)


def test_a_member_without_a_field_and_a_field_without_its_member_are_errors():
    assert given.of(Few, {"needed": 1, "path": "x"}) == Few(needed=1, path=Path("x"))
    with pytest.raises(TypeError, match="unexpected keyword argument 'new_one'"):
        given.of(Few, {"needed": 1, "new-one": True})
    with pytest.raises(TypeError, match="needed"):
        given.of(Few, {"path": "x"})


DEFAULTS = [("modes", "repeat", r"runs in each mode \((\d+);"), ("two", "repeat", r"on each device \((\d+)\)"),
            ("reads", "seed", r"default: (\d+)"), ("fleet", "by", r"(\w+) \(default\)")]


@pytest.mark.parametrize("form, option, told", DEFAULTS)
def test_a_default_is_that_of_the_help(files, form, option, told):
    assert str(handed(*FORMS[form])[option]) == re.search(told, TABLES[FORMS[form][0]][option]["help"])[1]


def test_defaults_depend_on_what_else_is_given(files):
    assert handed("fleet", "one", "--host", "a")["by"] == "device"
    row = TABLES["verify"]["modes"]
    assert handed("verify", "w512", "--on", "one")["modes"] == row["values"]
    assert row["help"] == f"some of {','.join(row['values'])} (default: all)"


METHODS = {method["name"]: method for method in json.loads(alignctl("workloads", "--json").stdout)["methods"]}


@pytest.mark.parametrize("method", METHODS)
def test_a_method_is_given_the_number_of_its_requests_unless_a_workload_has_it_or_its_results(files, method):
    words = ["probe", method, "one", *(AREA if METHODS[method]["writes"] else [])]
    decides = method == "block-size" or alignctl("plan", method, "--size", "1T", "--json").returncode == 0
    assert handed(*words).get("count") == (None if decides else METHODS[method]["count"])
    if method != "block-size":
        assert handed(*words, "--count", "9")["count"] == 9


def test_of_two_ways_of_access_the_last_counts(files):
    for words, left_out in ((["--direct", "--buffered"], "direct"), (["--buffered", "--direct"], "buffered")):
        assert left_out not in handed("verify", "w512", "--on", "one", *words)
        assert handed("verify", "w512", "--on", "one", "--vs", "two", *words)["passed_on"] == [words[1]]


@pytest.mark.parametrize("text, number", [("3", 3), ("2K", 2048), ("1m", 1 << 20), ("2T", 2 << 40), ("1PiB", 1 << 50)])
def test_a_number_is_one(files, text, number):
    assert handed("verify", "w512", "--on", "one", "--max-blocks", text)["max-blocks"] == number


def test_a_path_keeps_its_bytes_and_thousands_of_them_are_no_matter(tmp_path):
    names = [b"odd \xff \n,\"", *(b"%d" % number * 20 for number in range(9000))]
    done = subprocess.run([ALIGNCTL, "fleet", *names], capture_output=True, timeout=patience(60), check=False,
                          env={**os.environ, "ALIGNCTL_PYTHON": str(PRINT)})
    members = json.loads(os.fsdecode(done.stderr))["given"]
    assert [os.fsencode(each) for each in members["operands"]] == names
    members.pop("reader")
    descriptor = left(members)
    assert given.read(fleet.Given, descriptor).operands == members["operands"]
    with pytest.raises(OSError):
        os.fstat(descriptor)


def test_an_option_that_the_program_does_not_know_ends_it(tmp_path):
    descriptor = left({"operands": [str(tmp_path)], "by": "host", "new": True})
    done = subprocess.run([sys.executable, Path(align_reports.__file__).parent, "fleet", str(descriptor)], text=True,
                          pass_fds=[descriptor], capture_output=True, timeout=patience(60), check=False)
    assert done.returncode == 3 and "'new'" in done.stderr
