# SPDX-License-Identifier: GPL-2.0
"""The page of `alignctl conform`: from its document on standard input, or without one a check that the page can be written.

The rounds are alignctl's own, see verbs/conform.c. Exit status: 0 fine, 2 usage, 3 I/O error.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from align_reports import interrupt
from align_reports.command import put, refused
from align_reports.conform import page
from align_reports.exit_status import FINE, USAGE
from align_reports.many import machine


def main(argv: list[str]) -> int:
    """Check that the page `argv[1]` about the device `argv[0]` can be written; with "write" behind them, write it."""
    device, html, *write = argv
    if refused("conform", Path(html), [device]):
        return USAGE
    if not write:
        return FINE
    found = json.load(sys.stdin)
    interrupt.release()
    return put("conform", Path(html), page.render(found, machine()))
