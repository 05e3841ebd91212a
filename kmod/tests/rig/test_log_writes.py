# SPDX-License-Identifier: GPL-2.0
"""Reading and playing back a log of log-writes, of a log made by hand."""

import io

import pytest

from rig.log_writes import DISCARD, ENTRY, FLUSH, FUA, HEAD, MAGIC, MARK, Entry, entries, play


def log_of(*made, sector=512, magic=MAGIC, version=1):
    """Make a log of (sector, sectors, flags, data) each."""
    out = HEAD.pack(magic, version, len(made), sector).ljust(sector, b"\0")
    for at, count, flags, data in made:
        head = ENTRY.pack(at, count, flags, len(data) if flags & MARK else 0)
        if flags & MARK:
            out += (head + data).ljust(sector, b"\0")
        else:
            out += head.ljust(sector, b"\0") + data
    log = io.BytesIO(out + b"what is behind the last entry")
    log.name = "made"
    return log


@pytest.mark.parametrize("sector", [512, 4096])
def test_every_entry_comes_with_its_place_and_its_data(sector):
    log = log_of((3, 2, 0, b"a" * 2 * sector), (0, 0, FLUSH, b""), (0, 0, MARK, b"here\0"), (9, 1, FUA, b"b" * sector),
                 (1, 4, DISCARD, b""), (0, 1, 0, b"c" * sector), sector=sector)
    assert list(entries(log)) == [
        Entry(3 * sector, 2 * sector, 0, b"a" * 2 * sector), Entry(0, 0, FLUSH), Entry(0, 0, MARK, mark="here"),
        Entry(9 * sector, sector, FUA, b"b" * sector), Entry(sector, 4 * sector, DISCARD),
        Entry(0, sector, 0, b"c" * sector)]
    assert [entry.is_safe_point for entry in entries(log)] == [False, True, False, True, False, False]


def test_playing_them_makes_what_was_written():
    image = io.BytesIO(b"." * 8)
    for entry in (Entry(1, 2, 0, b"ab"), Entry(2, 2, 0, b"xy"), Entry(0, 0, FLUSH), Entry(0, 0, MARK, mark="m")):
        play(entry, image)
    assert image.getvalue() == b".axy...."
    play(Entry(2, 3, DISCARD), image)
    assert image.getvalue() == b".a\0\0\0..."[:8]


@pytest.mark.parametrize("wrong", [{"magic": 1}, {"version": 2}])
def test_something_else_is_refused(wrong):
    with pytest.raises(ValueError, match="made is not a log of log-writes"):
        list(entries(log_of(**wrong)))
