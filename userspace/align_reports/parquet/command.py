# SPDX-License-Identifier: GPL-2.0
"""What alignctl runs to read and to write Parquet. Exit status: 2 for wrong content, 3 if the machine fails."""

from __future__ import annotations

import ctypes
import re
import signal
import sys
from pathlib import Path

import duckdb

from align_reports import interrupt
from align_reports.document import visible
from align_reports.exit_status import FINE, IO, USAGE

from . import read as reading
from .database import reason_of
from .layout import Refused
from .write import write

PR_SET_PDEATHSIG = 1
DAMAGED = "the file is damaged; fetch it again, or write it anew"


def _end_with_parent() -> None:
    """Let the kernel end this process when alignctl has gone, which may be before a row is written."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _child(kind: str, operands: list[str]) -> int:
    """Read or write for alignctl, which repeats the last line of standard error after the name of the trace."""
    _end_with_parent()
    try:
        if kind == "read":
            interrupt.release()
            reading.read()
        else:
            rows, output = operands
            # so that its scratch files are removed
            with interrupt.allowed():
                write(Path(rows), Path(output))
    except interrupt.Interrupted as interrupted:
        print(interrupted, file=sys.stderr)
        return interrupted.status
    except Refused as refused:
        print(visible(str(refused)), file=sys.stderr)
        return USAGE
    except duckdb.OutOfMemoryException as error:
        print(visible(reason_of(error)), file=sys.stderr)
        return IO
    except duckdb.Error as error:
        text = re.sub(r""" (for file |file )?["']/dev/stdin["']""", "", reason_of(error))
        status = IO if "errno" in str(error) or kind == "write" else USAGE
        print(visible(text if status == IO else f"{text}; {DAMAGED}"), file=sys.stderr)
        return status
    except OSError as error:
        print(visible(str(error)), file=sys.stderr)
        return IO
    return FINE


def main(argv: list[str]) -> int:
    return _child(argv[0], argv[1:])
