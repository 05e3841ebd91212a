# SPDX-License-Identifier: GPL-2.0
"""The predictions of `alignctl plan` for a workload, compared with the target's ledger after `alignctl replay`."""

import json
import time
from dataclasses import dataclass

from lab.pace import Limit
from lab.paths import OUT

from .dm import run
from .too_slow import too_slow

# In a run shorter than this no cached block expires: ALIGN_CACHED_MS.
KNOWN_SECONDS = 0.5
HOLD_MS = 60000		# longer than any run
COUNTERS = ("rmw_expected", "rmw_expected_zeroes", "rmw_avoided", "rmw_host", "rmw_drive", "pad_read_bytes",
            "pad_writes")
ALSO = ("read_bytes", "writes", "flushes", "write_zeroes_misaligned")		# the same in all modes


@dataclass
class Case:
    """A workload with arguments of `plan` and of `replay` that make it small."""

    name: str
    arguments: tuple

    def __str__(self):
        return " ".join((self.name, *self.arguments))


# Few writes each, of all shapes: random ones dense enough to share blocks, streams with any start.
CASES = [
    *(Case(name, ("--count", "12")) for name in (
        "w512", "w4096", "w4096_512", "w136k", "w4k_132k", "seq8k-shifted", "db-write", "append-512-dsync")),
    *(Case(name, ("--count", "4")) for name in (
        "diskbenchi-0", "diskbenchi-existing", "diskbenchi", "diskbenchi-fresh", "areasync-512", "areasync-512-128k",
        "areasync-4k", "areasync-4k-shifted", "dd-512-sync", "journal-252k-seq", "journal-64k-seq",
        "journal-252k-seq-shifted", "journal-64k-seq-shifted")),
    *(Case(name, ("--count", "24", "--span", "256K")) for name in (
        "shifted-partition", "db-randwrite", "db-randwrite-shifted", "rand512", "rand4k")),
    *(Case(name, ("--count", "5", "--span", "256K")) for name in (
        "journal-252k-rand", "journal-64k-rand", "journal-252k-rand-shifted", "journal-64k-rand-shifted")),
    *(Case(name, ("--count", "10", "--span", "8M")) for name in ("db-daemon", "db-daemon-shifted")),
    Case("dd-4m-sync", ("--count", "1")),
    Case("rndwrite", ("--count", "24", "--span", "512K")),
    Case("seqwrite", ("--count", "3", "--span", "4M")),
    Case("rand512", ("--count", "48", "--span", "32K", "--seed", "2")),
    Case("rand4k", ("--count", "24", "--span", "128K", "--start", "68096", "--seed", "3")),
    Case("w4096", ("--count", "12", "--start", "3584")),
    Case("w136k", ("--count", "5", "--start", "70144")),
    Case("append-512-dsync", ("--count", "20", "--start", "67072")),
    Case("areasync-512", ("--count", "3", "--areas", "9", "--start", "66048")),
]


def alignctl(*arguments):
    return json.loads(run(OUT / "bin" / "alignctl", *arguments, "--json").stdout)


class Prediction:
    """The prediction for one case, on blocks that start at `offset`."""

    def __init__(self, case, device, geometry):
        self.case, self.device = case, device
        self.blocks = ("--physical", geometry["physical_block_size"], "--offset", geometry["alignment_offset"])
        self.plan = alignctl("plan", case.name, "--on", device.path, *case.arguments, *self.blocks)
        self._words = ("replay", case.name, "--on", device.path, *case.arguments, *self.blocks,
                       "--state", "/run/prediction")

    def prepare(self):
        alignctl(*self._words, "--phase", "prepare")

    def run(self):
        return alignctl(*self._words, "--phase", "run")

    def measure(self, mode, before_run=lambda: None):
        """Run the case in a mode and check the ledger; return the counts that the run added."""
        self.device.set_mode(mode)
        predicted, most = self.plan["modes"][mode], self.plan["modes"]["rmw_host_at_most"]
        limit, attempt = Limit(30), 0
        while attempt < 10 or not limit.over():
            time.sleep(attempt / 2)
            attempt += 1
            self.prepare()
            self.device.message("flush")
            before = self.device.balanced()
            before_run()
            done = self.run()
            after = self.device.balanced()
            counted = {name: after[name] - before[name] for name in (*COUNTERS, *ALSO)}
            said = f"{self.case} in {mode}: {counted} for {predicted}"
            assert counted["rmw_expected"] == predicted["rmw_expected"], said
            assert counted["rmw_drive"] == predicted["touches_left"], said
            assert predicted["rmw_host"] <= counted["rmw_host"] <= most, said
            if done["wall_s"] + done["flush_s"] < KNOWN_SECONDS:
                assert {"touches_left" if name == "rmw_drive" else name: counted[name]
                        for name in COUNTERS} == predicted, said
                return counted
        return too_slow(f"{self.case}: no run ended within {KNOWN_SECONDS} s")


class TracePrediction(Prediction):
    """The prediction for a trace, replayed one request after the other."""

    def __init__(self, path, device, geometry):
        super().__init__(Case(str(path), ()), device, geometry)
        self._words = ("replay", path, "--on", device.path, "--timing", "closed", "--no-check", "--force", device.path)

    def prepare(self):
        # Let all cached blocks expire.
        time.sleep(KNOWN_SECONDS + 0.1)

    def run(self):
        return alignctl(*self._words)
