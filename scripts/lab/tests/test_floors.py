# SPDX-License-Identifier: GPL-2.0
"""The rooms of the lab and of the reports: a module imports its own room, the files beside the rooms, and few other rooms."""

import pytest

from lab import floors
from lab.paths import REPO

PACKAGES = {"lab": REPO / "scripts/lab", "align_reports": REPO / "userspace/align_reports"}
# {room: the rooms that it may import}. The lab's are those of the table in source-map.rst, where a room below includes its own.
ROOMS = {
    "lab": {
        "linux": set(),
        "machines": {"linux"},
        "images": {"linux", "machines"},
        "plugins": {"linux", "machines"},
        "proof": {"linux", "machines", "plugins"},
        "mutants": {"linux"},
        "upstream": {"linux"},
        "demo": {"linux", "machines"},
        "dashboard": {"linux", "machines", "demo"},
        "drive": {"machines", "demo", "dashboard"},
        "traces": set(),
        "conform": {"linux", "machines"},
        "bench": {"linux", "machines", "demo", "dashboard"},
    },
    "align_reports": {
        "verify": set(),
        "compare": set(),
        # its page draws the modes as that of verify does
        "live": {"verify"},
        "probe": set(),
        "fleet": set(),
        "conform": set(),
        "disks": set(),
        "parquet": set(),
    },
}
# Files beside the rooms are for all of them and import none. These are programs, which nothing imports.
PROGRAMS = {"lab.pick": {"linux", "proof"}, "lab.lint": {"linux"}}


def room_of(module):
    """Return the room of a module: "" if it lies beside the rooms."""
    package, _, rest = module.partition(".")
    return rest.partition(".")[0] if rest.partition(".")[0] in ROOMS[package] else ""


def faults(edges):
    """Return what is wrong with imports [(module, name, module)], one line for each, and a circle of modules last."""
    found = []
    for above, name, below in edges:
        package, room, other = above.partition(".")[0], room_of(above), room_of(below)
        if below in PROGRAMS:
            found.append(f"{above} imports {name}, which is a program")
        may = PROGRAMS.get(above, set()) if not room else ROOMS[package][room] | {"", room}
        if other not in may | {""}:
            found.append(f"{above} imports {name}, and {room or 'what lies beside the rooms'} may not import {other}")
    circle = floors.circle(edges)
    return found + ([f"a circle of modules: {' < '.join(circle)}"] if circle else [])


def texts(package):
    return {name: (path.read_text(), path.name == "__init__.py") for name, path in floors.modules(PACKAGES[package]).items()}


@pytest.fixture(scope="module", params=PACKAGES)
def package(request):
    return request.param


@pytest.fixture(scope="module")
def imported(package):
    return floors.imports(texts(package))


def test_every_room_is_known(package):
    folders = {path.parent.name for path in PACKAGES[package].glob("*/*.py")} - {"tests"}
    assert folders == set(ROOMS[package])


def test_no_module_imports_up_nor_in_a_circle(package, imported):
    assert len(imported) > 60
    assert not faults(imported)


def test_what_a_room_may_import_it_does_import(package, imported):
    used = {(room_of(above) or above, room_of(below)) for above, _, below in imported}
    may = {(room, other) for room, others in ROOMS[package].items() for other in others}
    may |= {(program, other) for program, others in PROGRAMS.items() for other in others
            if program.startswith(f"{package}.")}
    assert may <= used


def test_what_is_installed_imports_nothing_of_the_lab():
    every = texts("align_reports") | texts("lab")
    assert not [edge for edge in floors.imports(every) if edge[0].startswith("align_reports") and edge[2].startswith("lab")]


# The test of the tests: what is wrong is found.

@pytest.mark.parametrize("module, text, words", [
    ("lab.pace", "def watch():\n    from .machines.vm import run\n",
     "lab.pace imports lab.machines.vm, and what lies beside the rooms may not import machines"),
    ("lab.linux.new", "from ..machines import vm\n", "lab.linux.new imports lab.machines.vm, and linux may not import machines"),
    ("lab.machines.new", "import lab.proof.soak\n", "lab.machines.new imports lab.proof.soak, and machines may not import proof"),
    ("lab.proof.new", "from .. import pick\n", "lab.proof.new imports lab.pick, which is a program"),
    ("align_reports.compare.new", "from ..probe.page import render\n",
     "align_reports.compare.new imports align_reports.probe.page, and compare may not import probe"),
    ("align_reports.page", "from align_reports.verify import table\n",
     "align_reports.page imports align_reports.verify.table, and what lies beside the rooms may not import verify"),
])
def test_an_import_that_may_not_be_is_found(module, text, words):
    every = texts(module.partition(".")[0])
    assert words in faults(floors.imports(every | {module: (every.get(module, ("", False))[0] + text, False)}))


def test_a_circle_of_modules_of_one_room_is_found():
    every = texts("lab")
    every["lab.machines.findings"] = (every["lab.machines.findings"][0] + "from . import vm\n", False)
    assert [line for line in faults(floors.imports(every)) if line.startswith("a circle of modules: ") and
            "lab.machines.findings" in line]
