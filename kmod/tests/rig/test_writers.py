# SPDX-License-Identifier: GPL-2.0
"""Writers that hang, and the checks after a power cut, on damaged content."""

import os
import sqlite3
import time
from pathlib import Path

import pytest

from rig.writers import Hung, Sqlite, Writer


def kept_open(folder):
    paths = [os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.exists()]
    return [path for path in paths if path.startswith(str(folder))]


def test_a_damaged_database_is_not_kept_open(tmp_path):
    """No file stays open even while its error propagates: the file system has to be unmounted then."""
    (tmp_path / "data.sqlite").write_bytes(b"damaged" * 1000)
    with pytest.raises(sqlite3.Error) as damage:
        Sqlite(1).check(tmp_path, 0, 0)
    assert not kept_open(tmp_path), damage


def test_a_database_that_cannot_be_set_up_is_not_kept_open(tmp_path):
    """A set-up that fails halfway: on a drive that tears, a block that cannot be read."""
    workload = Sqlite(1)
    workload.ACCOUNTS = None
    with pytest.raises(TypeError) as damage:
        workload.setup(tmp_path / "folder")
    assert not kept_open(tmp_path), damage


class Sleeping:
    failures = OSError

    @staticmethod
    def work(folder, n):
        time.sleep(3600)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root sees what a process waits for in the kernel")
def test_a_writer_that_hangs_is_killed_and_is_no_damage(tmp_path):
    """The process is killed, so that its file system can be unmounted; and no AssertionError, which tests of torn blocks count as
    damage."""
    writer = Writer(Sleeping, tmp_path)
    with pytest.raises(Hung, match=r"operation 1 of process \d+ hangs.* syscall: .* stack: .*nanosleep"):
        writer.wait(0.5)
    with pytest.raises(ChildProcessError):
        writer.wait()
    assert not issubclass(Hung, AssertionError)


def test_a_writer_is_gone_after_its_block_whatever_failed_in_it(tmp_path):
    """Else the writer would keep its file system mounted, and the drive busy for each test that comes after."""
    with pytest.raises(KeyError), Writer(Sleeping, tmp_path) as writer:
        raise KeyError
    with pytest.raises(ChildProcessError):
        writer.wait()
