# SPDX-License-Identifier: GPL-2.0
"""The host's side of tests in guests (see batch.py): each test is an item here, once for each kernel."""

import contextlib
import functools
import importlib.util
import math
import os
import re
import tempfile
from pathlib import Path

import pytest

from .. import machines, pace
from ..linux import kernels, layers, matrix
from ..machines import again
from . import budget, extent
from .batch import SECOND_HALF, TESTS, UML, UML_7_2, UML_KERNELS, UML_TESTS, Batch, UmlBatch, batch_name
from .inside import limit_of

IN_GUEST = "DMALIGN_BATCH" in os.environ
BATCHES = pytest.StashKey[dict]()

@pytest.hookimpl(wrapper=True)
def pytest_cmdline_main():
    """Refuse an unknown kernel before any boot; a wrapper, so that it runs before all others."""
    try:
        kernels.chosen()
    except ValueError as why:
        raise pytest.UsageError(str(why)) from None
    return (yield)


def pytest_configure(config):
    config.addinivalue_line("markers", "uml_too: a test of the guests that runs in User Mode Linux as well")
    config.addinivalue_line("markers", "uml_7_2: a test that needs the User Mode Linux of 7.2")
    config.addinivalue_line("markers", "two_processors: a test of the guests whose requests come from two processors at once")
    config.addinivalue_line("markers", "kmemleak: a test in User Mode Linux that looks for leaks of all tests there")
    config.addinivalue_line("markers", "each_kernel: a test of the guests that make check runs on each kernel")
    # In the environment, so that the workers of pytest-xdist and their children use the same file.
    if not IN_GUEST and again.RECORD not in os.environ:
        descriptor, os.environ[again.RECORD] = tempfile.mkstemp(prefix="dm-align-", suffix=".again")
        os.close(descriptor)
        config.add_cleanup(_forget)
    if not IN_GUEST and not {pace.FILE, pace.VARIABLE} & os.environ.keys():
        _watch_pace(config)


def _forget():
    os.unlink(os.environ.pop(again.RECORD))


def _watch_pace(config):
    """Measure the machine's slowness continuously, for this session and its children."""
    stack = contextlib.ExitStack()
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="dm-align-"))
    stack.enter_context(pace.watching(Path(folder, "pace")))
    os.environ[pace.FILE] = str(Path(folder, "pace"))
    stack.callback(os.environ.pop, pace.FILE)
    config.add_cleanup(stack.close)


def pytest_report_header():
    return None if IN_GUEST else f"time limits: {pace.slowness():.1f} times those of an idle machine, for now"


def pytest_terminal_summary(terminalreporter):
    if not IN_GUEST:
        terminalreporter.section("guests")
        for line in again.summary(os.environ[again.RECORD]):
            terminalreporter.line(line)
        _note_whole_series(terminalreporter)


def _note_whole_series(reporter):
    """Enter each series in the matrix whose tests were all run, without a failure."""
    config = reporter.config
    # A module with fewer layers leaves out tests, of which workers do not tell.
    if extent.chosen_by_name(config) or not extent.everything() or layers.wanted() != layers.LAYERS[-1]:
        return
    for series in kernels.chosen():
        named = re.compile(rf"\blinux-{re.escape(series)}(?=[]-])")
        count = {outcome: sum(bool(named.search(getattr(report, "nodeid", ""))) for report in reports)
                 for outcome, reports in reporter.stats.items()}
        passed, skipped = count.pop("passed", 0), count.pop("skipped", 0)
        # Reports of set-up and teardown have the outcome "".
        count.pop("", None)
        if passed and not any(count.values()):
            matrix.note(kernels.release(series), matrix.ALL_TESTS, f"{passed} passed, {skipped} skipped")


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_setup(item):
    """Skip a test that, or a fixture of which, needs a machine which the user leaves out."""
    try:
        return (yield)
    except machines.LeftOut as reason:
        pytest.skip(str(reason))


pytest_runtest_call = pytest_runtest_setup


def pytest_sessionfinish(session):
    """End all guests: their tests have finished."""
    for batch in session.config.stash.get(BATCHES, []):
        batch.end()


@functools.cache
def _is_guest_test(path):
    return not IN_GUEST and (TESTS in path.parents or UML_TESTS in path.parents)


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc):
    if _is_guest_test(metafunc.definition.path):
        metafunc.fixturenames.append("kernel")
        # One guest runs all tests of a batch, so one worker of pytest-xdist must have all of them.
        metafunc.parametrize("kernel", [
            pytest.param(series, marks=[pytest.mark.xdist_group(f"guest-{_batch_of(metafunc.definition, series)}"), *marks],
                         id=f"linux-{series}") for series, *marks in _kernels(metafunc.definition)])


