# SPDX-License-Identifier: GPL-2.0
"""Models of the time that a drive needs for a request. Sizes are in bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence

# Greatest relative deviation of a time from the model's.
FITS = 0.3


def response_ms(wait_ms: float, access_ms: float, size: float, bytes_per_s: float) -> float:
    """Return one request's time: queued behind others, then the access, then the transfer."""
    return wait_ms + access_ms + size / bytes_per_s * 1000


def rate(access_ms: float, size: float, bytes_per_s: float) -> float:
    """Return the bytes a second of requests of one size, one at a time, each with its own access."""
    return size / response_ms(0, access_ms, size, bytes_per_s) * 1000


def balanced_chunk(access_ms: float, bytes_per_s: float) -> float:
    """Return the size whose transfer takes as long as its access: its rate is half the drive's."""
    return access_ms / 1000 * bytes_per_s


def revolution_ms(rpm: float) -> float:
    return 60000 / rpm


def half_revolution_ms(rpm: float) -> float:
    """Return the head's average wait for a sector."""
    return revolution_ms(rpm) / 2


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that `percent` percent of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(len(ordered) * percent / 100), 1) - 1]


def fit(points: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """Fit a drive's access time in ms and bytes a second to (size, mean ms) of requests one by one.

    Least squares of response_ms() by relative error, so that large requests do not outweigh small
    ones. Returns None if the model does not apply: too few sizes, times that do not rise with the
    size, or a time further than FITS from the model's.
    """
    weights = [(1 / ms ** 2, size, ms) for size, ms in points if ms > 0]
    total = sum(w for w, _, _ in weights)
    if len({size for _, size, _ in weights}) < 3:
        return None
    mean_size = sum(w * size for w, size, _ in weights) / total
    mean_ms = sum(w * ms for w, _, ms in weights) / total
    slope = (sum(w * (size - mean_size) * (ms - mean_ms) for w, size, ms in weights)
             / sum(w * (size - mean_size) ** 2 for w, size, _ in weights))
    access = mean_ms - slope * mean_size
    if slope <= 0 or access <= 0 or any(
            abs(response_ms(0, access, size, 1000 / slope) / ms - 1) > FITS
            for _, size, ms in weights):
        return None
    return access, 1000 / slope
