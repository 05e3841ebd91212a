# SPDX-License-Identifier: GPL-2.0
"""How figures are written in the tables and on the pages."""

from __future__ import annotations

NONE = "\u2013"


def number(value: float) -> str:
    """Digits in groups of three, a thin space between: 20 000."""
    return f"{value:,.0f}".replace(",", "\u202f")


def milliseconds(us: float) -> str:
    """A latency in milliseconds with three significant digits: 0.532, 12.3."""
    ms = us / 1000
    return f"{ms:.3f}" if ms < 1 else f"{ms:.2f}" if ms < 10 else f"{ms:.1f}"


def duration(us: float) -> str:
    """A time with its unit and three significant digits: 532 \u00b5s, 16.7 ms, 4.68 s."""
    for unit, size in (("\u00b5s", 1), ("ms", 1e3)):
        if us < 999.5 * size:
            return f"{us / size:.3g} {unit}"
    return f"{us / 1e6:.3g} s" if us < 999.5e6 else f"{number(us / 1e6)} s"
