# SPDX-License-Identifier: GPL-2.0
"""Allocations and requests that fail on demand, by the kernel's own fault injection (Documentation/fault-injection)."""

import contextlib
import errno
import functools
from pathlib import Path

from .dm import block_name, sysfs_folder

DEBUG = Path("/sys/kernel/debug")
SLAB = Path("/sys/kernel/slab")
ALLOCATIONS = ("failslab", "fail_page_alloc")
REQUESTS = "fail_make_request"
NTH = Path("/proc/thread-self/fail-nth")

# What the kernel's own checks allocate on the way must not fail: they would switch themselves off.
CHECKERS = ("kmemleak_object", "kmemleak_scan_area", "debug_objects_cache")

# More allocations than any attempt of these tests has.
MANY = 3000


def _set(kind, **knobs):
    for name, value in knobs.items():
        (DEBUG / kind / name.replace("_", "-")).write_text(f"{value}\n")


@functools.cache
def _text_from(start):
    """Where the code of the module lies that was loaded to `start`, to the end of the page of its last function."""
    lines = Path("/proc/kallsyms").read_text().splitlines()
    symbols = [line.split() for line in lines if line.endswith("\t[dm_align]")]
    places = [int(words[0], 16) for words in symbols if words[1] in "tT"]
    return start, (max(places) | 0xFFF) + 1


def _text_of_target():
    return _text_from(int(Path("/sys/module/dm_align/sections/.text").read_text(), 16))


@functools.cache
def _text_of(function):
    """Where the code of one of the kernel's own functions lies."""
    lines = Path("/proc/kallsyms").read_text().splitlines()
    symbols = sorted((int(words[0], 16), words[2]) for words in map(str.split, lines) if words[1] in "tT")
    at = next(at for at, (_, name) in enumerate(symbols) if name == function)
    return symbols[at][0], symbols[at + 1][0]


@contextlib.contextmanager
def _prepared(waiting, text=None, least=0):
    """
    Nothing fails yet, and what will fail is asked for by the target, or by the code `text`: objects and whole pages; or
    only objects of `least` bytes or more: what pages those of the kernel's caches take changes from time to time.
    """
    for cache in SLAB.iterdir():
        may = cache.name not in CHECKERS and int((cache / "object_size").read_text()) >= least
        (cache / "failslab").write_text(str(int(may)))
    start, end = text or _text_of_target()
    _set("failslab", cache_filter="Y")
    _set("fail_page_alloc", min_order=0)
    for kind in ALLOCATIONS:
        _set(kind, probability=0, times=-1, verbose=0, require_start=start, require_end=end,
             ignore_gfp_wait="N" if waiting else "Y")
    if least:
        _set("fail_page_alloc", require_end=start)
    try:
        yield
    finally:
        for kind in ALLOCATIONS:
            _set(kind, probability=0, require_start=0, require_end=(1 << 64) - 1)


@contextlib.contextmanager
def allocations_fail(percent=100, waiting=False):
    """
    The target's allocations fail, or so many of a hundred; those that may wait for memory only if `waiting`.

    Yields a function that changes the percentage.
    """
    def change(percent):
        for kind in ALLOCATIONS:
            _set(kind, probability=percent)

    with _prepared(waiting):
        change(percent)
        yield change


@contextlib.contextmanager
def no_new_per_cpu_memory():
    """Of memory for each processor there is no more than what the kernel has set aside already."""
    with _prepared(waiting=True, text=_text_of("pcpu_create_chunk")):
        for kind in ALLOCATIONS:
            _set(kind, probability=100)
        yield


def each_allocation(attempt, step=1, least=0):
    """
    Calls attempt(nth) with the first allocation failing that the target makes in this thread, then with the second one,
    and so on, until none is left to fail; or with every `step`-th; of those only that are for `least` bytes or more.
    Returns how many there are, about.
    """
    with _prepared(waiting=True, least=least):
        for nth in range(1, MANY, step):
            NTH.write_text(str(nth))
            try:
                attempt(nth)
            finally:
                left = int(NTH.read_text())
                NTH.write_text("0")
            if left:
                return nth - 1
    raise AssertionError(f"there is no end to the allocations: {MANY} of them are not all")


class FailingRequests:
    """Requests to the disk at `path` that fail: one of a hundred, or one of a sequence."""

    def __init__(self, path):
        self._switch = sysfs_folder(path) / "make-it-fail"

    def __enter__(self):
        _set(REQUESTS, probability=0, interval=1, verbose=0)
        self._switch.write_text("1")
        return self

    def __exit__(self, *_):
        _set(REQUESTS, probability=0)
        self._switch.write_text("0")

    def percent(self, percent, times=-1):
        """So many of a hundred fail from now on, until `times` have; -1: without end."""
        _set(REQUESTS, space=0, times=times, probability=percent)

    def after(self, size, times=1):
        """Once about `size` bytes have been asked for, the next `times` requests fail."""
        _set(REQUESTS, probability=0)
        _set(REQUESTS, space=size, times=times)
        _set(REQUESTS, probability=100)

    @property
    def left(self):
        """How many are still to fail."""
        return int((DEBUG / REQUESTS / "times").read_text())


@contextlib.contextmanager
def statuses(path):
    """
    Requests to the disk at `path` that end with a chosen status (Documentation/block/error-injection.rst). Yields a
    function: (operation, status, first sector, sectors) adds a rule; without arguments it removes all.
    """
    rules = DEBUG / "block" / block_name(path) / "error_injection"

    def change(operation=None, status=None, first=0, sectors=1):
        rules.write_text(f"add,op={operation},status={status},start={first},nr_sectors={sectors}\n" if operation
                         else "removeall\n")

    try:
        yield change
    finally:
        change()


def no_memory(error):
    """Whether an error says just that; any other one is raised."""
    if error.errno != errno.ENOMEM:
        raise error
    return True
