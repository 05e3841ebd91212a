# SPDX-License-Identifier: GPL-2.0
"""Recorded times of requests: a table with tabs between its columns, as the study's tool drvperf --dump-file writes it.

The columns are recognised by the header that the tool writes. Without one their number tells which they are.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

# The tool's names; other columns are not needed here.
BASE, OFFSET, LENGTH, TIME = "base_offset", "offset", "probe_length", "millis"
# Without a header, by number of columns.
ORDERS = {2: (OFFSET, TIME), 3: (OFFSET, LENGTH, TIME), 5: (BASE, OFFSET, "absdelta", LENGTH, TIME)}
LINES, LINE_BYTES = 1_000_000, 1000
OFFSET_MOST, TIME_MOST_MS = (1 << 63) - 1, 3_600_000


class BadSamples(Exception):
    """A file has no samples, or a line is none; the text names file, line and value."""


@dataclass(frozen=True)
class Sample:
    """
    us       time of the request
    offset   its place
    base     the place before, of the first request of a pair; None: not recorded
    length   its length in bytes; None: not recorded
    """

    us: float
    offset: int
    base: int | None = None
    length: int | None = None


def read_samples(path: Path, needed: tuple[str, ...] = ()) -> list[Sample]:
    """Read a file of samples. needed: columns that a method cannot do without. Raises BadSamples."""
    try:
        with path.open("rb") as file:
            return _parsed(path, _lines(path, file), (OFFSET, TIME, *needed))
    except OSError as error:
        raise BadSamples(f"{path}: {error.strerror}") from error


def _lines(path: Path, file: BinaryIO) -> Iterator[list[str]]:
    """Yield the columns of each line, and none of a line without any."""
    for at in itertools.count(1):
        line = file.readline(LINE_BYTES + 1)
        if not line:
            return
        if at > LINES:
            raise BadSamples(f"{path}:{at}: more than {LINES} lines; give a part of them")
        if len(line) > LINE_BYTES:
            raise BadSamples(f"{path}:{at}: longer than {LINE_BYTES} bytes; give the table that drvperf --dump-file writes")
        try:
            text = line.decode("ascii").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise BadSamples(f"{path}:{at}: byte {line[error.start]:#04x}: is no text; give the table that drvperf "
                             "--dump-file writes") from error
        yield text.split("\t") if text.strip() else []


def _parsed(path: Path, lines: Iterator[list[str]], needed: tuple[str, ...]) -> list[Sample]:
    names: tuple[str, ...] = ()
    samples = []
    for at, cells in enumerate(lines, 1):
        where = f"{path}:{at}"
        if not cells:
            continue
        if not names:
            header = not any(cell[:1].isdigit() for cell in cells)
            names = tuple(cell.strip() for cell in cells) if header else ORDERS.get(len(cells), ())
            _check_columns(where, names, header, len(cells), needed)
            if header:
                continue
        if len(cells) != len(names):
            raise BadSamples(f"{where}: {len(cells)} columns, the first line has {len(names)}; give whole lines")
        row = dict(zip(names, cells, strict=True))
        samples.append(Sample(_time(where, row[TIME]), _whole(where, OFFSET, row[OFFSET]),
                              *(_whole(where, name, row[name]) if name in row else None for name in (BASE, LENGTH))))
    if not samples:
        raise BadSamples(f"{path}: no samples; give the table that drvperf --dump-file writes")
    return samples


def _check_columns(where: str, names: tuple[str, ...], header: bool, count: int, needed: tuple[str, ...]) -> None:
    """Refuse a first line that does not have the needed columns."""
    if not names:
        raise BadSamples(f"{where}: {count} columns without a header; give {', '.join(map(str, ORDERS))} of them, or a "
                         f"header such as {OFFSET}, {TIME}, with tabs between")
    if len(set(names)) < len(names):
        raise BadSamples(f"{where}: column '{next(name for name in names if names.count(name) > 1)[:40]}': is there twice; "
                         "leave one out")
    if missing := [name for name in needed if name not in names]:
        known = ", ".join(f"'{name[:40]}'" for name in names[:8])
        raise BadSamples(f"{where}: no column {missing[0]}, which is needed; " + (
            f"the header has {known}" if header else f"{count} columns without a header are {known}"))


def _whole(where: str, name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,19}", text) or int(text) > OFFSET_MOST:
        raise BadSamples(f"{where}: {name} '{text[:40]}': must be a whole number of bytes, at most {OFFSET_MOST}")
    return int(text)


def _time(where: str, text: str) -> float:
    """Return a time in microseconds."""
    if not re.fullmatch(r"[0-9]{1,10}(\.[0-9]{1,12})?", text) or not 0 < float(text) <= TIME_MOST_MS:
        raise BadSamples(f"{where}: {TIME} '{text[:40]}': must be milliseconds, more than 0 and at most {TIME_MOST_MS}")
    return float(text) * 1000
