# SPDX-License-Identifier: GPL-2.0
"""How figures are written in the tables and on the pages."""

from __future__ import annotations

NONE = "\u2013"


def number(value: float) -> str:
    """A count: digits in groups of three, a thin space between (20 000), from a million on three of them (1.23 M)."""
    for power, unit in ((9, "G"), (6, "M")):
        if abs(value) >= 0.9995 * 10 ** power:
            return f"{value / 10 ** power:.3g} {unit}"
    return f"{value:,.0f}".replace(",", "\u202f")


def rate(value: float) -> str:
    """A figure that need not be whole: four significant digits, or as number()."""
    return number(value) if abs(value) >= 1000 else f"{value:.4g}"


def size_name(value: float) -> str:
    """Bytes in units of 1024: 512 B, 4 KiB, 117.7 MiB."""
    for power, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if value >= 1 << power:
            return f"{value / (1 << power):.4g} {unit}"
    return f"{value:.0f} B"


def duration(us: float) -> str:
    """A time with its unit and three significant digits: 532 \u00b5s, 16.7 ms, 4.68 s."""
    for unit, size in (("\u00b5s", 1), ("ms", 1e3)):
        if us < 999.5 * size:
            return f"{us / size:.3g} {unit}"
    return f"{us / 1e6:.3g} s" if us < 999.5e6 else f"{number(us / 1e6)} s"
