# SPDX-License-Identifier: GPL-2.0
"""Single O_DIRECT requests with exact start, length, and offset of the data in its page."""

import contextlib
import ctypes
import fcntl
import mmap
import os
import struct
import threading
import time

from lab.pace import Limit, scaled

SECTOR = 512
PAGE = 4096

RWF_DSYNC = 2
RWF_NOWAIT = 8

BLKDISCARD = 0x1277
BLKZEROOUT = 0x127F
BLKFLSBUF = 0x1261

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


# The rest of a sector of pattern(), by its first byte.
_RESTS = [bytes((first + i) & 255 or 1 for i in range(16)) * 31 for first in range(256)]
_HEAD = struct.Struct("<QQ")


def pattern(tag, sector, sectors):
    """Return content in which every sector differs: (tag, own address), and bytes derived from both."""
    return b"".join([piece for at in range(sector, sector + sectors)
                     for piece in (_HEAD.pack(tag, at), _RESTS[tag * 131 + at * 7 & 255])])


class Buffer:
    """Memory that starts `skew` bytes into a page."""

    def __init__(self, size, skew=0):
        self._map = mmap.mmap(-1, (skew + size + PAGE - 1) // PAGE * PAGE)
        self.view = memoryview(self._map)[skew:skew + size]

    def fill(self, data):
        self.view[:] = data
        return self

    def close(self):
        self.view.release()
        self._map.close()


class Disk:
    """A block device opened with O_DIRECT; sectors of 512 bytes throughout. An error raises OSError."""

    def __init__(self, path, flags=os.O_RDWR):
        self.path = path
        self.fd = os.open(path, flags | os.O_DIRECT | os.O_CLOEXEC)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)

    @property
    def sectors(self):
        return os.lseek(self.fd, 0, os.SEEK_END) // SECTOR

    def write(self, sector, data, skew=0, flags=0):
        """Make one write of `data`, from a buffer `skew` bytes into its page."""
        with contextlib.closing(Buffer(len(data), skew)) as buffer:
            buffer.fill(data)
            self.write_from(sector, [buffer.view], flags)

    def write_from(self, sector, views, flags=0):
        """Make one write from the pieces of memory `views`."""
        want = sum(len(view) for view in views)
        done = os.pwritev(self.fd, views, sector * SECTOR, flags)
        if done != want:
            raise OSError(5, f"{self.path}: wrote {done} of {want} bytes at sector {sector}")

    def read(self, sector, sectors, flags=0):
        with contextlib.closing(Buffer(sectors * SECTOR)) as buffer:
            done = os.preadv(self.fd, [buffer.view], sector * SECTOR, flags)
            if done != sectors * SECTOR:
                raise OSError(5, f"{self.path}: read {done} of {sectors * SECTOR} bytes at sector {sector}")
            return bytes(buffer.view)

    def flush(self):
        os.fdatasync(self.fd)

    def discard(self, sector, sectors):
        fcntl.ioctl(self.fd, BLKDISCARD, struct.pack("QQ", sector * SECTOR, sectors * SECTOR))

    def zero(self, sector, sectors):
        fcntl.ioctl(self.fd, BLKZEROOUT, struct.pack("QQ", sector * SECTOR, sectors * SECTOR))


class Later:
    """
    A call in its own thread, `after` scaled seconds, from where the call `behind` has begun, if given: on a busy machine a
    thread may start late. `result()` waits for the call and raises its exception. Times are time.monotonic().
    """

    def __init__(self, call, *args, after=0.0, behind=None, **kwargs):
        self.began = self.ended = None
        self._error = self._value = None
        self._begun = threading.Event()

        def run():
            if behind:
                behind._begun.wait()
            time.sleep(scaled(after))
            self.began = time.monotonic()
            self._begun.set()
            try:
                self._value = call(*args, **kwargs)
            except Exception as error:  # raised again by result()
                self._error = error
            self.ended = time.monotonic()

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def done(self):
        return self.ended is not None

    def wait(self, timeout=60):
        limit = Limit(timeout)
        while self._thread.is_alive() and not limit.over():
            self._thread.join(max(limit.left(), 0.1))
        if self._thread.is_alive():
            raise TimeoutError(f"a request has not ended after {limit}")
        return self

    @property
    def error(self):
        self.wait()
        return self._error

    def result(self, timeout=60):
        self.wait(timeout)
        if self._error:
            raise self._error
        return self._value


