# SPDX-License-Identifier: GPL-2.0
"""The requests of a few writes with their times, from the kernel's block events.

Made for an unmet figure, in a separate run, as tracing takes time, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..machines.remote import Guest

TRACING = "/sys/kernel/tracing"
EVENTS = ("block_bio_queue", "block_bio_complete", "block_rq_issue", "block_rq_complete")
# Writes of a traced run: enough for the last ones to be typical.
COUNT = 40
LINES = 160

# Task, processor, flags, time: event: device, operation, sector + sectors.
LINE = re.compile(r"^\s*(?P<task>.+)-\d+\s+\[\d+\]\s+\S+\s+(?P<time>[\d.]+): (?P<event>\w+): "
                  r"(?P<device>\d+,\d+) (?P<operation>[A-Z]+) .*?(?P<sector>\d+) \+ "
                  r"(?P<sectors>\d+)")


@dataclass(frozen=True)
class Event:
    """One event of a trace. us: microseconds since the event before it."""

    us: float
    name: str
    device: str
    operation: str
    sector: int
    sectors: int
    task: str

    @property
    def words(self) -> str:
        return (f"{self.us:9.0f} us  {self.name:<19} {self.device:>6} {self.operation:<4} "
                f"{self.sector} + {self.sectors}  {self.task}")


def start(guest: Guest) -> None:
    """Enable the events."""
    _switch(guest, "1")


def _switch(guest: Guest, value: str) -> None:
    for event in EVENTS:
        guest.run("sh", "-c", f"echo {value} >{TRACING}/events/block/{event}/enable")


def stop(guest: Guest) -> str:
    """Disable the events; return the last lines of the trace."""
    _switch(guest, "0")
    lines = guest.run("sh", "-c", f"grep -v '^#' {TRACING}/trace | tail -n {LINES}")
    guest.run("sh", "-c", f"echo >{TRACING}/trace")
    return lines


def events(lines: str) -> Iterator[Event]:
    """Yield the block events among a trace's lines."""
    before = None
    for line in lines.splitlines():
        found = LINE.match(line)
        if found:
            now = float(found["time"])
            yield Event((now - (now if before is None else before)) * 1e6, found["event"],
                        found["device"], found["operation"], int(found["sector"]),
                        int(found["sectors"]), found["task"].strip())
            before = now


def text(lines: str) -> str:
    """Return a trace as a table: time since the line before, event, device, request, task."""
    return "\n".join(event.words for event in events(lines)) + "\n"
