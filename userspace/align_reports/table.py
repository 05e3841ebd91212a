# SPDX-License-Identifier: GPL-2.0
"""The format of figures in the tables and on the pages."""

from __future__ import annotations

from collections.abc import Callable

NONE = "\u2013"


def number(value: float) -> str:
    """Format a count: digits in groups of three (20 000), from a million on three significant digits (1.23 M)."""
    for power, unit in ((18, "E"), (15, "P"), (12, "T"), (9, "G"), (6, "M")):
        if abs(value) >= 0.9995 * 10 ** power:
            return f"{value / 10 ** power:.3g} {unit}"
    return f"{value:,.0f}".replace(",", "\u202f")


def rate(value: float) -> str:
    """Format a figure that need not be whole: four significant digits, or as number()."""
    return number(value) if abs(value) >= 1000 else f"{value:.4g}"


def size_name(value: float) -> str:
    """Format bytes in units of 1024: 512 B, 4 KiB, 117.7 MiB."""
    for power, unit in ((60, "EiB"), (50, "PiB"), (40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        # Four digits of the smaller unit would be 1024 from here on.
        if value >= 1023.5 * (1 << power - 10):
            return f"{value / (1 << power):.4g} {unit}"
    return f"{value:.0f} B"


def digits(value: float) -> str:
    """Format three significant digits: 0.300, 4.68, 16.0, 532; from a thousand on, all digits."""
    if value >= 999.5:
        return number(value)
    return f"{value:#.3g}".rstrip(".") if value else "0"


def duration(us: float, shown: Callable[[float], str] = digits) -> str:
    """Format a time with its unit: 532 \u00b5s, 16.0 ms, 4.68 s."""
    for unit, size in (("\u00b5s", 1), ("ms", 1e3)):
        if us < 999.5 * size:
            return f"{shown(us / size)} {unit}"
    return f"{shown(us / 1e6)} s"


def round_duration(us: float) -> str:
    """Format a round time, for a tick: 500 \u00b5s, 20 ms, 1 s."""
    return duration(us, "{:.4g}".format)


# Format of a quantity by its unit.
SHOWN: dict[str, Callable[[float], str]] = {"s": lambda s: duration(s * 1e6), "us": duration, "1/s": rate}
