# SPDX-License-Identifier: GPL-2.0
"""The expected ledger of given requests, worked out from the definitions alone."""

from collections import Counter

SECTOR = 512
PHASE_BINS = 128
SIZE_BINS = 24


class Oracle:
    """
    Partial touches and classes of requests to one target.

    physical, offset: P and alignment_offset in bytes, of the device below
    start: the sector of the device below at which the target starts
    """

    def __init__(self, physical, offset=0, start=0, logical=512):
        self.physical = physical // SECTOR
        self.logical = logical // SECTOR
        self.offset = offset // SECTOR
        self.start = start
        self.counters = Counter()
        self.phase = [0] * PHASE_BINS
        self.size = [0] * SIZE_BINS

    def split(self, sector, sectors):
        """Yield the blocks that a request overlaps: (number, sectors covered, first sector covered in the block) each."""
        first = self.start + sector - self.offset
        parts = []
        while sectors:
            # Python's floor division and modulus are right also below 0, where block -1 may lie.
            block, inside = divmod(first, self.physical)
            count = min(sectors, self.physical - inside)
            parts.append((block, count, inside))
            first += count
            sectors -= count
        return parts

    def touches(self, sector, sectors):
        return sum(count < self.physical for _, count, _ in self.split(sector, sectors))

    def zero(self, sector, sectors):
        """Count one write-zeroes."""
        touches, count = self.touches(sector, sectors), self.counters
        count["write_zeroes"] += 1
        count["write_zeroes_bytes"] += sectors * SECTOR
        count["rmw_expected"] += touches
        count["rmw_expected_zeroes"] += touches
        count["write_zeroes_misaligned"] += touches > 0

    def write(self, sector, sectors, fua=False):
        """Count one write; return its partial touches."""
        parts = self.split(sector, sectors)
        partial = [part for part in parts if part[1] < self.physical]
        count = self.counters
        count["writes"] += 1
        count["write_bytes"] += sectors * SECTOR
        count["write_block_bytes"] += len(parts) * self.physical * SECTOR
        count["rmw_expected"] += len(partial)
        count["fua"] += fua
        self.size[min(sectors.bit_length() - 1, SIZE_BINS - 1)] += 1
        if not partial:
            return 0
        count["writes_misaligned"] += 1
        self.phase[parts[0][2] // max(self.logical, self.physical // PHASE_BINS)] += 1
        if len(parts) == 1:
            count["writes_sub_block"] += 1
        elif len(partial) == 2:
            count["writes_both_ends"] += 1
        elif partial[0] is parts[0]:
            count["writes_head_only"] += 1
        else:
            count["writes_tail_only"] += 1
        return len(partial)

    def read(self, sectors):
        self.counters["reads"] += 1
        self.counters["read_bytes"] += sectors * SECTOR

    def compare(self, ledger, phase, size):
        """Fail on the first counter or bin that differs; counters that this oracle never counted must be 0."""
        for name in ("writes", "write_bytes", "write_block_bytes", "rmw_expected", "writes_misaligned",
                     "writes_sub_block", "writes_head_only", "writes_tail_only", "writes_both_ends", "fua", "reads",
                     "read_bytes", "write_zeroes", "write_zeroes_bytes", "rmw_expected_zeroes", "write_zeroes_misaligned"):
            assert ledger[name] == self.counters[name], f"{name} is {ledger[name]}, must be {self.counters[name]}"
        assert padded(phase, PHASE_BINS) == self.phase, f"phase histogram {phase}, must be {self.phase}"
        assert padded(size, SIZE_BINS) == self.size, f"size histogram {size}, must be {self.size}"


def padded(bins, length):
    """Pad a histogram, which may lack bins that cannot occur."""
    return bins + [0] * (length - len(bins))
