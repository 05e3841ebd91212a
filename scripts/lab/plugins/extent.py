# SPDX-License-Identifier: GPL-2.0
"""The extent of a test run: `make check` takes minutes, `make check-all` (DM_ALIGN_ALL=1) runs everything, at full length
and on every kernel. This pytest plugin skips the tests of check-all in other runs, and counts them at the end.

    @pytest.mark.check_all("why")   a test that runs in check-all only; "why" says what make check has in its place
    @pytest.mark.each_kernel        a test in guests that make check runs on each kernel, not only on one: its subject
                                    differs between kernels, or the test stands for its area there
    only_usual("why", values)       a parameter of such a test that make check runs on one kernel all the same; "why" says
                                    what the other parameters show on the others

A test named by `make test T=...` always runs.
"""

import os

import pytest

from ..linux import kernels

VARIABLE = "DM_ALIGN_ALL"
# Lengths of random slices of tests, by the variable that sets the length: in make check, in make check-all, and the unit.
LENGTHS = {
    "DM_ALIGN_STRESS_SECONDS": (2, 3, "seconds of each stress in guests"),
    "DM_ALIGN_KASAN_SECONDS": (17, 120, "seconds of the stress under KASAN and lockdep"),
    "DM_ALIGN_SOAK_ROUNDS": (4, 24, "random configurations under KASAN"),
    "DM_ALIGN_HOSTILE_LINES": (100, 500, "bad table lines and messages in a guest"),
    "DM_ALIGN_KMEMLEAK_LINES": (60, 300, "the same under KASAN and kmemleak"),
    "DM_ALIGN_HOSTILE_SECONDS": (5, 5, "seconds of readers of sysfs under KASAN"),
    "DM_ALIGN_POWER_CUTS": (24, 60, "power cuts, all modes together"),
    "DM_ALIGN_STACK_CUTS": (1, 1, "power cuts of each file system, LVM, LUKS, md"),
    "DM_ALIGN_LIFECYCLE_ROUNDS": (5, 20, "suspends, reloads, loads of the module, drives that go"),
    "DM_ALIGN_FILES_SECONDS": (1, 2, "seconds of each tool that works on files"),
    "DM_ALIGN_SIM_LIVES": (2400, 80000, "lives of the engine on virtual time"),
    "DM_ALIGN_FUZZ_RUNS": (500, 10000, "inputs of each fuzz target"),
}


def everything():
    """Return whether this run is make check-all."""
    return os.environ.get(VARIABLE, "0") not in ("", "0")


def length(variable):
    """Return the length of a slice: its variable's value, else the length of this run."""
    return float(os.environ.get(variable, LENGTHS[variable][everything()]))


def count(variable):
    """Return the length of a slice as a whole number."""
    return int(length(variable))


def table():
    """Return the lengths as a table of reStructuredText, for Documentation/develop/testing.rst."""
    rows = [("variable", "check", "check-all", "what"),
            *((name, str(short), str(full), what) for name, (short, full, what) in LENGTHS.items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = " ".join("=" * width for width in widths)
    lines = [" ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])


LEFT_OUT = pytest.StashKey[list]()


def only_all(why, *values):
    """Make a parameter with which a test runs in make check-all only: see the mark check_all."""
    return pytest.param(*values, marks=pytest.mark.check_all(why))


def only_usual(why, *values):
    """Make a parameter with which a test of each kernel runs in make check on one kernel only: see the mark each_kernel."""
    return pytest.param(*values, marks=pytest.mark.usual_kernel(why))


def _left_to_check_all(item):
    if item.get_closest_marker("check_all"):
        return True
    kernel = item.callspec.params.get("kernel") if hasattr(item, "callspec") else None
    return bool(item.get_closest_marker("usual_kernel") and kernel in kernels.SERIES and kernel != kernels.main_series())


def pytest_configure(config):
    config.addinivalue_line("markers", "check_all(why): runs in make check-all only")
    config.addinivalue_line("markers", "usual_kernel(why): of the kernels, runs in make check on one only")
    config.stash[LEFT_OUT] = 0


def one_kernel(why):
    """Return the run's series as parameters of a test: in make check only the main series, in make check-all each."""
    return [series if series == kernels.main_series() else only_all(why, series) for series in kernels.chosen()]


def leave_out(config, tests):
    """Count tests that this run leaves to make check-all."""
    config.stash[LEFT_OUT] += tests


def chosen_by_name(config):
    """Return whether the user named files or tests, of which none are then left out."""
    return config.args_source is config.ArgsSource.ARGS or bool(config.option.keyword or config.option.markexpr)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    if everything() or chosen_by_name(config):
        return
    left = [item for item in items if _left_to_check_all(item)]
    if left:
        leave_out(config, len(left))
        left_out = set(left)
        items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    # With pytest-xdist each worker collects all tests, the controlling process none.
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["dm_align_left_out"] = session.config.stash[LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    config = node.config
    config.stash[LEFT_OUT] = max(config.stash[LEFT_OUT], getattr(node, "workeroutput", {}).get("dm_align_left_out", 0))


def pytest_terminal_summary(terminalreporter, config):
    if config.stash[LEFT_OUT]:
        terminalreporter.section("left to make check-all")
        terminalreporter.line(f"{config.stash[LEFT_OUT]} tests of those collected here; slices at "
                              "full length; KUnit in QEMU")
