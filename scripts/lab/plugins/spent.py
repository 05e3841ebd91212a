# SPDX-License-Identifier: GPL-2.0
"""A pytest plugin that reports the workers' minutes at the end of a run of all tests, of tests in guests by kernel, of all
others by file. The seconds of each test go to out/spent.tsv, the costliest first."""

import collections
import os
import re

import pytest

from ..paths import OUT

FILE = OUT / "spent.tsv"
# Shorter parts are summed up.
SHORT_MINUTES = 0.5
# Shorter runs have no report.
LEAST_MINUTES = 5


def part(nodeid):
    """Return the part of the run that has a test: "kmod/tests/guest, linux-6.12", "scripts/lab/tests/proof/test_kunit.py"."""
    path, _, name = nodeid.partition("::")
    guest = re.search(r"[\[-](linux-[\w.]+)(?=[]-])", name)
    return f"{path.rpartition('/')[0]}, {guest[1]}" if guest else path


def lines(spent):
    """Return the table's lines, for (nodeid, seconds) of each phase of each test; none for a short run."""
    seconds = collections.Counter()
    tests = collections.defaultdict(set)
    for nodeid, duration in spent:
        seconds[part(nodeid)] += duration
        tests[part(nodeid)].add(nodeid)
    if seconds.total() < 60 * LEAST_MINUTES:
        return []
    rows = [(name, took / 60, len(tests[name])) for name, took in seconds.most_common()]
    long = [row for row in rows if row[1] >= SHORT_MINUTES]
    short = rows[len(long):]
    if short:
        long.append((f"{len(short)} others", sum(row[1] for row in short), sum(row[2] for row in short)))
    long.append(("all", seconds.total() / 60, sum(row[2] for row in rows)))
    return ["minutes  tests", *(f"{took:7.1f} {count:6}  {name}" for name, took, count in long)]


def costliest(spent):
    """Return lines "seconds<tab>test", the costliest test first, for (nodeid, seconds) of each phase of each test."""
    seconds = collections.Counter()
    for nodeid, duration in spent:
        seconds[nodeid] += duration
    return [f"{took:.2f}\t{nodeid}" for nodeid, took in seconds.most_common()]


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter):
    if "DMALIGN_BATCH" in os.environ:
        return
    reports = [report for reports in terminalreporter.stats.values() for report in reports if hasattr(report, "duration")]
    spent = [(report.nodeid, report.duration) for report in reports]
    told = lines(spent)
    if told:
        FILE.parent.mkdir(parents=True, exist_ok=True)
        FILE.write_text("\n".join(costliest(spent)) + "\n")
        terminalreporter.section("where the workers' time went")
        for line in [*told, f"each test: {FILE}"]:
            terminalreporter.line(line)
