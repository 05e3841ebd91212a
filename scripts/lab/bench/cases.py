# SPDX-License-Identifier: GPL-2.0
"""The drives and the cases of the benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..machines.drives import Server

# Writes of one count of a workload, where not 1, and their total bytes.
STEPS = {"w4k_132k": 2, "diskbenchi-0": 4, "diskbenchi-existing": 4, "diskbenchi-fresh": 5}
STEP_BYTES = {"w136k": 139264, "w4k_132k": 139264, "diskbenchi-0": 2 << 20,
              "diskbenchi-existing": 2 << 20, "diskbenchi-fresh": 2 << 20,
              "seq8k-shifted": 8192, "w4096": 8192, "w4096_512": 8192}


@dataclass(frozen=True)
class Case:
    """One workload of `alignctl replay`, with the options that differ from the defaults.

    extra: further arguments of replay; features: further features of dm-align's table line.
    """

    name: str
    workload: str
    summary: str
    depth: int = 1
    extra: tuple[str, ...] = ()
    features: Mapping[str, object] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        return STEPS.get(self.workload, 4 if self.workload == "areasync-512" else 1)

    @property
    def random(self) -> bool:
        return self.workload.startswith("rand")

    def bytes(self, count: int) -> int:
        """Estimate the bytes that prepare writes and check reads."""
        return count * STEP_BYTES.get(self.workload, 4096)


# Longer than any run, and more blocks than any run writes: only the final flush empties.
HELD = {"hold_ms": 600000, "max_blocks": 65536}

CASES = {case.name: case for case in (
    Case("w512", "w512", "512 B in each 4096 B block"),
    Case("w4096", "w4096", "4096 B, aligned, every other block"),
    Case("w4096_512", "w4096_512", "4096 B, one sector off"),
    Case("w136k", "w136k", "136 KiB stream, one sector off"),
    Case("w4k_132k", "w4k_132k", "the same stream as 4 KiB and 132 KiB"),
    Case("diskbenchi-0", "diskbenchi-0", "2 MiB in four requests, aligned"),
    Case("diskbenchi-existing", "diskbenchi-existing", "the same, one sector off"),
    Case("diskbenchi-fresh", "diskbenchi-fresh", "the same, rewriting zeroed ends"),
    Case("seq8k-shifted", "seq8k-shifted", "8 KiB stream, five sectors off"),
    Case("areasync-512", "areasync-512", "512 B and fdatasync in each of four areas"),
    Case("append-512-dsync", "append-512-dsync", "512 B appended, each durable"),
    Case("rand512-1", "rand512", "512 B at random"),
    Case("rand512-8", "rand512", "512 B at random, 8 in flight", 8),
    Case("rand512-32", "rand512", "512 B at random, 32 in flight", 32),
    Case("rand4k-1", "rand4k", "4096 B at random, aligned"),
    Case("rand4k-32", "rand4k", "4096 B at random, aligned, 32 in flight", 32),
    # Cases of single rows.
    Case("w136k-aligned", "w136k", "136 KiB stream from offset 0", extra=("--start", "0")),
    Case("w512-held", "w512", "w512, held until the end", features=HELD),
    Case("w512-64-blocks", "w512", "w512 with room for 64 blocks", features={"max_blocks": 64}),
    Case("w512-1-block", "w512", "w512 with room for one block", features={"max_blocks": 1}),
)}

TABLE_CASES = tuple(name for name in CASES
                    if name not in ("w136k-aligned", "w512-held", "w512-64-blocks",
                                    "w512-1-block"))


# QEMU's NBD client has no more requests in flight (MAX_NBD_REQUESTS in block/nbd.c).
DEPTH_OF_CONNECTION = 16


@dataclass(frozen=True)
class Drive:
    """An emulated drive.

    request_ms: least time of a request, for planning only; connections: number of QEMU's
    connections, each for its share of the drive.
    """

    name: str
    server: Server
    summary: str
    request_ms: float
    connections: int = 1

    @property
    def depth(self) -> int:
        """Return the most requests in flight at the drive."""
        return DEPTH_OF_CONNECTION * self.connections


# 10G: more than diskbenchi's 4000 * 2 MiB, and than the 8 GiB that a random case must have.
DRIVES = {drive.name: drive for drive in (
    Drive("instant", Server(size="10G", profile="instant"), "no time of its own", 0),
    Drive("fixed-2ms", Server(size="10G", profile="fixed", options=("latency_us=2000",)),
          "2 ms a request", 2),
    # Random writes 32 deep: a quarter, 8, is well below the limit of a connection.
    Drive("fixed-10ms", Server(size="10G", profile="fixed", options=("latency_us=10000",)),
          "10 ms a request", 10, connections=4),
    Drive("st1000dm003", Server(size="10G", profile="st1000dm003"),
          "7200 rpm, with a write cache", 1),
    Drive("hdd-nocache", Server(size="10G", profile="hdd-nocache", cache="off"),
          "7200 rpm, without one", 12),
)}

TABLE_DRIVES = tuple(name for name in DRIVES if name != "instant")
