# SPDX-License-Identifier: GPL-2.0
"""The checks after a power cut, on damaged content."""

import os
import sqlite3
from pathlib import Path

import pytest

from rig.writers import Sqlite


def test_a_damaged_database_is_not_kept_open(tmp_path):
    """No file stays open even while its error propagates: the file system has to be unmounted then."""
    (tmp_path / "data.sqlite").write_bytes(b"damaged" * 1000)
    with pytest.raises(sqlite3.Error) as damage:
        Sqlite(1).check(tmp_path, 0, 0)
    kept = [os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.exists()]
    assert not [path for path in kept if path.startswith(str(tmp_path))], damage
