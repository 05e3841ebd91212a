# SPDX-License-Identifier: GPL-2.0
"""The page of alignctl plan of several disks: from its document on standard input, or without one a check that the page can
be written.

Exit status: 0 fine, 2 usage, 3 I/O error.
"""

from __future__ import annotations

from pathlib import Path

from align_reports.command import page_of_document
from align_reports.disks import page
from align_reports.many import machine


def main(argv: list[str]) -> int:
    """Check that the page `argv[0]` can be written; with "write" behind it, write it."""
    html, *write = argv
    return page_of_document("plan", Path(html), [], bool(write), lambda found: page.render(found, machine()))
