# SPDX-License-Identifier: GPL-2.0
"""What alignctl runs to read Parquet. Exit status: 2 for wrong content, 3 if the machine fails."""

from __future__ import annotations

import ctypes
import re
import signal
import sys

import duckdb

from align_reports import interrupt
from align_reports.document import visible
from align_reports.exit_status import FINE, IO, USAGE

from . import read as reading
from .database import reason_of
from .layout import Refused

PR_SET_PDEATHSIG = 1
DAMAGED = "the file is damaged; fetch it again, or write it anew"


def _end_with_parent() -> None:
    """Let the kernel kill this process when alignctl has gone, which may be before a row is written."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _child() -> int:
    """Read for alignctl, which repeats the last line of standard error after the name of the trace."""
    _end_with_parent()
    try:
        reading.read()
    except Refused as refused:
        print(visible(str(refused)), file=sys.stderr)
        return USAGE
    except duckdb.OutOfMemoryException as error:
        print(visible(reason_of(error)), file=sys.stderr)
        return IO
    except duckdb.Error as error:
        text = re.sub(r""" (for file |file )?["']/dev/stdin["']""", "", reason_of(error))
        status = IO if "errno" in str(error) else USAGE
        print(visible(text if status == IO else f"{text}; {DAMAGED}"), file=sys.stderr)
        return status
    except OSError as error:
        print(visible(str(error)), file=sys.stderr)
        return IO
    return FINE


def main(argv: list[str]) -> int:
    interrupt.release()
    return _child()
