# SPDX-License-Identifier: GPL-2.0
"""The rooms of alignctl are floors: a file calls and includes only what lies further down, as the source map has it."""

import re
import subprocess

import pytest

from lab.floors import calls, circle
from lab.paths import OUT, REPO

TOP = REPO / "userspace/alignctl"
OBJECTS = OUT / "build/alignctl"
MAP = (REPO / "Documentation/develop/source-map.rst").read_text()
# What the kernel module shares with userspace, and so lies below all rooms.
SHARED = {"decide.h", "defaults.h", "geometry.h", "ledger_table.h"}
# Folders that are no rooms.
ASIDE = {"tests", "fuzz", "completion"}
INCLUDE = re.compile(r'^#include [<"]([^>"]+)[>"]', re.M)


def declared():
    """{room: the rooms that it may call}, from the highest floor down, as the source map's table of alignctl says."""
    section = re.search(r"^alignctl\n=+\n(.*?)(?=^[^\n]+\n=+\n|\Z)", MAP, re.M | re.S)[1]
    rows = re.findall(r"^   \* - ``([\w.]+)/?``\n     - .*?\n     -(.*?)(?=^   \* - |^\S|\Z)", section, re.M | re.S)
    return {room: set(re.findall(r"``(\w+)/``", may)) for room, may in rows}


def room_of(path):
    """The room of a file: its folder, or for main.c the file itself."""
    return path.partition("/")[0]


def sources():
    """Every file of the program, from its root."""
    return sorted(path.relative_to(TOP).as_posix() for path in (*TOP.glob("*.[ch]"), *TOP.glob("*/*.[ch]"))
                  if path.parent.name not in ASIDE)


def includes(texts):
    """[(file, header, header)] of {file: its text}: what it includes of the program."""
    return [(file, header, header) for file, text in texts.items() for header in INCLUDE.findall(text) if "/" in header and
            room_of(header) in {room_of(other) for other in texts}]


def faults(floors, edges):
    """What is wrong with the floors, or with edges [(file, what, file)] on them, one line for each."""
    found = []
    lower = set(floors)
    for room, may in floors.items():
        lower.discard(room)
        found += [f"{room} may call {callee}, which does not lie further down" for callee in sorted(may - lower)]
    for caller, what, callee in edges:
        above, below = room_of(caller), room_of(callee)
        if above != below and below not in floors.get(above, ()):
            found.append(f"{caller}: {what} is of {callee}, and {above} may not call {below}")
    rooms = circle([(room_of(caller), what, room_of(callee)) for caller, what, callee in edges])
    return found + ([f"a circle of rooms: {' < '.join(rooms)}"] if rooms else [])


@pytest.fixture(scope="module")
def called():
    objects = {source: OBJECTS / f"{source[:-2]}.o" for source in sources() if source.endswith(".c")}
    missing = [source for source, path in objects.items() if not path.exists()]
    assert not missing, f"{missing[0]} has no object file below {OBJECTS}: make -C userspace/alignctl"
    return calls(objects)


@pytest.fixture(scope="module")
def included():
    return includes({source: (TOP / source).read_text() for source in sources()})


def test_every_room_is_on_the_map():
    assert set(declared()) == {room_of(source) for source in sources()}


def test_tests_lie_in_rooms_of_the_same_name():
    folders = {path.parent.name for path in TOP.glob("tests/*/test_*.*")}
    assert folders and folders <= set(declared())


def test_no_file_calls_up(called):
    assert len(called) > 500
    assert not faults(declared(), called)


def test_no_file_includes_up(included):
    assert len(included) > 300
    assert not faults(declared(), included)


def test_no_files_call_each_other_in_a_circle(called):
    assert not circle(called)
    lowest = ("base/message.c", "output_flush", "base/output.c")
    assert circle([*called, lowest])[0] in lowest


def test_what_a_room_may_call_it_does_call(called, included):
    """Or the map says more than is so."""
    used = {(room_of(caller), room_of(callee)) for caller, _, callee in called + included}
    assert {(room, callee) for room, may in declared().items() for callee in may} <= used


