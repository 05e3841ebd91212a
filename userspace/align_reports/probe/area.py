# SPDX-License-Identifier: GPL-2.0
"""The area of a device that a method may write to: saved to a file first, restored at the end.

The file outlives every end of the program, and is removed only once the device holds the
area's former content again.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .. import devices, interrupt
from ..exit_status import IO
from ..machine import Refused

CHUNK = 4 << 20
# The largest physical block. A workload that writes labels the blocks around its own, too.
BLOCK = 64 << 10
AROUND = 2 * BLOCK


@dataclass(frozen=True)
class Area:
    """
    device   path of the device
    start    first byte
    length   bytes
    file     where the area is saved
    """

    device: str
    start: int
    length: int
    file: Path

    def __str__(self) -> str:
        return f"{self.start}+{self.length}"

    @property
    def inside(self) -> tuple[int, int]:
        """Return start and length of the part for a workload, so that the blocks around it are in the area, too."""
        start = -(-self.start // BLOCK) * BLOCK + AROUND
        return start, self.start + self.length - AROUND - start

    @property
    def way_back(self) -> str:
        """Return the command that restores the area."""
        return shlex.join(["dd", f"if={self.file}", f"of={os.path.abspath(self.device)}", "bs=1M", f"seek={self.start}",
                           "oflag=seek_bytes", "conv=notrunc,fsync"])


def area_of(device: str, start: int, length: int, file: Path | None) -> Area:
    """Return the area that --write names."""
    name = f"alignctl-probe-{os.path.basename(device)}-{start}+{length}.saved"
    return Area(device, start, length, (file or Path(name)).absolute())


def refusal(area: Area, html: Path | None) -> str | None:
    """Return why the area cannot be saved, or None; changes nothing. html: the page to be written in the end"""
    folder = area.file.parent
    if html and html.resolve() == area.file.resolve():
        return "is the page of --html, too; name another file"
    if os.path.lexists(area.file):
        return "exists, perhaps from an earlier run that could not restore; restore and remove it, or name another file"
    try:
        room = os.statvfs(folder)
        if not os.access(folder, os.W_OK):
            return f"cannot create files in {folder}; name a file in a folder in which you can"
        if shared := devices.overlapping(area.device, str(folder)):
            where = area.device if devices.lies_on(str(folder), area.device) else f"{', '.join(shared)}, as {area.device} does"
            return f"lies on {where}; name a file on another disk: --save FILE"
    except OSError as error:
        return f"{error.strerror}; name a file in a folder that exists"
    if room.f_bavail * room.f_frsize < area.length:
        return f"needs {area.length} bytes, {room.f_bavail * room.f_frsize} are free; name a file elsewhere"
    return None


@contextlib.contextmanager
def preserved(area: Area) -> Iterator[None]:
    """Save the area, and restore it on every way out. Raises Refused if either fails.

    A signal ends the saving, but not the restoring.
    """
    # One open file for both: at the end the name may lead elsewhere.
    fd = os.open(area.device, os.O_RDWR | os.O_CLOEXEC)
    try:
        _save(fd, area)
        try:
            yield
        finally:
            _restore(fd, area)
    finally:
        os.close(fd)


def _save(fd: int, area: Area) -> None:
    try:
        out = os.open(area.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Refused(f"--save {area.file}: {error.strerror}; nothing was written to {area.device}", IO) from error
    try:
        try:
            os.posix_fallocate(out, 0, area.length)
            for at, size in _chunks(area):
                with interrupt.allowed():
                    pass
                _write(out, _read(fd, area.start + at, size), at)
            os.fsync(out)
            sync_folder(area.file.parent)
        finally:
            os.close(out)
    except BaseException as error:
        area.file.unlink()
        if isinstance(error, OSError):
            raise Refused(f"--save {area.file}: {error.strerror}; nothing was written to {area.device}",
                          IO) from error
        raise


def _restore(fd: int, area: Area) -> None:
    try:
        saved = os.open(area.file, os.O_RDONLY | os.O_CLOEXEC)
        try:
            _forget(fd, area)
            for at, size in _chunks(area):
                data = _read(saved, at, size)
                for first, after in _differing(fd, area.start + at, data):
                    _write(fd, data[first:after], area.start + at + first)
            os.fsync(fd)
            _forget(fd, area)
            for at, size in _chunks(area):
                if _read(fd, area.start + at, size) != _read(saved, at, size):
                    raise OSError(0, f"the {size} bytes from {area.start + at} on read back differently")
        finally:
            os.close(saved)
    except OSError as error:
        raise Refused(f"{area.device}: {area} is NOT restored: {error.strerror}; {area.file} has the content, restore "
                      f"it with: {area.way_back}", IO) from error
    area.file.unlink()


def _forget(fd: int, area: Area) -> None:
    """Drop the page cache of the area, so that it is read from the device."""
    os.posix_fadvise(fd, area.start, area.length, os.POSIX_FADV_DONTNEED)


def _differing(fd: int, at: int, data: bytes) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each part of data that the device does not have at this place, or cannot read.

    What a method has left alone is not written: a drive may take a hundred times longer for that.
    """
    try:
        found = _read(fd, at, len(data))
    except OSError:
        yield 0, len(data)
        return
    start = None
    for piece in range(0, len(data), BLOCK):
        if found[piece:piece + BLOCK] == data[piece:piece + BLOCK]:
            if start is not None:
                yield start, piece
            start = None
        elif start is None:
            start = piece
    if start is not None:
        yield start, len(data)


def _chunks(area: Area) -> Iterator[tuple[int, int]]:
    """Yield (offset, length) of each chunk, from the start of the area."""
    for at in range(0, area.length, CHUNK):
        yield at, min(CHUNK, area.length - at)


def _read(fd: int, at: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.pread(fd, size, at)
        if not part:
            raise OSError(0, f"unexpected end at byte {at}")
        parts.append(part)
        at, size = at + len(part), size - len(part)
    return b"".join(parts)


def _write(fd: int, data: bytes, at: int) -> None:
    rest = memoryview(data)
    while rest:
        done = os.pwrite(fd, rest, at)
        at, rest = at + done, rest[done:]


def sync_folder(folder: Path) -> None:
    """Make the name of a new file durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
