# SPDX-License-Identifier: GPL-2.0
"""
Rounds in a machine, from one seed on, until the time is up or one fails: `python -m soak --first SEED ...`, called by
lab.proof.soak. The results file gets a JSON line when a round begins and another when it has ended.
"""

import argparse
import json
import os
import threading
import time
import traceback
from pathlib import Path

from lab.machines.findings import faults
from rig.rig import Rig

from .plan import derive
from .round import carry_out

# A round takes seconds; the rest is for slow machines.
STUCK = 240


class Watchdog:
    """Ends a machine in which a round hangs; a thread, as a process stuck in the kernel gets no signal."""

    def __init__(self, tell):
        self._tell = tell
        self._timer = None

    def start(self, seed):
        self.stop()
        self._timer = threading.Timer(STUCK, self._end, [seed])
        self._timer.daemon = True
        self._timer.start()

    def stop(self):
        if self._timer:
            self._timer.cancel()

    def _end(self, seed):
        self._tell(seed=seed, ok=False, why=f"has not ended after {STUCK} s; the console lists the blocked tasks")
        Path("/proc/sysrq-trigger").write_text("w")
        os._exit(1)


def rounds(rig, seeds, seconds, tell):
    """Run rounds; return whether all were right."""
    watchdog = Watchdog(tell)
    end = time.monotonic() + seconds
    for seed in seeds:
        if time.monotonic() >= end:
            break
        tell(begin=seed)
        watchdog.start(seed)
        began = time.monotonic()
        with rig.log() as log:
            try:
                result = carry_out(rig, derive(seed))
            except Exception:
                # Stop here: the leftovers are evidence, and a clean-up may hang.
                tell(seed=seed, ok=False, why=traceback.format_exc())
                os._exit(1)
        watchdog.stop()
        found = faults(log.text)
        if found:
            tell(seed=seed, ok=False, why="the kernel log holds faults:\n  " + "\n  ".join(found[:20]))
            return False
        tell(seed=seed, ok=True, seconds=round(time.monotonic() - began, 1), **result)
    return True


def main():
    parser = argparse.ArgumentParser(prog="python -m soak")
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--repeat", type=int, required=True)
    parser.add_argument("--tools", type=Path, required=True)
    parser.add_argument("--module", type=Path, required=True)
    parser.add_argument("--results", type=Path, required=True)
    given = parser.parse_args()

    def tell(**event):
        with open(given.results, "a") as results:
            results.write(json.dumps(event) + "\n")

    rig = Rig(None, given.tools, given.module)
    rig.load_module()
    seeds = (seed for seed in range(given.first, given.first + given.count) for _ in range(given.repeat))
    right = rounds(rig, seeds, given.seconds, tell)
    rig.unload_module()
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main())
