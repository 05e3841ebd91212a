# SPDX-License-Identifier: GPL-2.0
"""Allocations and requests that fail on demand, by the kernel's fault injection (Documentation/fault-injection)."""

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

# Caches of the kernel's own checkers, which would switch themselves off after a failed allocation.
CHECKERS = ("kmemleak_object", "kmemleak_scan_area", "debug_objects_cache")

# More allocations than any attempt of these tests makes.
MANY = 3000


def _set(kind, **knobs):
    for name, value in knobs.items():
        (DEBUG / kind / name.replace("_", "-")).write_text(f"{value}\n")


@functools.cache
def _text_from(start):
    """Return the address range of the module loaded at `start`, to the end of its last function's page."""
    lines = Path("/proc/kallsyms").read_text().splitlines()
    symbols = [line.split() for line in lines if line.endswith("\t[dm_align]")]
    places = [int(words[0], 16) for words in symbols if words[1] in "tT"]
    return start, (max(places) | 0xFFF) + 1


def _text_of_target():
    return _text_from(int(Path("/sys/module/dm_align/sections/.text").read_text(), 16))


@functools.cache
def _text_of(function):
    """Return the address range of one of the kernel's own functions."""
    lines = Path("/proc/kallsyms").read_text().splitlines()
    symbols = sorted((int(words[0], 16), words[2]) for words in map(str.split, lines) if words[1] in "tT")
    at = next(at for at, (_, name) in enumerate(symbols) if name == function)
    return symbols[at][0], symbols[at + 1][0]


@contextlib.contextmanager
def _prepared(waiting, text=None, least=0):
    """
    Prepare the failure of allocations by the target, or by the code `text`: of objects and whole pages; or only of objects
    of `least` bytes or more, without pages, as the number of pages that the kernel's caches allocate varies.
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
    Make `percent` of the target's allocations fail; those that may wait for memory only if `waiting`.

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
    """Make allocations of per-CPU memory fail beyond the memory that the kernel has reserved already."""
    with _prepared(waiting=True, text=_text_of("pcpu_create_chunk")):
        for kind in ALLOCATIONS:
            _set(kind, probability=100)
        yield


def each_allocation(attempt, step=1, least=0):
    """
    Call attempt(nth) with the target's first allocation in this thread failing, then with the second one, and so on, until
    none is left to fail; or with every `step`-th one; only allocations of `least` bytes or more count. Return their
    approximate number.
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
    raise AssertionError(f"the attempt makes more than {MANY} allocations: raise MANY, or look for a loop")


class FailingRequests:
    """Failing requests to the disk at `path`: a percentage, or one of a sequence."""

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
        """Let `percent` of the requests fail from now on, until `times` have failed; -1: without end."""
        _set(REQUESTS, space=0, times=times, probability=percent)

    def after(self, size, times=1):
        """Let the next `times` requests fail after about `size` requested bytes."""
        _set(REQUESTS, probability=0)
        _set(REQUESTS, space=size, times=times)
        _set(REQUESTS, probability=100)

    @property
    def left(self):
        """Return the number of requests that are still to fail."""
        return int((DEBUG / REQUESTS / "times").read_text())


@contextlib.contextmanager
def statuses(path):
    """
    Let requests to the disk at `path` end with a chosen status (Documentation/block/error-injection.rst). Yields a
    function: (operation, status, first sector, sectors) adds a rule; no arguments remove all rules.
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
    """Return whether an error is ENOMEM. Raises any other error."""
    if error.errno != errno.ENOMEM:
        raise error
    return True
