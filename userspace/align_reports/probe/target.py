# SPDX-License-Identifier: GPL-2.0
"""What a method measures: a device, to which requests are sent one at a time or together, and each is timed.

The tests have another one, the model of a drive on a virtual clock.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from .. import interrupt
from ..replays import Replays
from .traces import device_facts, write_trace


class Request(NamedTuple):
    """A read or write of whole logical blocks."""

    write: bool
    offset: int
    bytes: int


class Says(NamedTuple):
    """
    What a device says of itself, true or not.

    size         bytes
    logical      bytes of a logical block
    physical     bytes of a physical block
    offset       bytes from a boundary of a physical block to the device's start; 0 also where it cannot tell
    rotational   it is a disk
    write_cache  it has a volatile write cache; None: it does not say
    """

    size: int
    logical: int
    physical: int
    offset: int
    rotational: bool
    write_cache: bool | None = None


class Target(Protocol):
    """A device. All times are in microseconds, but for those of names in _s."""

    @property
    def says(self) -> Says:
        """Return what the device says of itself."""

    def each(self, requests: Sequence[Request], flushed: bool = False) -> list[float]:
        """Send the requests one at a time, in order; return the service time of each.

        flushed: flush after each of them; its time includes that
        """

    def together(self, requests: Sequence[Request], depth: int) -> list[float]:
        """Send the requests in order with at most `depth` in flight; return the response time of each."""

    def flush(self) -> float:
        """Make all writes durable; return the time that takes."""

    def pause(self, seconds: float) -> None:
        """Send nothing for a while."""

    def elapsed_s(self) -> float:
        """Return the time since the start."""


class DeviceTarget:
    """A device of this machine, to which alignctl replay sends the requests.

    Writes need the permission of Replays.permit().
    """

    def __init__(self, replays: Replays, device: str) -> None:
        self._replays, self._device = replays, device
        self._began = time.monotonic()
        facts = device_facts(replays, device)
        offset = facts.get("alignment_offset", 0)
        self.says = Says(facts["size_bytes"], facts["logical_block_size"], facts["physical_block_size"],
                         offset if isinstance(offset, int) else 0, facts.get("rotational", False),
                         facts["write_cache"] == "write back" if facts.get("write_cache") else None)

    def _times(self, rows: Sequence[tuple[str, int, int]], depth: int) -> list[float]:
        # --no-check: comparing what was written would read it into the drive's buffers
        document = self._replays.make(
            write_trace(self._replays, rows), self._device, "--scan", "--timing", "closed", "--depth", str(depth), "--each",
            *(["--no-check"] if any(op == "write" for op, _, _ in rows) else []))
        return document["each_us"]

    def each(self, requests: Sequence[Request], flushed: bool = False) -> list[float]:
        rows = []
        for request in requests:
            rows.append(row(request))
            if flushed:
                rows.append(("flush", 0, 0))
        times = self._times(rows, 1) if rows else []
        return [sum(pair) for pair in zip(times[::2], times[1::2], strict=True)] if flushed else times

    def together(self, requests: Sequence[Request], depth: int) -> list[float]:
        return self._times([row(request) for request in requests], depth) if requests else []

    def flush(self) -> float:
        return self._times([("flush", 0, 0)], 1)[0]

    def pause(self, seconds: float) -> None:
        with interrupt.allowed():
            time.sleep(seconds)

    def elapsed_s(self) -> float:
        return time.monotonic() - self._began


def row(request: Request) -> tuple[str, int, int]:
    """Return the request as a row of a trace."""
    return "write" if request.write else "read", request.offset, request.bytes
