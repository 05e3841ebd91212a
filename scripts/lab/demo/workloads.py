# SPDX-License-Identifier: GPL-2.0
"""The five published workloads and the partial touches that each must cost.

This is arithmetic only, shared with neither alignctl nor the kernel, so that the expected
number of touches does not come from the code under test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

Write = tuple[int, int]  # offset in bytes, length in bytes


def touches(offset: int, length: int, block: int, first_boundary: int = 0) -> int:
    """Count the physical blocks that one write covers in part: 0, 1 or 2.

    offset, length and block (the physical block size, a power of two) are in bytes;
    first_boundary is the drive's alignment_offset, less than block.
    """
    start = offset - first_boundary
    end = start + length
    head = start % block != 0
    tail = end % block != 0
    if head and tail and start // block == end // block:
        return 1
    return head + tail


@dataclass(frozen=True)
class Workload:
    """One workload, named as `alignctl replay` names it.

    steps: writes that one count stands for (2 where the workload writes pairs).
    published_count: the count of the published measurement, on a ST1000DM003-1ER162.
    """

    name: str
    summary: str
    steps: int
    published_count: int
    at: Callable[[int], list[Write]]

    def writes(self, count: int) -> Iterator[Write]:
        """Yield every write of a run of `count`, in order."""
        for k in range(count):
            yield from self.at(k)

    def touches_expected(self, count: int, block: int = 4096, first_boundary: int = 0) -> int:
        """Count the partial touches of a run of `count`: RMWs for a drive with no cache."""
        return sum(touches(o, n, block, first_boundary) for o, n in self.writes(count))

    def requests(self, count: int) -> int:
        return count * self.steps

    def bytes_written(self, count: int) -> int:
        return sum(length for _, length in self.writes(count))

    def span(self, count: int) -> int:
        """Return the bytes from the start of the device to the end of the last write."""
        return max((o + n for o, n in self.writes(count)), default=0)


# A stream of 136 KiB steps starts one sector short of the first boundary.
_STREAM_START = 3584
_STREAM_STEP = 139264

WORKLOADS = (
    Workload("w512", "512 B in each 4096 B block", 1, 20000,
             lambda k: [(k * 4096, 512)]),
    Workload("w4096", "4096 B, aligned, every other block", 1, 20000,
             lambda k: [(k * 8192, 4096)]),
    Workload("w4096_512", "4096 B, one sector off", 1, 20000,
             lambda k: [(k * 8192 + 512, 4096)]),
    Workload("w136k", "136 KiB stream, one sector off", 1, 5000,
             lambda k: [(_STREAM_START + k * _STREAM_STEP, _STREAM_STEP)]),
    Workload("w4k_132k", "the same stream as pairs of 4 KiB and 132 KiB", 2, 5000,
             lambda k: [(_STREAM_START + k * _STREAM_STEP, 4096),
                        (_STREAM_START + k * _STREAM_STEP + 4096, _STREAM_STEP - 4096)]),
)

BY_NAME = {w.name: w for w in WORKLOADS}
