# SPDX-License-Identifier: GPL-2.0
"""A disk that every test of the program may write to."""

import os

import pytest

from alignctl_program import DISK_BYTES


@pytest.fixture
def disk(tmp_path):
    """A sparse file, on a file system that can do direct I/O."""
    path = tmp_path / "disk"
    with open(path, "wb") as file:
        file.truncate(DISK_BYTES)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_DIRECT))
    except OSError:
        pytest.skip(f"the file system of {tmp_path} has no O_DIRECT")
    return path
