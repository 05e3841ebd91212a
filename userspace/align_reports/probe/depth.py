# SPDX-License-Identifier: GPL-2.0
"""The best depth: the most requests a second before each takes much longer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

MOST = 256      # alignctl's limit of requests in flight
PAST = 10       # the search ends so many depths beyond the best one
# Weights of a gain in rate and of a loss in latency.
RATE_WEIGHT, LATENCY_WEIGHT = 0.8, 0.2


@dataclass(frozen=True)
class Probe:
    """Rate and latencies of requests at one depth."""

    depth: int
    requests: int
    iops: float
    mean_us: float
    p90_us: float


def scores(probes: list[Probe]) -> list[float]:
    """Return each probe's 1/(0.8/T + 0.2/L): T the rate, L = 1/p90, both relative to the best among the probes.

    This is the weighted harmonic mean: a depth that is best in both would have 1.
    """
    most, least = max(p.iops for p in probes), min(p.p90_us for p in probes)
    return [1 / (RATE_WEIGHT * most / p.iops + LATENCY_WEIGHT * p.p90_us / least) for p in probes]


def best(probes: list[Probe]) -> Probe:
    """Return the probe with the highest score, the first of several."""
    ranked = scores(probes)
    return probes[ranked.index(max(ranked))]


def search(probe: Callable[[int], Probe], most: int = MOST) -> list[Probe]:
    """Probe depth 1, 2, 3 and so on, until the best is PAST depths back or `most` is reached; return all probes."""
    probes: list[Probe] = []
    for depth in range(1, most + 1):
        probes.append(probe(depth))
        if depth - best(probes).depth >= PAST:
            break
    return probes
