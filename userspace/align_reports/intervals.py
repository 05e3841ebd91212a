# SPDX-License-Identifier: GPL-2.0
"""Repeated runs as a mean with its interval, and the one comparison of two sets of runs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from .table import NONE, number

# Student's t for two-sided 95 % by degrees of freedom, 1 to 30: NIST/SEMATECH e-Handbook of
# Statistical Methods, table 1.3.6.7.2, column 0.975.
STUDENT_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
              2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
              2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)
# The limit of the normal distribution; 1.960 in the same table.
NORMAL_95 = 1.95996
# Fewer repetitions give no interval: with two, it would be 13 deviations to either side.
FEWEST = 3
# A smaller factor is no difference, however narrow its interval.
LEAST = 1.01


def student_95(freedom: int) -> float:
    """Return Student's t for two-sided 95 %; above the table by its expansion around the normal distribution.

    M. Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, 26.7.5; off by less than 0.0002 there.
    """
    if freedom <= len(STUDENT_95):
        return STUDENT_95[freedom - 1]
    z = NORMAL_95
    return z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2)


@dataclass(frozen=True)
class Interval:
    """A mean with its 95 % confidence bounds; None with fewer values than FEWEST."""

    mean: float
    low: float | None
    high: float | None
    values: int

    @classmethod
    def of(cls, values: list[float], least: float = 0) -> Interval:
        """Compute the interval of `values`. least: lower bound of all values, and so of their mean."""
        mean = statistics.fmean(values)
        if len(values) < FEWEST:
            return cls(mean, None, None, len(values))
        half = student_95(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
        return cls(mean, max(mean - half, least), mean + half, len(values))

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Return both bounds; None from fewer values than FEWEST."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def inverse(self) -> Interval:
        """Return the inverse of a ratio: the denominator as a multiple of the numerator."""
        return Interval(1 / self.mean, self.high and 1 / self.high, self.low and 1 / self.low, self.values)

    @property
    def differs(self) -> bool:
        """Return whether a ratio is LEAST or more away from 1, and has an interval that excludes 1."""
        return (self.bounds is not None and not self.bounds[0] <= 1 <= self.bounds[1]
                and not 1 / LEAST < self.mean < LEAST)


def compare(pairs: list[tuple[float, float]]) -> Interval | None:
    """Compare two sets of runs: return the geometric mean of the pairs' ratios with its interval; None if a figure is 0.

    A pair is one figure of both runs of a repetition, so that other activity of the machine affects
    both. Logarithms make the result independent of which of the two is the denominator.
    """
    if not pairs or any(one <= 0 or other <= 0 for one, other in pairs):
        return None
    logs = Interval.of([math.log(one / other) for one, other in pairs], -math.inf)
    return Interval(math.exp(logs.mean), None if logs.low is None else math.exp(logs.low),
                    None if logs.high is None else math.exp(logs.high), logs.values)


def times(value: float) -> str:
    """Format a ratio with three significant digits; from a thousand on, as number()."""
    if value >= 999.5:
        return number(value)
    return f"{value:.2f}" if 0.1 <= value < 10 else f"{value:.3g}"


def interval(one: Interval | None, shown: Callable[[float], str] = times) -> str:
    """Format a mean and its interval; a ratio by default."""
    if one is None:
        return NONE
    if one.bounds is None:
        return shown(one.mean)
    return f"{shown(one.mean)} [{' to '.join(map(shown, one.bounds))}]"


def span(ratio: Interval) -> str:
    """Format the interval of a ratio that has one."""
    assert ratio.bounds
    return " to ".join(map(times, ratio.bounds))


def words(ratio: Interval | None, less: str = "faster", more: str = "slower") -> str:
    """Describe a ratio's numerator in words, with the factor, or say that nothing can be said.

    less, more: the words for a ratio below and above 1
    """
    if ratio is None:
        return "nothing can be said: a figure is 0"
    if ratio.low is None:
        return f"nothing can be said from fewer than {FEWEST} repetitions"
    if not ratio.differs:
        return "no difference shown"
    word, factor = (less, ratio.inverse) if ratio.mean < 1 else (more, ratio)
    return f"{times(factor.mean)} times {word} [{span(factor)}]"
