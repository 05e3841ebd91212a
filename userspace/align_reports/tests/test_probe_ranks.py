# SPDX-License-Identifier: GPL-2.0
"""Two sets of times are compared by their order: published values, errors that are as frequent as said, outliers."""

import math
import random

import pytest

from align_reports.probe.ranks import chance_as_slow, ranks, shift


def uniform(count, low, high, seed):
    draw = random.Random(seed)
    return [draw.uniform(low, high) for _ in range(count)]


def test_equal_values_share_their_ranks():
    assert ranks([30, 10, 20, 10, 10]) == [5, 2, 4, 2, 2]
    assert ranks([]) == []


def test_the_chance_is_that_of_mann_and_whitney():
    """U of 8 values above 8 others is 64 of mean 32 and variance 8 x 8 x 17 / 12: z = 31.5 / 9.522."""
    assert chance_as_slow(range(10, 18), range(8)) == pytest.approx(0.00047, rel=0.01)
    assert chance_as_slow(range(8), range(10, 18)) > 0.999
    # all values alike tell nothing
    assert chance_as_slow([7] * 30, [7] * 30) == 1


def test_a_small_chance_is_not_0():
    """Of 240 values above 240 others z is 28799.5 / 1519.5, and the chance, by the ratio of Mills, about e^-183."""
    z = 28799.5 / math.sqrt(240 * 240 / 12 * 481)
    assert math.log(chance_as_slow(range(240, 480), range(240))) == pytest.approx(
        -z * z / 2 - math.log(z * math.sqrt(2 * math.pi)) - 1 / z ** 2, rel=1e-4)


def test_of_equal_sets_few_look_different():
    looks = [chance_as_slow(uniform(30, 0, 1, 2 * seed), uniform(30, 0, 1, 2 * seed + 1)) for seed in range(2000)]
    for share in (0.5, 0.1, 0.01):
        assert sum(look < share for look in looks) / 2000 == pytest.approx(share, abs=4 * (share * (1 - share) / 2000) ** 0.5)


def test_a_shift_is_found_in_spite_of_outliers():
    fast = uniform(200, 0, 8000, 1) + [1e6] * 5
    slow = [us + 8333 for us in uniform(200, 0, 8000, 2)] + [5e6] * 2
    found = shift(slow, fast)
    assert found.low < 8333 < found.high and abs(found.value - 8333) < 500 and found.high - found.low < 1500


def test_intervals_hold_the_truth_in_at_least_95_of_100_cases():
    """Also if the slower times spread more, as where noise is a share of the time."""
    held = 0
    for seed in range(300):
        draw = random.Random(seed)
        found = shift([draw.gauss(137, 13.7) for _ in range(60)], [draw.gauss(20, 2) for _ in range(60)])
        held += found.low <= 117 <= found.high
    assert held >= 0.95 * 300
