# SPDX-License-Identifier: GPL-2.0
"""The page of `alignctl conform`: from its document on standard input, or without one a check that the page can be written.

The rounds are alignctl's own, see verbs/conform.c. Exit status: 0 fine, 2 usage, 3 I/O error.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from align_reports.command import page_of_document
from align_reports.conform import page
from align_reports.given import member
from align_reports.many import machine


@dataclass(frozen=True, kw_only=True)
class Given:
    """The arguments, see verbs/conform.c. written: write the page; else check that it can be written"""

    device: str
    html: Path = member(Path)
    written: bool


def main(given: Given) -> int:
    return page_of_document("conform", given.html, [given.device], given.written, lambda found: page.render(found, machine()))
