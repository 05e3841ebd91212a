# SPDX-License-Identifier: GPL-2.0
"""Processes that do not outlive the process that started them."""

import contextlib
import ctypes
import os
import signal


def die_with_parent():
    """Begin a session, and be killed when the parent ends: a preexec_fn."""
    os.setsid()
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


@contextlib.contextmanager
def killed_at_end(process):
    """Kill the process at the end of the `with` block, if it is still running."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
