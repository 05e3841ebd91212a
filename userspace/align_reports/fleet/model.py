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
from dataclasses import dataclass
from fractions import Fraction

from .documents import DAY_S, Counted

MINUTE_S = 60
YEAR_DAYS = 365


@dataclass(frozen=True)
class Modelled:
    """What one device or several cost a day; a sum is of those of which it is known.

    disk_seconds: time of the disks that rotate, None if it is known of none; disks: number of these
    extra: bytes that SSDs write and nobody sent, likewise; at_most: it is an upper bound; ssds: number of these
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


# One for all devices without touches, which are most.
NOTHING = Modelled()


def _plus(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return one if other is None else other if one is None else one + other


def _greatest(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return one if other is None else other if one is None else max(one, other)


def together(parts: Iterable[Modelled]) -> Modelled:
    """Add what devices cost."""
    whole = NOTHING
    for part in parts:
        if part is NOTHING:
            continue
        whole = Modelled(_plus(whole.disk_seconds, part.disk_seconds), whole.disks + part.disks,
                         _plus(whole.extra, part.extra), whole.at_most or part.at_most, whole.ssds + part.ssds,
                         whole.unknown + part.unknown, _greatest(whole.worn, part.worn),
                         whole.confirmed + part.confirmed)
    return whole


def of_device(counted: Iterable[Counted], rpm: Fraction | None, unit: int | None, rated: int | None = None) -> Modelled:
    """Return what the touches of a device cost. rpm: 0: it does not rotate; None: not known"""
    timed = [each for each in counted if each.seconds is not None]
    if not timed:
        return NOTHING
    if rpm:
        turns = sum((each.turns * DAY_S / each.seconds for each in timed if each.seconds), Fraction(0))
        return Modelled(disk_seconds=turns * MINUTE_S / rpm, disks=1)
    extra = [each.extra_of(unit) for each in timed] if rpm == 0 and unit else [None]
    known = [each for each in extra if each is not None]
    if len(known) < len(extra):
        return Modelled(unknown=1)
    a_day_of = (each.bytes * DAY_S / part.seconds for each, part in zip(known, timed, strict=True) if part.seconds)
    day = sum(a_day_of, Fraction(0))
    return Modelled(extra=day, at_most=any(each.at_most for each in known), ssds=1,
                    worn=day * YEAR_DAYS / rated if rated else None, confirmed=int(all(each.confirmed for each in timed)))
