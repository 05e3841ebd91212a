# SPDX-License-Identifier: GPL-2.0
"""A served drive for the tests: `with drive("size=16M") as d, d.connect() as c:`."""
import contextlib
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

import nbd_client
from lab.pace import Limit, patience
from lab.paths import OUT

HERE = Path(__file__).resolve().parent
PLUGIN = OUT / "bin" / "drive512e.so"


def within(seconds, condition):
    """Wait for the condition, for `seconds` of the reference machine; return whether it came true."""
    limit = Limit(seconds)
    while not condition():
        if limit.over():
            return condition()
        time.sleep(0.01)
    return True


class Drive:
    """A running server."""

    def __init__(self, folder, args):
        self.folder = folder
        self.sock = f"{folder}/nbd"
        self.control_path = f"{folder}/control"
        self.log_path = f"{folder}/log"
        self.uri = f"nbd+unix:///?socket={self.sock}"
        self.process = subprocess.Popen(
            ["nbdkit", "-f", "-U", self.sock, str(PLUGIN), f"control={self.control_path}",
             f"log={self.log_path}", *args], stderr=subprocess.PIPE, text=True)
        if not within(20, lambda: self._ended() or self._serves()) or self._ended():
            self.process.kill()
            pytest.fail(f"nbdkit did not start: {self.process.stderr.read()}")

    def _ended(self):
        return self.process.poll() is not None

    def _serves(self):
        with contextlib.suppress(OSError):
            self.connect().close()
            return self.control("ping")["ok"]

    def connect(self):
        return nbd_client.NbdClient(self.sock)

    def control(self, command):
        return nbd_client.control(self.control_path, command)

    def stats(self):
        return self.control("stats")

    def log(self):
        """Return the request log: [(seq, letter, offset, count, fua, touches)]."""
        rows = []
        for line in Path(self.log_path).read_text().splitlines():
            seq, letter, *numbers = line.split()
            rows.append((int(seq), letter, *map(int, numbers)))
        return rows

    def memory(self):
        """Return the server's peak memory in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM:"))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(patience(20))
        self.process.stderr.close()
        return status


@contextlib.contextmanager
def drive(*args):
    """Serve a drive with these parameters during the `with` block; yield the Drive."""
    if not PLUGIN.exists():
        pytest.fail(f"{PLUGIN} does not exist: run make -C userspace/drive512e OUT={OUT}")
    # A socket's path is limited to 107 bytes: too few for pytest's own folders.
    with tempfile.TemporaryDirectory(prefix="drive512e-") as folder:
        server = Drive(folder, args)
        try:
            yield server
        finally:
            if server.process.poll() is None:
                server.stop()
