# SPDX-License-Identifier: GPL-2.0
"""A PostgreSQL with its data in a given folder, pgbench as its load, and a table of acknowledged lines."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from lab.pace import patience

from .dm import run
from .witness import eventually

# Debian has a folder for each version.
FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
CLIENTS = 4
# pgbench alternates its own script with this one, which adds a line with the client's own number.
ACKNOWLEDGED = r"""\set n :n + 1
BEGIN;
INSERT INTO acknowledged VALUES (:cut, :client_id, :n, repeat(md5(:n::text), 1 + :n % 40));
COMMIT;
"""


class Postgres:
    """The cluster below `folder`, all of its files there, except a socket and logs in memory."""

    def __init__(self, folder):
        self._data = folder / "data"
        self._bin = FOLDERS[-1].parent
        self._run = Path(tempfile.mkdtemp(prefix="postgres-", dir="/run"))
        shutil.chown(self._run, "postgres", "postgres")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """End the server, in any state."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            os.kill(int((self._data / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)
        eventually(lambda: not self._processes(), "the server does not end", 60)
        shutil.rmtree(self._run)

    @staticmethod
    def _processes():
        found = []
        for process in Path("/proc").glob("[0-9]*/comm"):
            with contextlib.suppress(OSError):  # the process may just end
                found += [process.parent.name] if process.read_text() == "postgres\n" else []
        return found

    def _command(self, name, *arguments):
        """Return a command that runs a program as another user, as the server refuses to run as root."""
        return [str(word) for word in ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups",
                                       self._bin / name, *arguments)]

    def _do(self, name, *arguments, timeout=600):
        return run(*self._command(name, *arguments), timeout=timeout).stdout

    def ask(self, text):
        """Return the rows of a query, each a list of words."""
        said = self._do("psql", "-h", self._run, "-X", "-A", "-t", "-F", " ", "-v", "ON_ERROR_STOP=1", "-c", text,
                        "postgres")
        return [line.split() for line in said.splitlines()]

    def make(self):
        """Create the cluster, with checksums to detect torn pages, and small enough for checkpoints under load."""
        self._data.mkdir()
        shutil.chown(self._data, "postgres", "postgres")
        self._do("initdb", "-D", self._data, "-k", "--no-sync", "--no-locale", "-E", "UTF8", "-A", "trust",
                 "--wal-segsize=1")
        with open(self._data / "postgresql.conf", "a") as settings:
            settings.write("listen_addresses = ''\nfsync = on\nfull_page_writes = on\nsynchronous_commit = on\n"
                           "checkpoint_timeout = 30s\nmax_wal_size = 8MB\nmin_wal_size = 2MB\nshared_buffers = 8MB\n"
                           f"unix_socket_directories = '{self._run}'\nrestart_after_crash = off\n"
                           "autovacuum_naptime = 5s\n")
        run("sync")
        self.start()
        self._do("pgbench", "-h", self._run, "-i", "-q", "-s", 1, "postgres")
        self.ask("CREATE TABLE acknowledged (cut int, client int, n int, note text, PRIMARY KEY (cut, client, n))")

    def start(self):
        """Start the server, which replays its log, and wait until it is ready."""
        self._do("pg_ctl", "start", "-w", "-s", "-t", round(patience(300)), "-D", self._data, "-l", self._run / "log",
                 "-o", f"-k {self._run}")

    def stop(self):
        self._do("pg_ctl", "stop", "-w", "-s", "-m", "fast", "-D", self._data)

    def load(self, cut):
        """Start pgbench, which runs until the server fails; return its Load."""
        return Load(self._command("pgbench", "-h", self._run, "-n", "-c", CLIENTS, "-j", 2, "-T", 3600, "-D", "n=0",
                                  "-D", f"cut={cut}", "-l", "--log-prefix", self._run / "pgbench", "-b", "tpcb-like",
                                  "-f", self._script(), "postgres"), self._run)

    def _script(self):
        script = self._run / "acknowledged.sql"
        script.write_text(ACKNOWLEDGED)
        return script

    def check(self, acknowledged):
        """Fail on a missing or inconsistent row. `acknowledged`: {(cut, client): number of the last acknowledged line}."""
        self._do("pg_amcheck", "-h", self._run, "--install-missing", "--heapallindexed", "-d", "postgres")
        there = {(int(cut), int(client)): (int(count), int(last)) for cut, client, count, last in
                 self.ask("SELECT cut, client, count(*), max(n) FROM acknowledged "
                          "WHERE note = repeat(md5(n::text), 1 + n % 40) GROUP BY 1, 2")}
        for who, last in acknowledged.items():
            count, newest = there.get(who, (0, 0))
            assert count == newest, f"client {who}: {count} lines, the last is number {newest}"
            assert last <= newest <= last + 1, f"client {who}: line {newest} is the last, {last} is acknowledged"
        [[accounts, branches, tellers, history]] = self.ask(
            "SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(bbalance) FROM pgbench_branches), "
            "(SELECT sum(tbalance) FROM pgbench_tellers), (SELECT coalesce(sum(delta), 0) FROM pgbench_history)")
        assert accounts == branches == tellers == history, f"balances: {accounts}, {branches}, {tellers}, {history}"


class Load:
    """A running pgbench."""

    def __init__(self, command, folder):
        self._folder = folder
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait(self, timeout=300):
        """Wait until the server is gone; return {client: number of its acknowledged lines}."""
        self._process.wait(patience(timeout))
        counts = dict.fromkeys(range(CLIENTS), 0)
        for log in self._folder.glob("pgbench.*"):
            for line in log.read_text().splitlines():
                client, _, _, script, *_ = line.split()
                if script == "1":
                    counts[int(client)] += 1
        return counts
