# SPDX-License-Identifier: GPL-2.0
"""Common parts of commands: runs that may end early, the page."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import interrupt, report_file
from .exit_status import FINE, IO, USAGE
from .machine import Refused


def attempt(verb: str, runs: Callable[[], None]) -> tuple[str | None, int]:
    """Make runs; return why they ended early (also printed), or None, and the exit status."""
    try:
        with interrupt.allowed():
            pass  # raise a signal that arrived before
        runs()
        return None, FINE
    except Refused as error:
        stopped, status = str(error), error.status
    except OSError as error:
        stopped, status = str(error), IO
    except interrupt.Interrupted as signal:
        stopped, status = str(signal), signal.status
    print(f"alignctl {verb}: {stopped}", file=sys.stderr)
    return stopped, status


def refused(verb: str, html: Path | None, inputs: list[str]) -> bool:
    """Report if the page cannot be written, before minutes of runs in vain; return whether it cannot."""
    reason = html and report_file.refusal(html, inputs)
    if reason:
        print(f"alignctl {verb}: --html {html}: {reason}", file=sys.stderr)
    return bool(reason)


def put(verb: str, html: Path, text: str) -> int:
    """Write the page; return the exit status."""
    try:
        with interrupt.postponed():
            report_file.write(html, text)
    except OSError as error:
        print(f"alignctl {verb}: --html {html}: {error.strerror}; no page was written",
              file=sys.stderr)
        return IO
    return FINE


def page_of_document(verb: str, html: Path, inputs: list[str], written: bool, render: Callable[[Any], str]) -> int:
    """Check that a page can be written; if it is to be written, make it from the document on standard input."""
    if refused(verb, html, inputs):
        return USAGE
    if not written:
        return FINE
    found = json.loads(sys.stdin.buffer.read())
    interrupt.release()
    return put(verb, html, render(found))