def _batch_of(definition, series):
    """Return the name of the batch of a test on that series."""
    if series in UML_KERNELS:
        return batch_name(series, 1)
    # Make check-all runs all tests of the main series with two processors. In make check the other kernels have one: what
    # the target does alike on every kernel is not worth another boot of each.
    main, everything = series == kernels.main_series(), extent.everything()
    two = (main or everything) if definition.get_closest_marker("two_processors") else (main and everything)
    # Marked tests of the main series are few in make check.
    halved = main and two == everything
    return batch_name(series, 2 if two else 1, halved and definition.path.name >= SECOND_HALF)


SECOND_UML = pytest.mark.check_all("guests run on that kernel, too; its User Mode Linux takes minutes to build")
OTHER_KERNEL = pytest.mark.check_all("it runs on one kernel")


def _kernels(definition):
    """Return the kernels of a test, each with its marks."""
    chosen = kernels.chosen()
    if UML_TESTS in definition.path.parents:
        if not definition.get_closest_marker("uml_7_2"):
            return [(UML,)]
        return [(UML_7_2, SECOND_UML if "7.2" in chosen else pytest.mark.skip(reason="a run without 7.2"))]
    each = definition.get_closest_marker("each_kernel")
    return [*((series,) if each or series == kernels.main_series() else (series, OTHER_KERNEL) for series in chosen),
            *([(UML,)] if definition.get_closest_marker("uml_too") else [])]


def guest_nodeid(nodeid):
    """Return the guest's node id of a test of the host."""
    nodeid = nodeid.split("@guest-")[0]  # pytest-xdist appends the group
    nodeid = re.sub(r"(?<=[\[-])linux-[\w.]+(-|(?=\]))", "", nodeid)
    return re.sub(r"-(?=\]$)", "", nodeid).replace("[]", "")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if IN_GUEST:
        return
    chosen = [item for item in items if _is_guest_test(item.path)]
    _prepare_batches(config, chosen)
    # Long tests first: at the end, they would leave the other workers without work.
    items.sort(key=lambda item: limit_of(item) or math.inf, reverse=True)


def _prepare_batches(config, chosen):
    """Let the guests' tests report what their guests told."""
    if not chosen:
        return
    spec = importlib.util.spec_from_file_location("dm_align_guest_drives", TESTS / "drives.py")
    described = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(described)
    guests = [Batch(series, described.DRIVES, cpus=cpus, second=second)
              for series in kernels.chosen() for cpus in (1, 2) for second in (False, True)]
    config.stash[BATCHES] = [*guests, *map(UmlBatch, UML_KERNELS)]
    batches = {batch.name: batch for batch in config.stash[BATCHES]}
    for item in chosen:
        item.dm_align_batch = batches[_batch_of(item, item.callspec.params["kernel"])]
        # Fixtures and body run in the guest; here the item only reports the result.
        item.setup = lambda: None
        item.runtest = lambda item=item: _tell(item)
        # The whole batch runs inside its first test, under the batch's own time limit.
        item.add_marker(pytest.mark.timeout(0), append=False)


def pytest_collection_finish(session):
    """Give the remaining tests to the batches, after every plugin has deselected."""
    for item in session.items:
        batch = getattr(item, "dm_align_batch", None)
        if batch:
            batch.nodeids.append(guest_nodeid(item.nodeid))
            if item.get_closest_marker("kmemleak"):
                batch.kmemleak = True


def _tell(item):
    batch = item.dm_align_batch
    nodeid = guest_nodeid(item.nodeid)
    result = batch.result(nodeid)
    if result is None and batch.out_of_time(nodeid):
        raise budget.OutOfTime
    if result is None:
        pytest.fail(f"no result from the guest: {batch.why_nothing(nodeid)}\n"
                    f"logs: {'; '.join(batch.logs)}", pytrace=False)
    # With pytest's -rP, also the output of a test that passed: its figures.
    said = result["text"] if result["outcome"] == "passed" else ""
    item.add_report_section("call", "guest", f"{said}{result['seconds']} s in the guest")
    if result["outcome"] == "skipped":
        pytest.skip(result["text"])
    if result["outcome"] == "failed":
        pytest.fail(f"{result['text']}\nlogs: {'; '.join(batch.logs)}", pytrace=False)
