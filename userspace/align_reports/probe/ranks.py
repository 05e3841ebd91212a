# SPDX-License-Identifier: GPL-2.0
"""Comparisons of two sets of times by their order alone: outliers and the shape of the distribution do not matter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from .statistics import NORMAL_99, Estimate


def ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value, from 1; equal values share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end < len(order) and values[order[end]] == values[order[at]]:
            end += 1
        for index in order[at:end]:
            found[index] = (at + 1 + end) / 2
        at = end
    return found


def chance_as_slow(slow: Sequence[float], fast: Sequence[float]) -> float:
    """Return the probability that `slow` would look so much slower than `fast`, were both of one distribution.

    The test of Mann and Whitney, one-sided, by the normal approximation, which 8 values in each set suffice for.
    """
    n, m = len(slow), len(fast)
    both = ranks([*slow, *fast])
    above = sum(both[:n]) - n * (n + 1) / 2
    # Of equal values, each group of t takes t^3 - t from the variance.
    counts: dict[float, int] = {}
    for rank in both:
        counts[rank] = counts.get(rank, 0) + 1
    ties = sum(count ** 3 - count for count in counts.values()) / ((n + m) * (n + m - 1))
    deviation = math.sqrt(n * m / 12 * (n + m + 1 - ties))
    if not deviation:
        return 1.0
    # NormalDist.cdf() is 0 from 8 deviations on, as 1 - 1.
    return math.erfc((above - n * m / 2 - 0.5) / deviation / math.sqrt(2)) / 2


# Larger sets have too many differences.
MOST = 1000


def batches(values: Sequence[float]) -> Sequence[float]:
    """Return the medians of at most MOST batches of consecutive values; few values as they are."""
    size = -(-len(values) // MOST)
    return values if size <= 1 else [median(values[at:at + size]) for at in range(0, len(values), size)]


def shift(slow: Sequence[float], fast: Sequence[float]) -> Estimate:
    """Return by how much `slow` is slower than `fast`: the median of all differences, with its 95 % interval.

    The estimate of Hodges and Lehmann, and the interval that goes with the test of Mann and Whitney. That is for two
    distributions of one shape, and too narrow where slower times spread more; so it is taken for 99 %.
    """
    slow, fast = batches(slow), batches(fast)
    n, m = len(slow), len(fast)
    differences = sorted(one - other for one in slow for other in fast)
    out = max(round(n * m / 2 - NORMAL_99 * math.sqrt(n * m * (n + m + 1) / 12)), 0)
    middle = (differences[(n * m - 1) // 2] + differences[n * m // 2]) / 2
    return Estimate(middle, differences[out], differences[-1 - out])
