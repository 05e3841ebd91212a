# SPDX-License-Identifier: GPL-2.0
"""Boot a guest again if its end proves nothing about the code under test; each such boot is printed and counted.

Two ends prove nothing:

- The console proves that the emulator killed the guest (findings.emulator_fault).
- The guest died before its command began. Nothing but the kernel and inits/init has run then; dm-align's module is loaded
  by the command at the earliest. A guest that hangs at that stage is not booted again: an emulated drive that does not
  answer makes it hang, and the drive is part of the project.

Every other death of a guest is a finding.
"""

import os
from collections import Counter
from pathlib import Path

from ..paths import say
from . import vm
from .findings import emulator_fault

# Names the file that records which guests were booted again, by all processes of a test session.
RECORD = "DMALIGN_BOOTED_AGAIN"

PROVEN = "after a proven fault of the emulator"
UNBEGUN = "after a death before their command began"
LIMITS = {PROVEN: 2, UNBEGUN: 1}


def void(result):
    """Return (PROVEN or UNBEGUN, the reason) if the end of a guest proves nothing about the code under test, else None."""
    proof = result.status in (vm.DIED, vm.TIMED_OUT) and emulator_fault(result.console)
    if proof:
        return PROVEN, proof
    # A complaint of QEMU itself would come again.
    if result.status == vm.DIED and not result.begun and not result.complaint:
        return UNBEGUN, "; ".join(result.faults[:3]) or "no fault in its console"
    return None


def run(boot):
    """Call boot(suffix), again as long as its end is void, and return the last vm.Result. The suffix, different each time,
    goes into the guest's name, so that all logs stay."""
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
    """Return the lines for the end of a test session: how often guests were booted again, and which."""
    path = Path(record)
    events = [line.split("\t", 1) for line in path.read_text().splitlines()] if path.exists() else []
    return [line for why in LIMITS
            for line in [f"guests booted again {why}: {sum(event[0] == why for event in events)}",
                         *(f"  {event[1]}" for event in events if event[0] == why)]]
