# SPDX-License-Identifier: GPL-2.0
"""Functions of the C library that Python lacks."""

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)


def call(what, function, *arguments):
    """Call a C function, with numbers as long, so that none is truncated. Raises OSError, with `what`, unless it returns 0."""
    arguments = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    if getattr(_libc, function)(*arguments):
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
