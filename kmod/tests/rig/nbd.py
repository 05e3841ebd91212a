# SPDX-License-Identifier: GPL-2.0
"""A network block device of the guest, with a server in the guest that can be killed at any moment."""

import contextlib
import errno
import fcntl
import os
import signal
import socket
import struct
import threading
from pathlib import Path

from .dm import run
from .witness import eventually

NBD_SET_SOCK, NBD_SET_BLKSIZE, NBD_DO_IT, NBD_CLEAR_SOCK, NBD_SET_SIZE_BLOCKS, NBD_DISCONNECT, NBD_SET_FLAGS = \
    (0xAB00 + number for number in (0, 1, 3, 4, 7, 8, 10))
HAS_FLAGS, SEND_FLUSH, SEND_FUA = 1, 4, 8
# Of a request.
FUA = 1
READ, WRITE, DISCONNECT, FLUSH = range(4)

# The protocol's transmission phase, a request: magic number, flags, type, cookie, offset and length; and its answer: magic
# number, error and cookie.
ASKED, ANSWER = struct.Struct(">IHH8sQI"), struct.Struct(">II8s")
ANSWERED = 0x67446698
PATH = "/dev/nbd0"


@contextlib.contextmanager
def module():
    """Load the kernel's client for the `with` block."""
    run("modprobe", "nbd", "nbds_max=1")
    eventually(Path(PATH).exists, f"nbd makes no {PATH}")
    try:
        yield
    finally:
        # The release of the last disk may take a moment.
        eventually(lambda: not run("rmmod", "nbd", ok=False).returncode, "nbd stays in use")


def received(connection, length):
    data = connection.recv(length, socket.MSG_WAITALL) if length else b""
    if len(data) < length:
        raise ConnectionError(errno.EPIPE, "the client is gone")
    return data


def _serve(connection, medium):
    """Answer the client, one request after the other, until it disconnects."""
    while True:
        _, _, what, cookie, offset, length = ASKED.unpack(received(connection, ASKED.size))
        data, error = b"", 0
        if what == READ:
            data = os.pread(medium, length, offset)
        elif what == WRITE:
            os.pwrite(medium, received(connection, length), offset)
        elif what == DISCONNECT:
            return
        elif what != FLUSH:
            error = errno.EINVAL
        connection.sendall(ANSWER.pack(ANSWERED, error, cookie) + data)


class Served:
    """A file that a server process exports and the kernel has as a disk."""

    path = PATH

    def __init__(self, file, serve=_serve, flags=0):
        self._socket, servers = socket.socketpair()
        medium = os.open(file, os.O_RDWR | os.O_CLOEXEC)
        self._server = os.fork()
        if not self._server:
            self._socket.close()
            with contextlib.suppress(BaseException):  # no code of the parent may run here
                serve(servers, medium)
            os._exit(0)
        # The socket closes with the server's process only if this process has no copy.
        servers.close()
        os.close(medium)
        self._disk = os.open(PATH, os.O_RDWR | os.O_CLOEXEC)
        for what, value in ((NBD_SET_BLKSIZE, 512), (NBD_SET_SIZE_BLOCKS, os.stat(file).st_size // 512),
                            (NBD_SET_FLAGS, HAS_FLAGS | SEND_FLUSH | flags), (NBD_SET_SOCK, self._socket.fileno())):
            fcntl.ioctl(self._disk, what, value)
        self._client = threading.Thread(target=self._do, daemon=True)
        self._client.start()
        eventually(lambda: int(Path("/sys/block/nbd0/size").read_text()), "nbd does not connect")

    def _do(self):
        """Run the client as nbd-client does; at the end of the connection, requests in flight fail."""
        with contextlib.suppress(OSError):
            fcntl.ioctl(self._disk, NBD_DO_IT)
        fcntl.ioctl(self._disk, NBD_CLEAR_SOCK)

    def kill(self):
        """Kill the server at once."""
        if self._server:
            os.kill(self._server, signal.SIGKILL)
            os.waitpid(self._server, 0)
            self._server = 0

    def close(self):
        with contextlib.suppress(OSError):
            fcntl.ioctl(self._disk, NBD_DISCONNECT)
        self._client.join(60)
        assert not self._client.is_alive(), "nbd does not release its server"
        os.close(self._disk)
        self._socket.close()
        self.kill()


@contextlib.contextmanager
def served(file, serve=_serve, flags=0):
    """Serve a file for the `with` block, by @serve(connection, descriptor of the file), with more flags of the protocol."""
    disk = Served(file, serve, flags)
    try:
        yield disk
    finally:
        disk.close()
