# SPDX-License-Identifier: GPL-2.0
"""The compared ways to a drive, as device-mapper tables."""

from __future__ import annotations

from collections.abc import Mapping

ARMS = ("raw", "linear", "ebs", "report", "pad", "coalesce")
MODES = ("report", "pad", "coalesce")  # the arms that are dm-align

SECTOR = 512
BLOCK = 4096


def table(arm: str, device: str, sectors: int, features: Mapping[str, object]) -> str | None:
    """Return the table line of an arm over the first `sectors` of a device; None for the device itself.

    features: dm-align's, {"hold_ms": 500, ...}; the other targets have none.
    """
    if arm == "raw":
        return None
    if arm == "ebs":
        # The emulated block and the underlying block, in sectors.
        return f"0 {sectors} ebs {device} 0 1 {BLOCK // SECTOR}"
    if arm == "linear":
        return f"0 {sectors} linear {device} 0"
    words = [str(word) for pair in {"mode": arm, **features}.items() for word in pair]
    return f"0 {sectors} align {device} 0 {len(words)} {' '.join(words)}"


def joined(sectors: int, disks: list[str]) -> str:
    """Return the table of a drive that is reached through several disks, each for its share."""
    # Whole MiB, so that no physical block lies on two disks.
    share = sectors // len(disks) // 2048 * 2048
    starts = [i * share for i in range(len(disks))]
    ends = [*starts[1:], sectors]
    return "\n".join(f"{start} {end - start} linear /dev/{disk} {start}"
                     for disk, start, end in zip(disks, starts, ends))
