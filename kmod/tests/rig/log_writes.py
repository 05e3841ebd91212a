# SPDX-License-Identifier: GPL-2.0
"""
Reading and playing back the log of a device's writes by the kernel's target "log-writes".

In the log, the writes covered by a flush come before the flush, and a write with FUA comes at its completion. So the
content after any flush or write with FUA of the log is the least that a power cut at that moment leaves.

The format is in drivers/md/dm-log-writes.c: a head in the first sector, then for each entry a sector that describes it,
and its data.
"""

import struct
from typing import NamedTuple

HEAD = struct.Struct("<QQQI")
ENTRY = struct.Struct("<QQQQ")
MAGIC, VERSION = 0x6A736677736872, 1
FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8


class Entry(NamedTuple):
    """One entry: offset and length, in bytes; flags; the data of a write; the text of a mark."""

    offset: int
    length: int
    flags: int
    data: bytes = b""
    mark: str = ""

    @property
    def is_safe_point(self):
        """Return whether everything before the entry is on stable media when the entry has ended."""
        return bool(self.flags & (FLUSH | FUA))


def entries(log):
    """Yield the entries of an open log, in order."""
    log.seek(0)
    magic, version, count, sector_size = HEAD.unpack(log.read(HEAD.size))
    if (magic, version) != (MAGIC, VERSION):
        raise ValueError(f"{log.name} is not a log of log-writes: magic {magic:#x}, version {version}")
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
    """Apply an entry to an open file; a discard leaves zeroes."""
    image.seek(entry.offset)
    image.write(entry.data or bytes(entry.length))
