# SPDX-License-Identifier: GPL-2.0
"""Pieces of inline SVG, styled by the classes of the page."""

from __future__ import annotations

from html import escape

WIDTH = 340
# Width of a character at the page's size of 11 pixels, in a wide font.
CHARACTER = 6.6
LINE = 14


def text_width(words: str) -> float:
    return CHARACTER * len(words)


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    css = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{css}>{escape(words)}</text>'


def rect(x: float, y: float, width: float, height: float, kind: str, tip: str = "") -> str:
    title = f"<title>{escape(tip)}</title>" if tip else ""
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" '
            f'height="{max(height, 0):.1f}" class="{kind}">{title}</rect>')


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def polyline(points: list[tuple[float, float]], kind: str) -> str:
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{places}" class="{kind}"/>'


def polygon(points: list[tuple[float, float]], kind: str) -> str:
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polygon points="{places}" class="{kind}"/>'


def svg(height: float, label: str, parts: list[str]) -> str:
    return (f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(label)}">'
            + "".join(parts) + "</svg>")
