# SPDX-License-Identifier: GPL-2.0
"""A file that is written, truncated, punched, mapped and read in every way, compared with a model of its bytes."""

import mmap
import os
import random
import time

from . import libc
from .direct import PAGE, Buffer

FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE, FALLOC_FL_ZERO_RANGE = 1, 2, 16


class Exerciser:
    """Random operations on one file of up to `largest` bytes; every read is compared with the model."""

    def __init__(self, path, seed, largest=400000):
        self._path, self._seed, self._largest = path, seed, largest
        self._model = bytearray()
        self._choose = random.Random(seed)
        path.write_bytes(b"")

    def run(self, seconds):
        """Do operations for `seconds`; return their number."""
        end = time.monotonic() + seconds
        done = 0
        while time.monotonic() < end:
            self._do(done)
            done += 1
        return done

    def _range(self, limit):
        """Return (offset, length) of a random part of the first `limit` bytes, often short or page-aligned."""
        offset = self._choose.randrange(limit)
        length = min(limit - offset, self._choose.choice([1, 511, 512, 4096, self._choose.randrange(1, 70000)]))
        if self._choose.random() < 0.3:
            offset = offset // PAGE * PAGE
        return offset, length

    def _put(self, offset, data):
        if offset > len(self._model):
            self._model.extend(bytes(offset - len(self._model)))
        self._model[offset:offset + len(data)] = data

    def _do(self, number):
        do = self._choose.choice([self._write, self._write, self._append, self._direct, self._truncate, self._punch,
                                  self._zero, self._map, self._read, self._read, self._read_anew, os.fsync])
        fd = os.open(self._path, os.O_RDWR)
        try:
            do(fd)
        except AssertionError as error:
            raise AssertionError(f"seed {self._seed}, operation {number}, {do.__name__}: {error}") from None
        finally:
            os.close(fd)

    def _write(self, fd):
        offset, length = self._range(self._largest)
        data = self._choose.randbytes(length)
        assert os.pwrite(fd, data, offset) == length
        self._put(offset, data)

    def _append(self, fd):
        data = self._choose.randbytes(self._choose.randrange(1, 5000))
        if len(self._model) + len(data) <= self._largest:
            assert os.pwrite(fd, data, len(self._model)) == len(data)
            self._put(len(self._model), data)

    def _direct(self, fd):
        """Write whole sectors past the page cache, so that the device gets writes of any sectors."""
        offset, length = (number // 512 * 512 for number in self._range(self._largest))
        data = self._choose.randbytes(length or 512)
        buffer = Buffer(len(data))
        direct = os.open(self._path, os.O_RDWR | os.O_DIRECT)
        try:
            assert os.pwritev(direct, [buffer.fill(data).view], offset) == len(data)
        finally:
            os.close(direct)
            buffer.close()
        self._put(offset, data)

    def _truncate(self, fd):
        size = self._choose.randrange(self._largest)
        os.ftruncate(fd, size)
        del self._model[size:]
        self._model.extend(bytes(size - len(self._model)))

    def _fallocate(self, fd, flags, name):
        if not self._model:
            return
        offset, length = self._range(len(self._model))
        libc.call(name, "fallocate", fd, flags, offset, length)
        self._put(offset, bytes(length))

    def _punch(self, fd):
        self._fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, "punch")

    def _zero(self, fd):
        self._fallocate(fd, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, "zero")

    def _map(self, fd):
        if not self._model:
            return
        offset, length = self._range(len(self._model))
        data = self._choose.randbytes(length)
        with mmap.mmap(fd, len(self._model)) as mapped:
            got = mapped[offset:offset + length]
            assert got == self._model[offset:offset + length], f"{length} bytes at {offset} are wrong in the map"
            mapped[offset:offset + length] = data
            if self._choose.random() < 0.5:
                mapped.flush()
        self._put(offset, data)

    def _read(self, fd):
        got = os.pread(fd, len(self._model) + 1, 0)
        assert len(got) == len(self._model), f"the file has {len(got)} bytes, the model {len(self._model)}"
        if got != self._model:
            at = next(i for i in range(len(got)) if got[i] != self._model[i])
            raise AssertionError(f"byte {at} of {len(got)} is {got[at]}, must be {self._model[at]}")

    def _read_anew(self, fd):
        """Read from the device, after dropping the cached pages."""
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        self._read(fd)

    def check(self, path):
        """Compare the file at `path`, possibly on another mount, with the model."""
        fd = os.open(path, os.O_RDONLY)
        try:
            self._read(fd)
        finally:
            os.close(fd)
