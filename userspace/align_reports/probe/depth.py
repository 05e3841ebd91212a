# SPDX-License-Identifier: GPL-2.0
"""The best depth: as many requests a second as there can be before each takes much longer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

MOST = 256      # what alignctl can have in flight
PAST = 10       # so many depths beyond the best one, and it is the best
# What a gain in rate counts beside a loss in latency.
RATE_WEIGHT, LATENCY_WEIGHT = 0.8, 0.2


@dataclass(frozen=True)
class Probe:
    """What requests at one depth took."""

    depth: int
    requests: int
    iops: float
    mean_us: float
    p90_us: float


def scores(probes: list[Probe]) -> list[float]:
    """1/(0.8/T + 0.2/L) of each: T the rate, L = 1/p90, both in parts of the best among the probes.

    The weighted harmonic mean: 1 is what a depth would have that is best in both.
    """
    most, least = max(p.iops for p in probes), min(p.p90_us for p in probes)
    return [1 / (RATE_WEIGHT * most / p.iops + LATENCY_WEIGHT * p.p90_us / least) for p in probes]


def best(probes: list[Probe]) -> Probe:
    """The one with the highest score, the first of several."""
    ranked = scores(probes)
    return probes[ranked.index(max(ranked))]


def search(probe: Callable[[int], Probe], most: int = MOST) -> list[Probe]:
    """Probes depth 1, 2, 3 and so on, until the best is PAST depths back, or `most` is reached."""
    probes: list[Probe] = []
    for depth in range(1, most + 1):
        probes.append(probe(depth))
        if depth - best(probes).depth >= PAST:
            break
    return probes
