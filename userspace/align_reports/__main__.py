# SPDX-License-Identifier: GPL-2.0
"""The program that alignctl starts for experiments of many runs: `python3 .../align_reports verify DESCRIPTOR`.

The descriptor is that of a file with the arguments, which alignctl has parsed: see given.py. A person starts parquet alone."""

import importlib
import os
import sys
from typing import NamedTuple

if not __package__:
    # Python has put this folder on the path; replace it with its parent, so that the package is found.

    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from align_reports import given, interrupt, needs, output


class Program(NamedTuple):
    """What a program needs, and how it is given its arguments.

    who: begins the message that the library is missing
    words: as words, which a person may write, too; otherwise as a document that alignctl hands over
    """

    who: str
    library: str = "rich"
    words: bool = False


PROGRAMS = {
    "verify": Program("alignctl verify:"),
    "compare": Program("alignctl verify --vs:"),
    "live": Program("alignctl verify --live:"),
    "probe": Program("alignctl probe:"),
    "fleet": Program("alignctl fleet:"),
    "conform": Program("alignctl conform --html:"),
    "disks": Program("alignctl plan --html:"),
    "parquet": Program("Parquet", library="duckdb", words=True),
}

if len(sys.argv) < 2 or sys.argv[1] not in PROGRAMS:
    sys.exit(f"usage: align_reports {'|'.join(PROGRAMS)} ARGUMENT...")
name = sys.argv.pop(1)
program = PROGRAMS[name]
needs.library(program.library, program.who)
command = importlib.import_module(f"align_reports.{name}.command")
interrupt.catch()
output.run("alignctl", command.main if program.words else
           lambda words: command.main(given.read(command.Given, int(words[0]))))
