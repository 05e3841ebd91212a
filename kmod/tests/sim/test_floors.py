# SPDX-License-Identifier: GPL-2.0
"""Each file of the target calls only files of lower floors, by the symbols of the objects; only turn.c moves a block."""

import re
import subprocess

import pytest

from lab.linux import layers
from lab.paths import REPO
from sim.programs import KMOD

# The drawing in the source map, from the top.
MAP = (REPO / "Documentation/develop/source-map.rst").read_text()
DRAWN = MAP.partition("\nFloors: ")[2].partition("::\n\n")[2].partition("\n\n")[0]
FLOORS = [line.split() for line in DRAWN.splitlines()]
FLOOR = {name: number for number, names in enumerate(reversed(FLOORS)) for name in names}


def symbols(path):
    """Return the global symbols that an object defines, and those that it needs."""
    listed = subprocess.run(["nm", "-g", path], capture_output=True, text=True, check=True).stdout
    found = [line.split()[-2:] for line in listed.splitlines()]
    return {name for kind, name in found if kind != "U"}, {name for kind, name in found if kind == "U"}


def upward(objects):
    """Return the calls of a file, or of one of the same floor, that go up or across: (from, to, symbol)."""
    known = {path.stem: symbols(path) for path in objects}
    home = {symbol: name for name, (defined, _) in known.items() for symbol in defined}
    return sorted((name, home[symbol], symbol) for name, (_, needed) in known.items() for symbol in needed
                  if symbol in home and FLOOR[home[symbol]] >= FLOOR[name])


@pytest.fixture(scope="module")
def objects(built):
    return sorted((built / "sim" / "engine").glob("*.o"))


def test_a_file_calls_only_lower_floors(objects):
    assert len(objects) > 20 and upward(objects) == []


def test_a_call_that_goes_up_is_seen(objects, tmp_path, monkeypatch):
    monkeypatch.setitem(FLOOR, "held", FLOOR["target"] + 1)
    assert ("turn", "held", "hold_touch") in upward(objects)


def test_each_file_of_the_target_has_a_floor():
    assert sorted(layers.objects()) == sorted(FLOOR)


def test_the_source_map_has_the_files_of_each_layer():
    table = MAP.partition("\nLayers: ")[2].partition("\nTests: ")[0]
    rows = dict(re.findall(r"^   \* - (\w+)\n     - (.*(?:\n       .*)*)", table, re.M))
    assert {name: sorted(files.split()) for name, files in rows.items() if name != "layer"} == \
        {layer: sorted(layers.added(layer)) for layer in layers.LAYERS}


def test_only_the_turns_write_the_state_of_a_block():
    assert [path.name for path in sorted(KMOD.glob("*.[ch]")) if "->state = " in path.read_text()] == ["turn.c"]