class Together:
    """
    Requests to a disk, submitted by one system call, each as soon as the one before is mapped: (sector, data) is a write,
    (sector, sectors) a read. The memory of each begins its page; `in_step`, it lies in its page as the sectors on the disk.
    """

    SETUP, DESTROY, GETEVENTS, SUBMIT = 206, 207, 208, 209		# of x86_64
    CONTROL = struct.Struct("=QIiHhIQQqQII")
    EVENT = struct.Struct("=QQqq")
    PREAD, PWRITE = 0, 1

    def __init__(self, disk, requests, in_step=False):
        skews = [sector * SECTOR % PAGE if in_step else 0 for sector, _ in requests]
        self._buffers = [Buffer(what * SECTOR, skew) if isinstance(what, int) else Buffer(len(what), skew).fill(what)
                         for (_, what), skew in zip(requests, skews, strict=True)]
        self._controls = [ctypes.create_string_buffer(self.CONTROL.pack(
            number, 0, 0, self.PREAD if isinstance(what, int) else self.PWRITE, 0, disk.fd,
            ctypes.addressof(ctypes.c_char.from_buffer(buffer.view)), len(buffer.view), sector * SECTOR, 0, 0, 0))
            for number, ((sector, what), buffer) in enumerate(zip(requests, self._buffers, strict=True))]
        self._context = ctypes.c_ulong()
        self._syscall(self.SETUP, len(requests), ctypes.byref(self._context))
        pointers = (ctypes.c_void_p * len(requests))(*map(ctypes.addressof, self._controls))
        assert self._syscall(self.SUBMIT, self._context, len(requests), pointers) == len(requests)

    @staticmethod
    def _syscall(number, *arguments):
        done = _libc.syscall(number, *arguments)
        if done < 0:
            raise OSError(ctypes.get_errno(), f"system call {number}: {os.strerror(ctypes.get_errno())}")
        return done

    def results(self):
        """Wait for all requests; return 0 or the error number of each."""
        count = len(self._buffers)
        events = ctypes.create_string_buffer(count * self.EVENT.size)
        assert self._syscall(self.GETEVENTS, self._context, count, count, events, None) == count
        self._syscall(self.DESTROY, self._context)
        told = {number: -min(result, 0) for number, _, result, _ in self.EVENT.iter_unpack(events.raw)}
        return [told[number] for number in range(count)]

    def contents(self):
        """Return the content of each request's memory: behind results(), the data that a read has read."""
        return [bytes(buffer.view) for buffer in self._buffers]


def flush_fails(disk):
    """Return whether a flush fails with EIO. Raises any other error."""
    try:
        disk.flush()
    except OSError as error:
        assert error.errno == 5, error
        return True
    return False


def check(sector, want, got, where):
    """Fail with the first sector in which `got` is not `want`."""
    if want == got:
        return
    assert len(want) == len(got), f"{where}: {len(got)} bytes, not {len(want)}"
    for i in range(0, len(want), SECTOR):
        if want[i:i + SECTOR] != got[i:i + SECTOR]:
            raise AssertionError(f"{where}: sector {sector + i // SECTOR}: found {describe(got[i:i + SECTOR])}, "
                                 f"wanted {describe(want[i:i + SECTOR])}")


def describe(data):
    """Describe a sector's pattern(), for a message."""
    if not any(data):
        return "zeroes"
    tag, at = struct.unpack_from("<QQ", data)
    if data == pattern(tag, at, 1):
        return f"write {tag} of sector {at}"
    return f"neither zeroes nor a pattern: {data[:24].hex()}..."
