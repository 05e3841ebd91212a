# SPDX-License-Identifier: GPL-2.0
"""Devices with physical blocks of 4096 bytes that cannot be read, or not be written."""

import contextlib

from .dm import Device, sectors_of

BLOCK = 8


def with_bad_blocks(below, blocks):
    """Return table lines of `below` in which the given physical blocks give I/O errors."""
    lines, at = [], 0
    for block in sorted(blocks):
        first = block * BLOCK
        if first > at:
            lines.append(f"{at} {first - at} linear {below} {at}")
        lines.append(f"{first} {BLOCK} error")
        at = first + BLOCK
    lines.append(f"{at} {sectors_of(below) - at} linear {below} {at}")
    return lines


@contextlib.contextmanager
def faulty(below, bad_reads=(), bad_writes=(), read_ms=0, write_ms=0):
    """Make a device on `below` on which some blocks cannot be read and some cannot be written; yield (device, heal)."""
    length = sectors_of(below)
    with Device(*with_bad_blocks(below, bad_reads)) as for_reads, \
            Device(*with_bad_blocks(below, bad_writes)) as for_writes, \
            Device(f"0 {length} delay {for_reads.path} 0 {read_ms} {for_writes.path} 0 {write_ms}") as device:

        def heal():
            for part in (for_reads, for_writes):
                part.reload(f"0 {length} linear {below} 0")

        yield device.path, heal
