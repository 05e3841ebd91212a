# SPDX-License-Identifier: GPL-2.0
"""Emulated drives on the host: an nbdkit server for each, with control socket and request log.

    with drives.serve({"d0": Server(size="256M", physical=4096)}, folder) as served:
        served["d0"].control("stats")      the drive's own counters, as a dict
        vm.run(..., drives=[served["d0"].attached()])
"""

import contextlib
import dataclasses
import json
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from .. import pace
from ..paths import OUT, fail
from ..processes import die_with_parent
from .vm import Drive

PLUGIN = OUT / "bin" / "drive512e.so"


@dataclasses.dataclass(frozen=True)
class Server:
    """The parameters of a drive: its nbdkit server, and its presentation by QEMU.

    size, physical, alignment, cache, profile, options   arguments of drive512e (see its manual page); options holds
                          further name=value pairs, in which {folder} stands for the folder of the logs
    filters, filter_options   nbdkit filters in front of the plugin, and their name=value pairs
    presented             options of vm.Drive, where they differ from the drive's own physical block size on
                          virtio-blk: {"physical": 512, "queue_size": 128, "bus": "scsi", ...}
    stretched             the slowness (pace.py) by which the drive's delays were multiplied, if any; a test of the
                          drive scales its delays in the same ratio
    """
    size: str = "256M"
    physical: int = 4096
    alignment: int = 0
    cache: str = "on"
    profile: str = "instant"
    options: tuple = ()
    filters: tuple = ()
    filter_options: tuple = ()
    presented: dict = dataclasses.field(default_factory=dict)
    stretched: float | None = None


def ask(control_socket, command, timeout=10):
    """Send a command to a drive's control socket; return the answer, empty if it gave none."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(pace.patience(timeout))
        connection.connect(str(control_socket))
        connection.sendall(command.encode() + b"\n")
        return connection.makefile().readline()


class Served:
    """A running drive."""

    def __init__(self, name, server, sockets, folder):
        self.name, self.server = name, server
        self.socket = f"{sockets}/{name}"
        self.control_socket = f"{sockets}/{name}.control"
        self.log_file = Path(folder) / f"{name}.log"
        self.errors = Path(folder) / f"{name}.nbdkit"

    def command(self):
        server = self.server
        return ["nbdkit", "-f", "-U", self.socket, *(f"--filter={name}" for name in server.filters), str(PLUGIN),
                f"size={server.size}", f"physical={server.physical}", f"alignment={server.alignment}",
                f"cache={server.cache}", f"profile={server.profile}", f"control={self.control_socket}",
                f"log={self.log_file}", *(option.format(folder=self.log_file.parent) for option in server.options),
                *server.filter_options]

    def control(self, command, timeout=10):
        """Send a command to the control socket; return the answer as a dict."""
        answer = ask(self.control_socket, command, timeout)
        if not answer:
            raise ConnectionError(f"drive {self.name} gave no answer to {command!r}; see {self.errors}")
        return json.loads(answer)

    def attached(self):
        """Return the drive as an argument of vm.run()."""
        presented = {"physical": self.server.physical, "write_cache": self.server.cache, **self.server.presented}
        return Drive(self.socket, **presented)


@contextlib.contextmanager
def serve(servers, folder):
    """Run the drives {name: Server}; yield {name: Served}; logs lie in `folder`."""
    if not PLUGIN.exists():
        fail(f"{PLUGIN} does not exist: make -C userspace/drive512e OUT={OUT} all")
    Path(folder).mkdir(parents=True, exist_ok=True)
    sockets = tempfile.mkdtemp(prefix="dm-align-")  # a socket's path has room for 107 bytes only
    served, running = {}, []
    try:
        for name, server in servers.items():
            drive = Served(name, server, sockets, folder)
            with open(drive.errors, "w") as errors:
                running.append(subprocess.Popen(drive.command(), stdin=subprocess.DEVNULL, stdout=errors, stderr=errors,
                                                preexec_fn=die_with_parent))
            served[name] = drive
        for drive, process in zip(served.values(), running):
            _await(drive, process)
        yield served
    finally:
        for process in running:
            process.terminate()
        for process in running:
            try:
                process.wait(pace.patience(10))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(sockets, ignore_errors=True)


def _await(drive, process):
    limit = pace.Limit(20)
    while True:
        if process.poll() is not None:
            raise RuntimeError(f"drive {drive.name} did not start: {drive.errors.read_text().strip()}")
        with contextlib.suppress(OSError):
            if Path(drive.socket).exists() and drive.control("ping").get("ok"):
                return
        if limit.over():
            raise RuntimeError(f"drive {drive.name} gives no answer on {drive.control_socket}; see {drive.errors}")
        time.sleep(0.05)
