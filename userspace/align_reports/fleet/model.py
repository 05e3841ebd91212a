# SPDX-License-Identifier: GPL-2.0
"""What misaligned writes cost in units that people budget: time of disks that rotate, and bytes that SSDs write.

Both are modelled and not measured. A disk that is sent a part of a physical block reads the block and writes it one
revolution later, so each write that has touches costs one. A disk that reads each block in a turn of its own needs twice
that for a write of two touches, and one that collects a stream in its cache a fraction. An SSD writes its whole unit where
only a part was sent; how many such writes there were, it may confirm itself. No figure is made of what is not known: how
fast a disk rotates, if at all, and the unit of an SSD.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from operator import add
from typing import NamedTuple

from .documents import DAY_S, Counted, Unit, per_day

MINUTE_S = 60
YEAR_DAYS = 365


class Modelled(NamedTuple):
    """What one device or several cost a day; a sum is of those of which it is known.

    disk_seconds: time of the disks that rotate, None if it is known of none; disks: number of these
    extra: bytes that SSDs write and no host sent, likewise; at_most: it is an upper bound; ssds: number of these
    worn: share of the writes that an SSD is rated for in its life, by the extra bytes of a year; of several SSDs, the
    greatest; None: of none is it known what it is rated for
    confirmed: number of SSDs that confirm the count of writes that the bytes are of
    unknown: number of devices whose touches a day are known, and neither of the two
    """

    disk_seconds: Fraction | None = None
    disks: int = 0
    extra: Fraction | None = None
    at_most: bool = False
    ssds: int = 0
    unknown: int = 0
    worn: Fraction | None = None
    confirmed: int = 0

    @property
    def share(self) -> Fraction | None:
        """Return the share of its time that one disk spends."""
        return None if self.disk_seconds is None else self.disk_seconds / DAY_S


# Of all devices without touches, which are most.
NOTHING = Modelled()


def added(figures: Iterable[Fraction | None]) -> Fraction | None:
    """Add those figures that are known, exactly; None if none is."""
    # Those of one time have one denominator; sums over many have long ones, which are made of two halves of the figures last.
    found: dict[int, int] = {}
    for each in figures:
        if each is not None:
            found[each.denominator] = found.get(each.denominator, 0) + each.numerator
    sums = [Fraction(above, below) for below, above in found.items()]
    while len(sums) > 1:
        sums = [*map(add, sums[::2], sums[1::2]), *sums[len(sums) & ~1:]]
    return sums[0] if sums else None


def together(parts: Iterable[Modelled]) -> Modelled:
    """Add what devices cost."""
    some = [part for part in parts if part != NOTHING]
    if len(some) < 2:
        return some[0] if some else NOTHING
    return Modelled(added(part.disk_seconds for part in some), sum(part.disks for part in some),
                    added(part.extra for part in some), any(part.at_most for part in some), sum(part.ssds for part in some),
                    sum(part.unknown for part in some),
                    max((part.worn for part in some if part.worn is not None), default=None),
                    sum(part.confirmed for part in some))


def of_device(counted: Iterable[Counted], unit: Unit) -> Modelled:
    """Return what the touches of a device cost."""
    timed = [each for each in counted if each.seconds]
    if not timed:
        return NOTHING
    if unit.rpm:
        turns = added(per_day(each.turns, each.seconds) for each in timed if each.seconds)
        return Modelled(disk_seconds=turns and turns * MINUTE_S / unit.rpm, disks=1)
    extra = [each.extra_of(unit.size) for each in timed] if unit.rpm == 0 and unit.size else [None]
    known = [each for each in extra if each is not None]
    if len(known) < len(extra):
        return Modelled(unknown=1)
    day = added(per_day(each.bytes, part.seconds) for each, part in zip(known, timed, strict=True) if part.seconds)
    # What coalesce saves where a block is written again while it is held is no cost, and makes no other device's smaller.
    day = day and max(day, Fraction(0))
    return Modelled(extra=day, at_most=any(each.at_most for each in known), ssds=1,
                    worn=day * YEAR_DAYS / unit.rated if unit.rated and day is not None else None,
                    confirmed=int(all(each.confirmed for each in timed)))
