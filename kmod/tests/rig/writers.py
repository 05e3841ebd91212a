# SPDX-License-Identifier: GPL-2.0
"""Processes that write files until the power goes, and checks afterwards that acknowledged operations are there.

A workload has four parts, all for the same folder:

    setup(folder)       create the folder with its files; on stable media at its return
    work(folder, n)     do operation n, in the writer's process; on stable media at its return
    check(folder, acknowledged, begun)   fail unless the folder has the result of these operations: all acknowledged ones,
                        and perhaps the one begun after them
    failures            exceptions that work() may raise when the power is off
"""

import contextlib
import itertools
import mmap
import os
import random
import signal
import sqlite3
import struct
import time
import traceback
from pathlib import Path

from lab.pace import Limit


class Hung(RuntimeError):
    """A writer's operation does not end."""


SIZES = [100, 512, 3000, 4096, 9000, 70000]


class Writer:
    """
    A process that does work(0), work(1), ... until one fails or stop() is called; as a context manager it is killed at the
    end if it is still there, so that its file system can be unmounted after any failure.
    """

    BEGUN, ACKNOWLEDGED, STOP = 0, 8, 16

    def __init__(self, workload, folder):
        self._shared = mmap.mmap(-1, mmap.PAGESIZE)
        self._ended = False
        self._pid = os.fork()
        if self._pid:
            return
        status = 1
        try:
            self._do(workload, folder)
            status = 0
        except BaseException:  # no code of the parent may run here
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(status)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if not self._ended:
            self._kill()

    def _do(self, workload, folder):
        for n in itertools.count():
            if self._get(self.STOP):
                return
            self._set(self.BEGUN, n + 1)
            try:
                workload.work(folder, n)
                if folder:
                    lives(folder)
            except workload.failures:
                return
            self._set(self.ACKNOWLEDGED, n + 1)

    def _get(self, at):
        return struct.unpack_from("Q", self._shared, at)[0]

    def _set(self, at, value):
        struct.pack_into("Q", self._shared, at, value)

    begun = property(lambda self: self._get(self.BEGUN))
    acknowledged = property(lambda self: self._get(self.ACKNOWLEDGED))

    def stop(self):
        self._set(self.STOP, 1)
        self.wait()

    def wait(self, timeout=60):
        """
        Wait until the process has ended by itself; fail unless it succeeded. After `timeout` kill it and raise Hung, which
        is no damage that a power cut may do, and so no AssertionError.
        """
        limit = Limit(timeout)
        while True:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                self._ended = True
                break
            if limit.over():
                where = self._where()
                self._kill()
                raise Hung(f"operation {self.begun} of process {self._pid} hangs for {limit}: {where}")
            time.sleep(0.01)
        assert status == 0, f"operation {self.begun} failed, see standard error (status {status})"

    def _kill(self):
        """Kill the process, and wait for it, but not for one that the kernel does not let go."""
        os.kill(self._pid, signal.SIGKILL)
        limit = Limit(10)
        while not limit.over() and not self._ended:
            self._ended = bool(os.waitpid(self._pid, os.WNOHANG)[0])
            time.sleep(0.01)

    def _where(self):
        """Say where the process waits."""
        folder = Path("/proc", str(self._pid))
        return "; ".join(f"{name}: {' '.join((folder / name).read_text().split())}" for name in ("stat", "syscall", "stack"))


def lives(folder):
    """
    Raise OSError if the file system has given up its journal.

    Before, an fsync may have succeeded that has lost its change: when the commit failed that had the change of this process
    and that of another one's fsync, ext4 and XFS tell only the other one (jbd2_complete_transaction(), as the transaction is
    gone; xfs_log_force_inode(), as the inode has no commit to wait for any more; Linux 6.1 to 7.2). Both give up the
    journal before they let go of the commit, so a change that comes after such an fsync fails.
    """
    # Not a change of attributes, whose errors ext4 keeps to itself.
    (folder / "lives").touch()
    (folder / "lives").unlink()


