# SPDX-License-Identifier: GPL-2.0
"""Writers that hang or are ended, and the checks after a power cut, on damaged content."""

import mmap
import os
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from rig.writers import Hung, Sqlite, Writer


def test_a_damaged_database_is_not_kept_open(tmp_path):
    """No file stays open even while its error propagates: the file system has to be unmounted then."""
    (tmp_path / "data.sqlite").write_bytes(b"damaged" * 1000)
    with pytest.raises(sqlite3.Error) as damage:
        Sqlite(1).check(tmp_path, 0, 0)
    kept = [os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.exists()]
    assert not [path for path in kept if path.startswith(str(tmp_path))], damage


class Sleeping:
    failures, signals = OSError, ()

    @staticmethod
    def work(folder, n):
        time.sleep(3600)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root sees what a process waits for in the kernel")
def test_a_writer_that_hangs_is_killed_and_is_no_damage(tmp_path):
    """Killed, so that its file system can be unmounted; and no AssertionError, which tests of torn blocks count as damage."""
    writer = Writer(Sleeping, tmp_path)
    with pytest.raises(Hung, match=r"operation 1 of process \d+ hangs.* syscall: .* stack: .*nanosleep"):
        writer.wait(0.5)
    with pytest.raises(ChildProcessError):
        writer.wait()
    assert not issubclass(Hung, AssertionError)


class Mapping:
    """Writes to a mapped page that its file has not any more, for which the kernel sends SIGBUS."""

    failures = OSError
    signals: tuple[signal.Signals, ...] = (signal.SIGBUS,)

    @staticmethod
    def work(folder, n):
        with open(folder / "mapped", "w+b") as file:
            file.truncate(mmap.PAGESIZE)
            mapped = mmap.mmap(file.fileno(), mmap.PAGESIZE)
            file.truncate(0)
            mapped[0] = 1


class Unmapping(Mapping):
    signals = ()


def test_a_mapped_file_without_its_drive_ends_a_writer_that_maps_files_and_is_no_failure(tmp_path):
    writer = Writer(Mapping, tmp_path)
    writer.wait()
    assert (writer.begun, writer.acknowledged) == (1, 0)
    with pytest.raises(AssertionError, match="SIGBUS ended the process in operation 1"):
        Writer(Unmapping, tmp_path).wait()


def test_a_writer_is_gone_after_its_block_whatever_failed_in_it(tmp_path):
    """Else it would keep its file system mounted, and the drive busy for each test that comes after."""
    with pytest.raises(KeyError), Writer(Sleeping, tmp_path) as writer:
        raise KeyError
    with pytest.raises(ChildProcessError):
        writer.wait()
