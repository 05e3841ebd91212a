# SPDX-License-Identifier: GPL-2.0
"""The requests that reached the device below, from an independent witness: the kernel's block tracepoints."""

import re
import time
from pathlib import Path
from typing import NamedTuple

from lab.pace import Limit

from .dm import number_of, sysfs_folder

TRACING = Path("/sys/kernel/tracing")

# "... block_rq_issue: 8,0 WS 4096 () 2048 + 8 [dd]"; 6.12 has ",ioprio" words before the bracket.
ISSUED = re.compile(r"block_rq_issue: \d+,\d+ (\S+) \d+ \(.*?\) (\d+) \+ (\d+) ")


class Request(NamedTuple):
    """One request to the device below. op: R read, W write, D discard or write-zeroes, F flush."""

    op: str
    sector: int
    sectors: int
    fua: bool = False
    touches: int = 0


class Trace:
    """
    The requests to a request-based device during the `with` block; afterwards `requests`, and in `sync` those that a waiting
    program makes, which blk-wbt does not throttle.

    Not to be nested, as it uses the global trace buffer.
    """

    def __init__(self, path):
        major, minor = number_of(path).split(":")
        self._device = int(major) << 20 | int(minor)
        self.requests = []
        self.sync = set()

    def _set(self, name, value):
        (TRACING / name).write_text(f"{value}\n")

    def __enter__(self):
        if not (TRACING / "trace").exists():
            from .dm import run
            run("mount", "-t", "tracefs", "tracefs", TRACING)
        self._set("tracing_on", 0)
        self._set("trace", "")
        self._set("buffer_size_kb", 1024)
        self._set("events/block/block_rq_issue/filter", f"dev == {self._device}")
        self._set("events/block/block_rq_issue/enable", 1)
        self._set("tracing_on", 1)
        return self

    def __exit__(self, *_):
        self._set("tracing_on", 0)
        self._set("events/block/block_rq_issue/enable", 0)
        for line in (TRACING / "trace").read_text().splitlines():
            found = ISSUED.search(line)
            if found:
                self.requests.append(self._parse(found))
                if "S" in found[1]:
                    self.sync.add(self.requests[-1])

    @staticmethod
    def _parse(found):
        flags, sector, sectors = found[1], int(found[2]), int(found[3])
        op = "F" if flags.startswith("F") and "W" not in flags else next((c for c in flags if c in "RWD"), "?")
        return Request(op, sector, sectors, "F" in flags[1:])


def writes(requests):
    return [request for request in requests if request.op == "W"]


def reads(requests):
    return [request for request in requests if request.op == "R"]


def zeroed(requests):
    """Return the ranges of write-zeroes and discards: [(sector, sectors)]."""
    return [(request.sector, request.sectors) for request in requests if request.op == "D"]


def touches_at(drive):
    """Return an emulated drive's count of partial touches, of writes and of write-zeroes."""
    stats = drive.stats()
    return stats["write_touches"], stats["zero_touches"]


def eventually(condition, message, timeout=10):
    """Wait until `condition()` is true, for `timeout` seconds of the reference machine; then fail with `message`."""
    limit = Limit(timeout)
    while not condition():
        assert not limit.over() or condition(), f"{message} (waited {limit})"
        time.sleep(0.02)


def completed(path):
    """Return how many requests of all kinds a disk has completed."""
    fields = (sysfs_folder(path) / "stat").read_text().split()
    return sum(int(fields[number]) for number in (0, 4, 11, 15))


class FlushTrace:
    """
    The number of requests that a disk is sent between the begin of a flush of a mapped device and its end. The kernel's
    events order them, not the time at which the flushing thread gets a processor.

    One flush during the `with` block, during which no other process flushes the mapped device.
    """

    EVENTS = ("block_rq_issue", "block_bio_queue", "block_bio_complete")

    def __init__(self, mapped, disk):
        self._mapped, self._disk = mapped, disk
        self.requests = None

    @staticmethod
    def _filter(path, rest=""):
        major, minor = number_of(path).split(":")
        return f"dev == {int(major) << 20 | int(minor)}{rest}\n"

    def __enter__(self):
        if not (TRACING / "trace").exists():
            from .dm import run
            run("mount", "-t", "tracefs", "tracefs", TRACING)
        (TRACING / "trace").write_text("")
        (TRACING / "buffer_size_kb").write_text("4096\n")
        for event in self.EVENTS:
            text = self._filter(self._disk) if event == "block_rq_issue" else self._filter(self._mapped, " && nr_sector == 0")
            (TRACING / "events/block" / event / "filter").write_text(text)
            (TRACING / "events/block" / event / "enable").write_text("1")
        # Trace leaves tracing off.
        (TRACING / "tracing_on").write_text("1")
        return self

    @staticmethod
    def ended():
        """Tell whether the flush has ended, though its thread may not know yet."""
        return "block_bio_complete: " in (TRACING / "trace").read_text()

    def __exit__(self, error, *_):
        for event in self.EVENTS:
            (TRACING / "events/block" / event / "enable").write_text("0")
        if error:
            return
        seen = re.findall(r" (block_\w+): ", (TRACING / "trace").read_text())
        flushes = seen.count("block_bio_queue"), seen.count("block_bio_complete")
        assert flushes == (1, 1), f"{flushes} begins and ends of flushes were seen, among {len(seen)} events"
        begin, end = seen.index("block_bio_queue"), seen.index("block_bio_complete")
        self.requests = seen[begin:end].count("block_rq_issue")
