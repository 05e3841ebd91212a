# SPDX-License-Identifier: GPL-2.0
"""The shell sessions in the documents print what the documents say, and the program that checks them can tell."""

import subprocess
from pathlib import Path

import pytest

from lab import machines
from lab.plugins.extent import only_all
from lab.program import load

TOP = Path(__file__).resolve().parents[2]
RUNNER = TOP / "Documentation" / "run-sessions"


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("document", ["target/dm-align.rst", *(only_all(
    "of the documents with a long session in a guest, dm-align.rst stands for all", name)
    for name in ("admin/fleet.rst", "admin/production.rst")), only_all(
    "probe measures a disk in real time, for which a busy machine may be too late; its commands have tests of their own",
    "admin/tutorial.rst"), only_all(
    "test_boot.py of the guests plays its commands on the target, and test_packages.py looks into the packages",
    "admin/operations.rst"), only_all(
    "the guests' test_conform.py looks at clean devices, and at what the document shows of faults", "admin/conform.rst")])
def test_every_session_prints_what_the_document_says(document):
    machines.require("qemu")
    done = subprocess.run([TOP / "scripts" / "python", RUNNER, TOP / "Documentation" / document],
                          capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\n" \
        f"if that is right: scripts/python Documentation/run-sessions --update Documentation/{document}"


DOCUMENT = """\
.. session: size=1M profile=instant

Text::

    # echo a \\
        b
    a b

    # true

Text.

.. session: figures vary

::

    # time
    took 1.5 s,   3 runs

::

    # echo 7
    7
"""


def test_commands_and_their_outputs_are_taken_apart():
    module = load(RUNNER)
    blocks = [module.split(block[0], block["indent"]) for block in module.BLOCK.finditer(DOCUMENT)]
    assert blocks == [[["echo a \\\n    b", "a b\n\n"], ["true", ""]], [["time", "took 1.5 s,   3 runs\n"]],
                      [["echo 7", "7\n"]]]


def test_the_machine_is_the_one_that_the_document_asks_for():
    assert load(RUNNER).settings(DOCUMENT) == {"size": "1M", "profile": "instant"}


@pytest.mark.parametrize("old,new,same", [
    ("took 1.5 s,   3 runs", "took 12 s, 40 runs", True),
    ("took 1.5 s", "took -900 ms", True),
    ("3 runs", "1\u202f061 runs", True),
    ("took 1.5 s", "took 1.5 KiB", False),
    ("took 1.5 s", "took 1.5", False),
    ("took 1.5 s", "lasted 1.5 s", False),
    ("    7\n", "    8\n", False),
    ("    a b\n", "    a c\n", False),
])
def test_only_figures_that_vary_may_differ(old, new, same):
    module = load(RUNNER)
    assert old in DOCUMENT
    assert (module.comparable(DOCUMENT.replace(old, new)) == module.comparable(DOCUMENT)) is same


def test_an_update_replaces_outputs_and_nothing_else(monkeypatch):
    module = load(RUNNER)
    monkeypatch.setattr(module, "run", lambda commands, where, name: ["a b\n\n", "", "took 2 s\n", "8\n"])
    assert module.with_outputs(DOCUMENT, "x") == \
        DOCUMENT.replace("took 1.5 s,   3 runs", "took 2 s").replace("    7\n", "    8\n")
