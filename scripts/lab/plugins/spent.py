# SPDX-License-Identifier: GPL-2.0
"""A pytest plugin that reports the workers' minutes at the end of a run of all tests, of tests in guests by kernel, of all
others by file, and the processor's minutes among them: of the worker and of what it has started and seen end. So a guest
or a server counts for the test in which it ended. The seconds of each test go to out/spent.tsv, the costliest first."""

import collections
import os
import re
import resource

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


class _Processor:
    """Takes the processor time of this worker, and of what it has started and seen end, since the last time."""

    def __init__(self):
        self._until = self._all()

    @staticmethod
    def _all():
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(one.ru_utime + one.ru_stime for one in used)

    def take(self):
        """Return the seconds."""
        until, self._until = self._until, self._all()
        return self._until - until


_processor = _Processor()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    """Leave a phase's processor time in its report, which carries it from the worker to the session."""
    made = yield
    made.get_result().processor = _processor.take()


def lines(spent):
    """Return the table's lines, for (nodeid, seconds, seconds of the processor) of each phase; none for a short run."""
    seconds = collections.Counter()
    processor = collections.Counter()
    tests = collections.defaultdict(set)
    for nodeid, duration, used in spent:
        seconds[part(nodeid)] += duration
        processor[part(nodeid)] += used
        tests[part(nodeid)].add(nodeid)
    if seconds.total() < 60 * LEAST_MINUTES:
        return []
    rows = [(took / 60, processor[name] / 60, len(tests[name]), name) for name, took in seconds.most_common()]
    long = [row for row in rows if row[0] >= SHORT_MINUTES]

    def in_one(rows, name):
        return *(sum(row[at] for row in rows) for at in range(3)), name

    short = rows[len(long):]
    if short:
        long.append(in_one(short, f"{len(short)} others"))
    long.append(in_one(rows, "all"))
    return ["minutes  processor  tests",
            *(f"{took:7.1f} {used:10.1f} {count:6}  {name}" for took, used, count, name in long)]


def costliest(spent):
    """Return lines "seconds<tab>seconds of the processor<tab>test", the costliest test first, for what lines() takes."""
    seconds = collections.Counter()
    processor = collections.Counter()
    for nodeid, duration, used in spent:
        seconds[nodeid] += duration
        processor[nodeid] += used
    return [f"{took:.2f}\t{processor[nodeid]:.2f}\t{nodeid}" for nodeid, took in seconds.most_common()]


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter):
    if "DMALIGN_BATCH" in os.environ:
        return
    reports = [report for reports in terminalreporter.stats.values() for report in reports if hasattr(report, "duration")]
    # A report that another plugin made has no processor time of its own.
    spent = [(report.nodeid, report.duration, getattr(report, "processor", 0)) for report in reports]
    told = lines(spent)
    if told:
        FILE.parent.mkdir(parents=True, exist_ok=True)
        FILE.write_text("\n".join(costliest(spent)) + "\n")
        terminalreporter.section("where the workers' time went")
        for line in [*told, f"each test: {FILE}"]:
            terminalreporter.line(line)
