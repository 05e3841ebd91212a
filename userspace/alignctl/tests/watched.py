# SPDX-License-Identifier: GPL-2.0
"""stats --interval, which meets its test before each reading of a ledger on a made-up machine."""

import os
import subprocess
from contextlib import contextmanager

from alignctl_program import ALIGNCTL, put
from lab.pace import patience

FINE = 0


class Watched:
    """The program, which meets the test before it reads a ledger: at a file that is a pipe until the test answers."""

    def __init__(self, root, align, *arguments, **environment):
        self.align = align
        self.gate = align.parent / "inflight"
        self.gate.unlink()
        os.mkfifo(self.gate)
        self.running = subprocess.Popen([ALIGNCTL, "stats", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env={**os.environ, **environment, "ALIGNCTL_SYSROOT": str(root)})

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.running.kill()
        self.running.communicate()

    @contextmanager
    def before_reading(self):
        """Waits until the ledger is about to be read, which happens afterwards."""
        with open(self.gate, "w") as gate:
            yield
            # the next reading must find another pipe than the one that it still reads now
            self.gate.unlink()
            os.mkfifo(self.gate)
            gate.write("0 0\n")

    def reading(self, **values):
        """Waits until the ledger is about to be read, and changes it."""
        with self.before_reading():
            put(self.align, **values)

    def end(self, status=FINE):
        out, err = self.running.communicate(timeout=patience(20))
        assert self.running.returncode == status, err
        return out, err
