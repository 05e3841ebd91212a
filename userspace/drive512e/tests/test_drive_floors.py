# SPDX-License-Identifier: GPL-2.0
"""The files of the drive are floors, as the source map lists them from the top: a file uses only what is listed further down."""

import re

import pytest

from lab.floors import calls
from lab.paths import OUT, REPO

TOP = REPO / "userspace/drive512e"
OBJECTS = OUT / "build/drive512e"
MAP = (REPO / "Documentation/develop/source-map.rst").read_text()
# What nbdkit has for the plugin, and clients of the drive, which lie above it.
HOST = {"lines", "clock", "virtual", "nbd"}
# The interface of the files that a disk is made of, and that of nbdkit in tests.
SHARED = {"hdd_internal", "nbdkit_stand_in"}


def listed():
    """The names of the drive's files without suffix, from the top, as the source map lists them."""
    section = re.search(r"^The drive\n=+\n(.*?)(?=^[^\n]+\n=+\n|\Z)", MAP, re.M | re.S)[1]
    cells = re.findall(r"^   \* - (.*?)^     - ", section, re.M | re.S)
    return [name for cell in cells for name in re.findall(r"``(\w+)\.[ch]``", cell) if name not in HOST]


def sources():
    return sorted(TOP.glob("*.c"))


def includes(texts):
    """[(file, header, file)] of {file: its text}: what it includes of the drive's own headers."""
    return [(file, f"{header}.h", header) for file, text in texts.items()
            for header in re.findall(r'^#include "(\w+)\.h"', text, re.M) if header in texts]


def faults(order, edges):
    """What uses something that is not listed further down, one line for each."""
    return [f"{above} uses {what} of {below}, which is not listed below it" for above, what, below in edges
            if above != below and order.index(above) > order.index(below)]


@pytest.fixture(scope="module")
def used():
    called = calls({path.stem: OBJECTS / f"{path.stem}.o" for path in sources()})
    texts = {path.name.partition(".")[0]: "" for path in TOP.glob("*.[ch]")}
    for path in TOP.glob("*.[ch]"):
        texts[path.stem] += path.read_text()
    included = [edge for edge in includes(texts) if not SHARED & {edge[0], edge[2]}]
    assert len(called) > 50 and len(included) > 20
    return called + included


def test_every_file_is_listed_once():
    files = {path.stem for path in TOP.glob("*.[ch]")} - SHARED
    assert sorted(listed()) == sorted(files)


def test_no_file_uses_what_is_not_listed_below_it(used):
    assert not faults(listed(), used)


@pytest.mark.parametrize("edge", [("mechanics", "hdd_advance", "write_cache"), ("queue", "hdd_flush", "hdd"),
                                  ("store", "media.h", "media")])
def test_a_use_of_what_is_listed_above_is_found(used, edge):
    above, what, below = edge
    assert faults(listed(), [*used, edge]) == [f"{above} uses {what} of {below}, which is not listed below it"]


def test_an_include_of_a_higher_file_is_found():
    assert includes({"store": '#include <stdio.h>\n#include "media.h"\n', "media": ""}) == [("store", "media.h", "media")]