def test_data_races_are_looked_for_in_each_room_that_runs_threads(called):
    """make check-threads runs the tests whose promise has its word; unit.c sees to it that those that start threads have."""
    word = re.search(r"CHECK_WORD=(\w+)", (TOP / "Makefile").read_text())[1]
    tests = sorted(TOP.glob("tests/*/test_*.c"))
    tested = {path.parent.name for path in tests}
    searched = {path.parent.name for path in tests if re.search(rf'{{ "[^"]*{word}[^"]*",', path.read_text())}
    start = [source for source in sources() if source.endswith(".c") and "pthread_create(" in (TOP / source).read_text()]
    run = {room_of(caller) for caller, _, callee in called if callee in start}
    assert start and {room_of(source) for source in start} | run & tested <= searched


def test_an_include_names_its_room():
    for source in sources():
        for header in re.findall(r'^#include "([^"]+)"', (TOP / source).read_text(), re.M):
            assert header in SHARED or (TOP / header).exists(), f"{source} includes {header}"


def test_a_file_includes_a_header_once():
    files = [*TOP.rglob("*.[ch]")]
    assert len(files) > 150
    for file in files:
        # the table of counters is there to be included more than once
        headers = [header for header in INCLUDE.findall(file.read_text()) if header != "ledger_table.h"]
        assert sorted(set(headers)) == sorted(headers), file


# The test of the tests: what is wrong is found.

HOUSE = {"top": {"left", "base"}, "left": {"base"}, "right": {"base"}, "base": set()}


@pytest.mark.parametrize("edges, words", [
    ([("base/a.c", "f", "left/b.c")], ["base/a.c: f is of left/b.c, and base may not call left"]),
    ([("left/a.c", "f", "right/b.c")], ["left/a.c: f is of right/b.c, and left may not call right"]),
    ([("top/a.c", "f", "right/b.c")], ["top/a.c: f is of right/b.c, and top may not call right"]),
    ([("attic/a.c", "f", "base/b.c")], ["attic/a.c: f is of base/b.c, and attic may not call base"]),
    ([("left/a.c", "f", "base/b.c"), ("base/b.c", "g", "left/a.c")], ["base may not call left", "a circle of rooms"]),
])
def test_an_edge_that_may_not_be_is_found(edges, words):
    found = faults(HOUSE, edges)
    assert len(found) == len(words) and all(word in line for word, line in zip(words, found))
    assert not faults(HOUSE, [("top/a.c", "f", "base/b.c"), ("left/a.c", "f", "left/b.c")])


def test_floors_that_are_no_floors_are_found():
    assert faults({"top": {"base"}, "base": {"top"}}, []) == ["base may call top, which does not lie further down"]


def test_a_symbol_of_a_higher_floor_is_found_in_an_object_file(tmp_path, called):
    """With the real floors, and a file in base/ that calls a verb."""
    texts = {"base/low.c": "int verb_new(void);\nint low(void) { return verb_new(); }\n",
             "verbs/new.c": "int low(void);\nstatic int own(void) { return 1; }\n"
                            "int verb_new(void) { return own() ? 0 : low(); }\n"}
    objects = {}
    for source, text in texts.items():
        file = tmp_path / source.replace("/", "_")
        file.write_text(text)
        objects[source] = file.with_suffix(".o")
        subprocess.run(["cc", "-c", "-o", objects[source], file], check=True)
    made_up = calls(objects)
    assert sorted(made_up) == [("base/low.c", "verb_new", "verbs/new.c"), ("verbs/new.c", "low", "base/low.c")]
    assert "base/low.c: verb_new is of verbs/new.c, and base may not call verbs" in faults(declared(), called + made_up)


def test_an_include_of_a_higher_floor_is_found(included):
    texts = {"base/low.h": '#include <stdio.h>\n#include "geometry.h"\n#include "verbs/verbs.h"\n', "verbs/verbs.h": ""}
    assert includes(texts) == [("base/low.h", "verbs/verbs.h", "verbs/verbs.h")]
    assert faults(declared(), included + includes(texts))


@pytest.mark.parametrize("path", [path for path in sources() if path.endswith(".c")])
def test_a_file_begins_with_what_it_is_about(path):
    licence, second, *_ = (TOP / path).read_text().splitlines()
    assert licence.startswith("// SPDX-License-Identifier: ") and second.startswith("/*"), second
