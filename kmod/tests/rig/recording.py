# SPDX-License-Identifier: GPL-2.0
"""alignctl record of a device."""

import contextlib
import csv
import json
import signal
import subprocess
import time
from pathlib import Path

from lab.pace import patience
from lab.paths import OUT

from .witness import TRACING, Request, eventually

ALIGNCTL = OUT / "bin" / "alignctl"
FINE = 0
INSTANCES = TRACING / "instances"
EVENT = Path("events/block/block_bio_queue")
OPS = {"read": "R", "write": "W", "flush": "F", "discard": "D", "write-zeroes": "Z"}


class Recording:
    """alignctl record of a device, with its summary and its requests after the end."""

    def __init__(self, device, folder, *options, command=()):
        self.path = Path(folder, f"{time.monotonic_ns()}.csv")
        words = [ALIGNCTL, "record", device, "--output", self.path, "--format", "csv", "--json", *options]
        if command:
            words += ["--", *command]
        self.process = subprocess.Popen([str(word) for word in words], text=True, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.instance = INSTANCES / f"alignctl-{self.process.pid}"

    def __enter__(self):
        def records():
            with contextlib.suppress(OSError):
                return (self.instance / EVENT / "enable").read_text() == "1\n"
            assert self.process.poll() is None, self.process.communicate()[1]
        eventually(records, "alignctl record does not begin")
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.end()

    def end(self, *statuses):
        """Wait for the end, with one of these statuses, or else FINE."""
        if not hasattr(self, "rows"):
            said, self.errors = self.process.communicate(timeout=patience(100))
            assert self.process.returncode in (statuses or (FINE,)), f"{self.process.returncode}: {said}{self.errors}"
            self.summary = json.loads(said[said.index("{\n"):])
            with open(self.path, newline="") as file:
                self.rows = list(csv.DictReader(file))
        return self

    @property
    def requests(self):
        return [Request(OPS[row["op"]], int(row["offset"]) // 512, int(row["bytes"]) // 512) for row in self.rows]

    def of(self, *ops):
        return [request for request in self.requests if request.op in ops]
