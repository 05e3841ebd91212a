# SPDX-License-Identifier: GPL-2.0
"""A small NBD client for tests: fixed newstyle handshake, simple replies.

One request at a time per connection; open several for concurrency.
"""
import contextlib
import errno
import json
import os
import socket
import struct

from lab.pace import patience

NBDMAGIC = 0x4E42444D41474943
IHAVEOPT = 0x49484156454F5054
REPLY_MAGIC = 0x3E889045565A9
REQUEST = 0x25609513
SIMPLE_REPLY = 0x67446698

FLAG_FIXED_NEWSTYLE, FLAG_NO_ZEROES = 1, 2
OPT_GO = 7
REP_ACK, REP_INFO = 1, 3
INFO_EXPORT, INFO_BLOCK_SIZE = 0, 3

CMD_READ, CMD_WRITE, CMD_DISC, CMD_FLUSH, CMD_TRIM, CMD_ZERO = 0, 1, 2, 3, 4, 6
CMD_FLAG_FUA, CMD_FLAG_NO_HOLE = 1, 2

# Bits of the transmission flags that a server announces.
CAN_FLUSH, CAN_FUA, ROTATIONAL = 1 << 2, 1 << 3, 1 << 4
CAN_TRIM, CAN_ZERO, CAN_MULTI_CONN = 1 << 5, 1 << 6, 1 << 8

ERRNOS = {1: errno.EPERM, 5: errno.EIO, 12: errno.ENOMEM, 22: errno.EINVAL,
          28: errno.ENOSPC, 95: errno.EOPNOTSUPP, 108: errno.ESHUTDOWN}


class NbdClient:
    """A connection to the server on the local socket `path`.

    After the handshake: size (bytes), flags (transmission flags) and
    block_sizes (minimum, preferred, maximum; bytes).  Requests raise OSError
    with the server's errno.
    """

    def __init__(self, path, timeout=60):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(patience(timeout))
        self.sock.connect(str(path))
        self.size = self.flags = 0
        self.block_sizes = None
        self._handle = 0
        self._handshake()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def _recv(self, count):
        data = bytearray(count)
        view = memoryview(data)
        while view:
            got = self.sock.recv_into(view)
            if not got:
                raise ConnectionError("the NBD server closed the connection")
            view = view[got:]
        return bytes(data)

    def _handshake(self):
        magic, ihaveopt, flags = struct.unpack(">QQH", self._recv(18))
        if magic != NBDMAGIC or ihaveopt != IHAVEOPT or not flags & FLAG_FIXED_NEWSTYLE:
            raise ConnectionError("not a fixed newstyle NBD server")
        self.sock.sendall(struct.pack(">I", FLAG_FIXED_NEWSTYLE | FLAG_NO_ZEROES))
        # Request the default export, with its block sizes.
        option = struct.pack(">IHH", 0, 1, INFO_BLOCK_SIZE)
        self.sock.sendall(struct.pack(">QII", IHAVEOPT, OPT_GO, len(option)) + option)
        while True:
            magic, _, kind, length = struct.unpack(">QIII", self._recv(20))
            body = self._recv(length)
            if magic != REPLY_MAGIC or kind & 0x80000000:
                raise ConnectionError(f"the NBD server refused: {kind:#x} {body!r}")
            if kind == REP_ACK:
                return
            if kind != REP_INFO:
                continue
            info = struct.unpack(">H", body[:2])[0]
            if info == INFO_EXPORT:
                self.size, self.flags = struct.unpack(">QH", body[2:12])
            elif info == INFO_BLOCK_SIZE:
                self.block_sizes = struct.unpack(">III", body[2:14])

    def _request(self, command, offset, count, flags=0, data=b"", answer=0):
        self._handle += 1
        self.sock.sendall(struct.pack(">IHHQQI", REQUEST, flags, command,
                                      self._handle, offset, count) + data)
        magic, error, handle = struct.unpack(">IIQ", self._recv(16))
        if magic != SIMPLE_REPLY or handle != self._handle:
            raise ConnectionError("a reply that answers no request")
        if error:
            code = ERRNOS.get(error, errno.EIO)
            raise OSError(code, os.strerror(code))
        return self._recv(answer)

    def read(self, offset, count):
        return self._request(CMD_READ, offset, count, answer=count)

    def write(self, offset, data, fua=False):
        self._request(CMD_WRITE, offset, len(data), CMD_FLAG_FUA if fua else 0, data)

    def flush(self):
        self._request(CMD_FLUSH, 0, 0)

    def trim(self, offset, count, fua=False):
        self._request(CMD_TRIM, offset, count, CMD_FLAG_FUA if fua else 0)

    def zero(self, offset, count, fua=False):
        self._request(CMD_ZERO, offset, count,
                      CMD_FLAG_NO_HOLE | (CMD_FLAG_FUA if fua else 0))

    def close(self):
        if self.sock.fileno() < 0:
            return
        with contextlib.suppress(OSError):
            self.sock.sendall(struct.pack(">IHHQQI", REQUEST, 0, CMD_DISC, 0, 0, 0))
        self.sock.close()


def control(path, command):
    """Send one command to a drive's control socket; return its answer, decoded."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(patience(30))
        sock.connect(str(path))
        sock.sendall(command.encode() + b"\n")
        with sock.makefile() as answers:
            return json.loads(answers.readline())
