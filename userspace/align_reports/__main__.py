# SPDX-License-Identifier: GPL-2.0
"""The program that alignctl starts for experiments of many runs: `python3 .../align_reports verify DESCRIPTOR`.

The descriptor is that of a file with the arguments, which alignctl has parsed: see given.py. A person starts parquet alone."""

import importlib
import os
import sys

if not __package__:
    # Python has put this folder on the path; replace it with its parent, so that the package is found.

    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from align_reports import given, interrupt, needs, output

# Programs, and the commands that start them.
PROGRAMS = {
    "verify": "alignctl verify",
    "compare": "alignctl verify --vs",
    "live": "alignctl verify --live",
    "probe": "alignctl probe",
    "fleet": "alignctl fleet",
    "conform": "alignctl conform --html",
    "disks": "alignctl plan --html",
    "parquet": "Parquet",
}

if len(sys.argv) < 2 or sys.argv[1] not in PROGRAMS:
    sys.exit(f"usage: align_reports {'|'.join(PROGRAMS)} ARGUMENT...")
name = sys.argv.pop(1)
needs.library(*(("duckdb", PROGRAMS[name]) if name == "parquet" else ("rich", f"{PROGRAMS[name]}:")))
program = importlib.import_module(f"align_reports.{name}.command")
interrupt.catch()
# a person, too, starts parquet
output.run("alignctl", program.main if name == "parquet" else
           lambda words: program.main(given.read(program.Given, int(words[0]))))