def sync(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class Files:
    """Appends to logs, replacements of whole files, and overwrites in place; in addition writes without a sync."""

    failures = OSError
    LOGS, REPLACED, SLOTS, SLOT = 3, 8, 64, 3000

    def __init__(self, seed):
        self.seed = seed

    def setup(self, folder):
        folder.mkdir()
        for log in range(self.LOGS):
            self._write(folder / f"log{log}", os.O_CREAT, b"", 0)
        self._write(folder / "table", os.O_CREAT, bytes(self.SLOTS * self.SLOT), 0)
        sync(folder)
        sync(folder.parent)

    def _operation(self, n):
        """Return operation n: (name, offset in the file or None for a replacement, data)."""
        choose = random.Random(f"{self.seed}/{n}")
        kind = choose.randrange(3)
        if kind == 0:
            return f"log{choose.randrange(self.LOGS)}", -1, choose.randbytes(choose.choice(SIZES))
        if kind == 1:
            return f"whole{choose.randrange(self.REPLACED)}", None, choose.randbytes(choose.choice(SIZES))
        return "table", choose.randrange(self.SLOTS) * self.SLOT, choose.randbytes(self.SLOT)

    @staticmethod
    def _write(path, flags, data, offset):
        fd = os.open(path, os.O_WRONLY | flags, 0o600)
        try:
            # A negative offset appends to a log.
            done = os.write(fd, data) if offset < 0 else os.pwrite(fd, data, offset)
            if done != len(data):
                raise OSError(5, f"{path}: wrote {done} of {len(data)} bytes")
            os.fsync(fd)
        finally:
            os.close(fd)

    def work(self, folder, n):
        if n % 4 == 0:
            with open(folder / f"junk{n % 5}", "wb") as junk:
                junk.write(bytes(20000 + n % 5000))
        name, offset, data = self._operation(n)
        if offset is None:
            self._write(folder / "new", os.O_CREAT | os.O_TRUNC, data, 0)
            os.rename(folder / "new", folder / name)
            sync(folder)
        else:
            self._write(folder / name, os.O_APPEND if offset < 0 else 0, data, offset)

    def check(self, folder, acknowledged, begun):
        logs = {f"log{log}": b"" for log in range(self.LOGS)}
        whole, table = {}, bytearray(self.SLOTS * self.SLOT)
        for n in range(acknowledged):
            name, offset, data = self._operation(n)
            if offset is None:
                whole[name] = data
            elif offset < 0:
                logs[name] += data
            else:
                table[offset:offset + len(data)] = data
        name, offset, data = self._operation(acknowledged) if begun > acknowledged else (None, 0, b"")
        for log, want in logs.items():
            more = len(data) if log == name else 0
            got = (folder / log).read_bytes()
            assert got[:len(want)] == want, f"{log}: acknowledged bytes changed, of {len(want)}; it has {len(got)}"
            assert len(got) <= len(want) + more, f"{log}: {len(got)} bytes, no more were written than {len(want) + more}"
        for file, want in whole.items():
            lawful = [want, data] if file == name else [want]
            assert (folder / file).read_bytes() in lawful, f"{file}: neither its acknowledged content nor a newer one"
        got = (folder / "table").read_bytes()
        assert len(got) == len(table), f"table has {len(got)} bytes, not {len(table)}"
        for slot in range(0, len(table), self.SLOT):
            old, now = table[slot:slot + self.SLOT], got[slot:slot + self.SLOT]
            # A long overwrite need not be atomic: each byte is old or new.
            new = data if (name, offset) == ("table", slot) else old
            assert now == old or all(byte in lawful for byte, *lawful in zip(now, old, new)), \
                f"table: slot {slot // self.SLOT} holds content never written there, or not what was acknowledged"


class Sqlite:
    """Transactions in a database in WAL mode with synchronous=FULL: transfers between accounts, with a row for each."""

    failures = (sqlite3.Error, OSError)
    ACCOUNTS = 200

    def __init__(self, seed):
        self.seed = seed
        self._connection = None

    def _connect(self, folder):
        connection = sqlite3.connect(folder / "data.sqlite", isolation_level=None)
        try:
            for pragma in ("journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=60"):
                connection.execute(f"PRAGMA {pragma}")
        except sqlite3.Error:
            # An open file of a damaged database would keep its file system mounted.
            connection.close()
            raise
        return connection

    def setup(self, folder):
        folder.mkdir()
        with contextlib.closing(self._connect(folder)) as connection:
            connection.executescript("""
                BEGIN;
                CREATE TABLE account (number INTEGER PRIMARY KEY, amount INTEGER);
                CREATE TABLE done (n INTEGER PRIMARY KEY, note BLOB);
                CREATE INDEX note ON done (note);
                COMMIT;""")
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO account VALUES (?, 0)", ((number,) for number in range(self.ACCOUNTS)))
            connection.execute("COMMIT")
        sync(folder)
        sync(folder.parent)

    def _transaction(self, n):
        """Return transaction n: (transfers (from, to, amount), note)."""
        choose = random.Random(f"{self.seed}/{n}")
        transfers = [(*choose.sample(range(self.ACCOUNTS), 2), choose.randrange(1, 1000))
                     for _ in range(choose.randrange(1, 6))]
        return transfers, choose.randbytes(choose.choice([20, 300, 3000]))

    def work(self, folder, n):
        # SQLite's connections must not cross a fork: the writer's process opens its own.
        self._connection = self._connection or self._connect(folder)
        transfers, note = self._transaction(n)
        self._connection.execute("BEGIN IMMEDIATE")
        for source, target, amount in transfers:
            self._connection.execute("UPDATE account SET amount = amount - ? WHERE number = ?", (amount, source))
            self._connection.execute("UPDATE account SET amount = amount + ? WHERE number = ?", (amount, target))
        self._connection.execute("INSERT INTO done VALUES (?, ?)", (n, note))
        self._connection.execute("COMMIT")

    def check(self, folder, acknowledged, begun):
        connection = self._connect(folder)
        try:
            [[said]] = connection.execute("PRAGMA integrity_check").fetchall()
            assert said == "ok", f"integrity_check: {said}"
            done = connection.execute("SELECT n, note FROM done ORDER BY n").fetchall()
            accounts = dict(connection.execute("SELECT number, amount FROM account"))
        finally:
            connection.close()
        assert acknowledged <= len(done) <= begun, \
            f"{len(done)} transactions are there; {acknowledged} were acknowledged, {begun} begun"
        want = dict.fromkeys(range(self.ACCOUNTS), 0)
        for n, row in enumerate(done):
            transfers, note = self._transaction(n)
            assert row == (n, note), f"transaction {n} is not what it was"
            for source, target, amount in transfers:
                want[source] -= amount
                want[target] += amount
        assert accounts == want, "the accounts are not what the transactions made of them"
