# SPDX-License-Identifier: GPL-2.0
"""Boots a guest again if its end says nothing about what ran in it: loudly, counted, and not more often than that.

Two ends say nothing:

- The console proves that the emulator killed the guest (findings.emulator_fault).
- The guest died before its command began. Nothing but the kernel and inits/init has run then; dm-align's module is loaded
  by the command at the earliest. A guest that hangs at that stage is not booted again: a drive that does not answer
  makes it hang, and the drive is ours.

Whatever else a guest dies of is a finding.
"""

import os
from collections import Counter
from pathlib import Path

from ..paths import say
from . import vm
from .findings import emulator_fault

# Where the tests' host side wants to read which guests were booted again; it sums up over all its processes.
RECORD = "DMALIGN_BOOTED_AGAIN"

PROVEN = "after a proven fault of the emulator"
UNBEGUN = "after a death before their command began"
LIMITS = {PROVEN: 2, UNBEGUN: 1}


def void(result):
    """(PROVEN or UNBEGUN, what happened) if the end of a guest says nothing about what ran in it, else None."""
    proof = result.status in (vm.DIED, vm.TIMED_OUT) and emulator_fault(result.console)
    if proof:
        return PROVEN, proof
    # If QEMU itself complains it will do so again.
    if result.status == vm.DIED and not result.begun and not result.complaint:
        return UNBEGUN, "; ".join(result.faults[:3]) or "without a word"
    return None


def run(boot):
    """Calls boot(suffix) for a vm.Result, and again as long as its end is void. The suffix, different each time, goes
    into the guest's name, so that the logs of all stay."""
    counts = Counter()
    while True:
        number = counts.total()
        result = boot(f"-again{number}" if number else "")
        found = void(result)
        if not found or counts[found[0]] == LIMITS[found[0]]:
            return result
        why, what = found
        counts[why] += 1
        say(f"BOOTING THE GUEST AGAIN {why}: {what}; console: {result.folder / 'console.log'}")
        _record(f"{why}\t{result.folder.name}: {what}")


def _record(line):
    if RECORD in os.environ:
        with open(os.environ[RECORD], "a") as record:
            record.write(line + "\n")


def summary(record):
    """Lines for the end of a test session: how often guests were booted again, and which."""
    path = Path(record)
    events = [line.split("\t", 1) for line in path.read_text().splitlines()] if path.exists() else []
    return [line for why in LIMITS
            for line in [f"guests booted again {why}: {sum(event[0] == why for event in events)}",
                         *(f"  {event[1]}" for event in events if event[0] == why)]]
