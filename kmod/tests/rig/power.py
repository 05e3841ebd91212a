# SPDX-License-Identifier: GPL-2.0
"""
The lawful content of a device's sectors after a power cut, worked out from the answers to its writers.

A history has the writers' requests and the answers; it is independent of target and drive. From a history follows
(contract 4 of the target, and the promise of any drive with a volatile cache):

  stable    a write that was acknowledged before a flush began that succeeded, or that had FUA and was acknowledged
  lawful    in each sector: every write to the sector, and the original content, unless a stable write of that sector
            began after its acknowledgement. A write without an answer may be there or not.
  torn      a block in which one sector has a write, and another sector of that write has content acknowledged before
            the write began. No block may be torn if the drive writes blocks atomically.
  damaged   a block that the drive cannot read. Only blocks being written when the power went may be damaged: see
            History.may_be_damaged().
"""

import itertools

from .direct import SECTOR, describe


class Sent:
    """A write or a flush, with the times of its submission and of its acknowledgement, or None, by the history's clock."""

    __slots__ = ("began", "ended", "sector", "data", "fua")

    def __init__(self, began, sector=0, data=b"", fua=False):
        self.began, self.ended = began, None
        self.sector, self.data, self.fua = sector, data, fua

    @property
    def sectors(self):
        return range(self.sector, self.sector + len(self.data) // SECTOR)

    def content(self, sector):
        at = (sector - self.sector) * SECTOR
        return self.data[at:at + SECTOR]


class History:
    """
    The requests of several threads to `len(before)` sectors, and the original content.

    before: the content of each sector
    block, boundary: sectors in a physical block, and the first sector of one (others follow every `block` sectors)
    """

    def __init__(self, before, block, boundary=0):
        self.before, self.block, self.boundary = before, block, boundary
        self.writes, self.flushes = [], []
        self._clock = itertools.count()

    # ---- called by the writers: before a request is sent, and after its acknowledgement ----

    def write(self, sector, data, fua=False):
        sent = Sent(next(self._clock), sector, data, fua)
        self.writes.append(sent)
        return sent

    def flush(self):
        sent = Sent(next(self._clock))
        self.flushes.append(sent)
        return sent

    def acknowledged(self, *requests):
        now = next(self._clock)
        for sent in requests:
            sent.ended = now

    # ---- conclusions ----

    def block_of(self, sector):
        return (sector - self.boundary) // self.block

    def sectors_of(self, block):
        first = self.boundary + block * self.block
        return range(max(first, 0), min(first + self.block, len(self.before)))

    def is_stable(self, write):
        if write.ended is None:
            return False
        return write.fua or any(flush.ended is not None and flush.began > write.ended for flush in self.flushes)

    def touching(self, sectors):
        """Return the writes to any of the sectors from sectors.start to before sectors.stop."""
        return [write for write in self.writes
                if write.sectors.start < sectors.stop and write.sectors.stop > sectors.start]

    def lawful(self, sector, writes):
        """Return the lawful ones of `writes`, all to this sector; None stands for the original content."""
        stable = max((write.began for write in writes if self.is_stable(write)), default=None)
        if stable is None:
            return [None, *writes]
        return [write for write in writes if write.ended is None or write.ended > stable]

    def may_be_damaged(self, block, early):
        """
        Return whether the drive may have been writing the block when the power went.

        Without `early`, the drive has each acknowledged write: it may write the block while a write to the block has no
        answer yet, or while a flush has none and the block is in the drive's cache. With `early`, acknowledged writes
        reach the drive at any time until a flush is acknowledged, as from a volatile cache.
        """
        open_writes = [write for write in self.touching(self.sectors_of(block)) if not self.is_stable(write)]
        if early:
            return bool(open_writes)
        flushing = any(flush.ended is None for flush in self.flushes)
        return any(flushing or write.ended is None for write in open_writes)

    def unfinished(self, sectors):
        """Return whether a write to any of these sectors has no answer."""
        return any(write.ended is None for write in self.touching(sectors))

    # ---- the verdict ----

    def judge(self, found, tear="none", early=False):
        """
        Return all faults of `found`, the content of each sector (None: cannot be read), as a list of lines.

        tear: kind of the drive's power cut; early: see may_be_damaged()
        """
        wrong = []
        for block in range(self.block_of(0), self.block_of(len(self.before) - 1) + 1):
            sectors = self.sectors_of(block)
            if any(found[sector] is None for sector in sectors):
                if tear != "block":
                    wrong.append(f"block {block} cannot be read, though tear={tear}")
                elif not self.may_be_damaged(block, early):
                    wrong.append(f"block {block} is damaged, and no write to it was under way")
                continue
            wrong += self._judge_block(sectors, found, tear)
        return wrong

    def _judge_block(self, sectors, found, tear):
        writes = self.touching(sectors)
        wrong, holds = [], {}
        for sector in sectors:
            here = [write for write in writes if sector in write.sectors]
            lawful = self.lawful(sector, here)
            match = [write for write in lawful if self._content(write, sector) == found[sector]]
            if match:
                holds[sector] = match
            else:
                wrong.append(f"sector {sector} (block {self.block_of(sector)}) holds {describe(found[sector])}; "
                             "lawful: " + ", ".join(describe(self._content(write, sector)) for write in lawful))
        if tear == "none" and not wrong:
            wrong += [f"sectors {write.sectors.start} to {write.sectors.stop - 1}, written as one, are torn in block "
                      f"{self.block_of(sectors.start)}: {torn}" for write in writes
                      if (torn := self._torn(write, sectors, holds))]
        return wrong

    def _content(self, write, sector):
        return self.before[sector] if write is None else write.content(sector)

    @staticmethod
    def _torn(write, sectors, holds):
        """Return how the block has only a part of `write`; "" if it is not torn."""
        mine = range(max(write.sectors.start, sectors.start), min(write.sectors.stop, sectors.stop))
        present = [sector for sector in mine if holds[sector] == [write]]
        older = [sector for sector in mine
                 if all(other is None or other.ended is not None and other.ended < write.began
                        for other in holds[sector])]
        if present and older:
            return f"sector {present[0]} holds them and sector {older[0]} what was there before"
        return ""
