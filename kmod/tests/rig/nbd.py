# SPDX-License-Identifier: GPL-2.0
"""A network block device of the guest, with its server in the guest, that can be killed at any moment."""

import contextlib
import fcntl
import os
import socket
import struct
import subprocess
import tempfile
import threading
from pathlib import Path

from .dm import run
from .witness import eventually

NBD_SET_SOCK, NBD_SET_BLKSIZE, NBD_DO_IT, NBD_CLEAR_SOCK, NBD_SET_SIZE_BLOCKS, NBD_DISCONNECT, NBD_SET_TIMEOUT, \
    NBD_SET_FLAGS = (0xAB00 + number for number in (0, 1, 3, 4, 7, 8, 9, 10))

# The handshake: two magic numbers and flags from the server; ours, with the option NBD_OPT_EXPORT_NAME for the export
# without a name; its size and flags.
GREETING = struct.Struct(">8s8sH")
ANSWER = struct.pack(">I8sII", 3, b"IHAVEOPT", 1, 0)
EXPORT = struct.Struct(">QH")
PATH = "/dev/nbd0"


@contextlib.contextmanager
def module():
    """The client in the kernel."""
    run("modprobe", "nbd", "nbds_max=1")
    eventually(Path(PATH).exists, f"nbd makes no {PATH}")
    try:
        yield
    finally:
        # The last disk may still be let go of.
        eventually(lambda: not run("rmmod", "nbd", ok=False).returncode, "nbd stays in use")


class Served:
    """A file that a server offers and the kernel has as a disk."""

    path = PATH

    def __init__(self, file, folder):
        where = f"{folder}/socket"
        self._server = subprocess.Popen(["nbdkit", "-f", "-U", where, "file", file], stdin=subprocess.DEVNULL)
        self._socket = socket.socket(socket.AF_UNIX)
        # Its socket is there a moment before it listens.
        eventually(lambda: self._socket.connect_ex(where) == 0, "nbdkit does not listen", 60)
        self._read(GREETING)
        self._socket.sendall(ANSWER)
        size, flags = self._read(EXPORT)
        self._disk = os.open(PATH, os.O_RDWR | os.O_CLOEXEC)
        # Without a timeout, of a second here, the kernel lets what was in flight wait for a dead server for ever.
        for what, value in ((NBD_SET_BLKSIZE, 512), (NBD_SET_SIZE_BLOCKS, size // 512), (NBD_SET_TIMEOUT, 1),
                            (NBD_SET_FLAGS, flags), (NBD_SET_SOCK, self._socket.fileno())):
            fcntl.ioctl(self._disk, what, value)
        # It returns when the connection is over.
        self._client = threading.Thread(target=self._do, daemon=True)
        self._client.start()
        eventually(lambda: int(Path("/sys/block/nbd0/size").read_text()), "nbd does not connect")

    def _read(self, layout):
        said = self._socket.recv(layout.size, socket.MSG_WAITALL)
        if len(said) < layout.size:
            raise ConnectionError(f"nbdkit has said {said!r} and no more")
        return layout.unpack(said)

    def _do(self):
        with contextlib.suppress(OSError):
            fcntl.ioctl(self._disk, NBD_DO_IT)

    def kill(self):
        """At once, whatever it is doing."""
        self._server.kill()
        self._server.wait()

    def close(self):
        with contextlib.suppress(OSError):
            fcntl.ioctl(self._disk, NBD_DISCONNECT)
        self._client.join(60)
        assert not self._client.is_alive(), "nbd does not let go of its server"
        fcntl.ioctl(self._disk, NBD_CLEAR_SOCK)
        os.close(self._disk)
        self._socket.close()
        self.kill()


@contextlib.contextmanager
def served(file):
    with tempfile.TemporaryDirectory() as folder:
        disk = Served(file, folder)
        try:
            yield disk
        finally:
            disk.close()
