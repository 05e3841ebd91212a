# SPDX-License-Identifier: GPL-2.0
"""
The log that the kernel's target "log-writes" keeps of a device's writes, read and played back.

The log has the writes that a flush was for before that flush, and a write with FUA when it had ended. So what a device
holds after any flush or write with FUA of the log is what a power cut at that moment may leave at least.

The format is that of drivers/md/dm-log-writes.c: a head in the first sector, then for each entry a sector that says
what it is, and its data.
"""

import struct
from typing import NamedTuple

HEAD = struct.Struct("<QQQI")
ENTRY = struct.Struct("<QQQQ")
MAGIC, VERSION = 0x6A736677736872, 1
FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8


class Entry(NamedTuple):
    """One entry: where and how much, in bytes; its flags; what was written; what a mark says."""

    offset: int
    length: int
    flags: int
    data: bytes = b""
    mark: str = ""

    @property
    def is_safe_point(self):
        """Whether everything before it is on stable media when it has ended."""
        return bool(self.flags & (FLUSH | FUA))


def entries(log):
    """The entries of an open log, in order."""
    log.seek(0)
    magic, version, count, sector_size = HEAD.unpack(log.read(HEAD.size))
    if (magic, version) != (MAGIC, VERSION):
        raise ValueError(f"{log.name} is no log of log-writes: magic {magic:#x}, version {version}")
    at = sector_size
    for _ in range(count):
        log.seek(at)
        text = log.read(sector_size)
        sector, sectors, flags, data_len = ENTRY.unpack_from(text)
        at += sector_size
        if flags & MARK:
            yield Entry(0, 0, flags, mark=text[ENTRY.size:ENTRY.size + data_len].rstrip(b"\0").decode())
            continue
        offset, length = sector * sector_size, sectors * sector_size
        data = b"" if flags & DISCARD else log.read(length)
        at += len(data)
        yield Entry(offset, length, flags, data)


def play(entry, image):
    """Makes an entry take effect on an open file; a discard leaves zeroes."""
    image.seek(entry.offset)
    image.write(entry.data or bytes(entry.length))
