# SPDX-License-Identifier: GPL-2.0
"""The page of `alignctl conform`: from its document on standard input, or without one a check that the page can be written.

The rounds are alignctl's own, see verbs/conform.c. Exit status: 0 fine, 2 usage, 3 I/O error.
"""

from __future__ import annotations

from pathlib import Path

from align_reports.command import page_of_document
from align_reports.conform import page
from align_reports.many import machine


def main(argv: list[str]) -> int:
    """Check that the page `argv[1]` about the device `argv[0]` can be written; with "write" behind them, write it."""
    device, html, *write = argv
    return page_of_document("conform", Path(html), [device], bool(write), lambda found: page.render(found, machine()))
