# SPDX-License-Identifier: GPL-2.0
"""Parts that all pages share. Each is one HTML page that needs nothing else: no script, no font, no network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

STYLE = """
:root { color-scheme: light dark;
  --paper: #ffffff; --ink: #1c2128; --soft: #57606a; --rule: #d0d7de; --panel: #f6f8fa;
  --raw: #b35900; --report: #6e7781; --pad: #0b63ce; --coalesce: #1a7f37; --host: #8ab8f0;
  --good: #116329; --bad: #b3121d; --warm: #fff4e5; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #11151a; --ink: #e6edf3; --soft: #9aa5b1; --rule: #363d46; --panel: #1a2027;
  --raw: #f0983c; --report: #8d97a3; --pad: #4f9cf5; --coalesce: #57ab5a; --host: #2c5a8f;
  --good: #56d364; --bad: #ff7b72; --warm: #2d2212; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.2rem; max-width: 90rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .4rem; }
h3 { font-size: 1rem; margin: 0; }
p, ul, dl { max-width: 46rem; margin: .5rem 0; }
.soft, .panel p, dd { color: var(--soft); }
.verdict { border-left: .3rem solid var(--good); padding: .4rem .8rem; background: var(--panel); }
.verdict.bad { border-color: var(--bad); }
.panels { display: grid; gap: .8rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr)); }
.panel { background: var(--panel); border: 1px solid var(--rule); border-radius: .4rem;
  padding: .6rem .7rem; min-width: 0; }
.panel p { margin: 0 0 .3rem; font-size: .85rem; }
svg { display: block; width: 100%; height: auto; max-width: 30rem; }
svg text { fill: var(--ink); font: 11px system-ui, sans-serif; }
svg .tick, svg .note { fill: var(--soft); }
svg .note { paint-order: stroke; stroke: var(--panel); stroke-width: 5px; }
svg .name { font-weight: 600; }
svg .grid { stroke: var(--rule); stroke-width: 1; }
svg .axis { stroke: var(--soft); stroke-width: 1; }
svg .raw, .key .raw { fill: var(--raw); background: var(--raw); }
svg .report, .key .report { fill: var(--report); background: var(--report); }
svg .pad, .key .pad { fill: var(--pad); background: var(--pad); }
svg .coalesce, .key .coalesce { fill: var(--coalesce); background: var(--coalesce); }
svg .host, .key .host { fill: var(--host); background: var(--host); }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; list-style: none; padding: 0;
  max-width: none; font-size: .9rem; }
.key i { display: inline-block; width: .9rem; height: .9rem; margin-right: .4rem;
  vertical-align: -.1rem; }
table { border-collapse: collapse; width: 100%; font-size: .88rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .5rem; text-align: right; overflow-wrap: break-word; }
th { vertical-align: bottom; border-bottom: 2px solid var(--rule); }
th.title, td.title { white-space: nowrap; }
.word { text-align: left; }
tbody tr:first-child td { border-top: 1px solid var(--rule); }
tr.pad, tr.coalesce { background: var(--panel); }
dt { font-weight: 600; }
dd { margin: 0 0 .4rem; }
@media (max-width: 70rem) {
  table, tr, td { display: block; }
  thead { display: none; }
  tbody { display: grid; gap: .6rem; margin-bottom: .6rem;
    grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); }
  tr { border: 1px solid var(--rule); border-radius: .4rem; padding: .3rem 0; }
  td, td.word { display: flex; justify-content: space-between; gap: 1rem; text-align: right;
    padding: .1rem .6rem; }
  tbody tr:first-child td { border-top: 0; }
  td::before { content: attr(data-heading); color: var(--soft); text-align: left; flex: 0 1 45%; }
  td.title { display: inline; font-weight: 600; white-space: normal; }
  td.title + td.title { padding-left: 0; }
  td.title::before { content: none; }
}
"""

# Marks a page as alignctl's, so that a later run may replace it.
MARK = '<meta name="generator" content="alignctl">'


def document(title: str, body: str, more_style: str = "") -> str:
    """Return a page: the body below its title."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{MARK}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{STYLE}{more_style}</style>
</head>
<body>
<h1>{escape(title)}</h1>
{body}
</body>
</html>
"""


def key(entries: tuple[tuple[str, str], ...]) -> str:
    items = "".join(f'<li><i class="{kind}"></i>{escape(words)}</li>' for kind, words in entries)
    return f'<ul class="key">{items}</ul>'


def said(sentences: Iterable[str], stopped: str | None, bad: bool = False) -> str:
    """Return the box of conclusions at the top. stopped: why the runs ended early, if they did."""
    words = [*([f"Stopped: {stopped}."] if stopped else []), *sentences]
    return (f'<div class="verdict{" bad" if stopped or bad else ""}"><ul>'
            + "".join(f"<li>{escape(each)}</li>" for each in words) + "</ul></div>")


def panel(title: str, drawing: str, words: str = "") -> str:
    summary = f"<p>{escape(words)}</p>" if words else ""
    return (f'<figure class="panel" style="margin:0"><h3>{escape(title)}</h3>{summary}{drawing}'
            "</figure>")


@dataclass(frozen=True)
class Heading:
    """A column's heading. word: the cells are left-aligned words, not figures; title: the cells name the rows."""

    name: str
    word: bool = False
    title: bool = False

    def css(self) -> str:
        kinds = [*(("word",) if self.word or self.title else ()), *(("title",) if self.title else ())]
        return f' class="{" ".join(kinds)}"' if kinds else ""


def table(headings: Sequence[Heading], bodies: Iterable[Iterable[tuple[str, Sequence[str]]]]) -> str:
    """Return a table of bodies of rows (CSS class or "", cells). In a narrow window a row is a card that names its values."""
    head = "".join(f"<th{each.css()}>{escape(each.name)}</th>" for each in headings)
    starts = [f'<td{each.css()} data-heading="{escape(each.name)}">' for each in headings]
    rows = "".join("<tbody>" + "".join(
        (f'<tr class="{kind}">' if kind else "<tr>") + "".join(
            f"{start}{escape(cell)}</td>" for start, cell in zip(starts, cells, strict=True)) + "</tr>"
        for kind, cells in body) + "</tbody>" for body in bodies)
    return f"<table><thead><tr>{head}</tr></thead>{rows}</table>"


def figures(found: Table) -> str:
    """Return the terminal's table as HTML. A first column without a heading names the rows."""
    headings = [Heading(str(column.header), column.justify == "left", not column.header) for column in found.columns]
    rows = zip(*(list(column.cells) for column in found.columns), strict=True)
    return table(headings, [[("", [str(cell) for cell in row]) for row in rows]])


def definitions(title: str, entries: Iterable[tuple[object, object]]) -> str:
    items = "".join(f"<dt>{escape(str(name))}</dt><dd>{escape(str(value))}</dd>"
                    for name, value in entries)
    return f"<h2>{escape(title)}</h2>\n<dl>{items}</dl>"
