# SPDX-License-Identifier: GPL-2.0
"""The layout, version 1: folders, columns and metadata, as Documentation/admin/traces.rst specifies them."""

from __future__ import annotations

from urllib.parse import quote, unquote_to_bytes

VERSION = 1
# Columns and their types in DuckDB.
COLUMNS = {"ts_ns": "BIGINT", "seq": "BIGINT", "op": "UTINYINT", "offset_bytes": "UBIGINT", "len_bytes": "UINTEGER"}
OP = "0 read, 1 write, 2 flush, 3 discard, 4 write-zeroes; +16 preflush, +32 FUA"
PART = "part.parquet"
# Keys of the metadata of each file; the first group must be there.
PREFIX = "block_trace."
REQUIRED = ("layout", "source", "licence", "time_unit", "offset_unit", "length_unit", "epoch", "op")
OPTIONAL = ("volume", "rows", "sums", "start_ns", "device", "logical_block_bytes", "physical_block_bytes",
            "alignment_offset_bytes", "lost")
# Sums are taken modulo 2 to this power.
SUM_BITS = 64
# Where column ts_ns begins to count: 1970, the start of the trace, or nowhere, as the source has no times.
EPOCHS = ("unix", "start", "none")

_FOLDER = "volume="
# What hive and DuckDB call the partition of rows without a value.
_NAMELESS = "__HIVE_DEFAULT_PARTITION__"
_NAME_MAX = 255


class Refused(Exception):
    """Content or arguments that the layout does not allow; the text says what is wrong and the way out."""


def encoded(volume: str | bytes) -> str:
    """Return a volume's name as a part of a path: letters, digits, '.', '_' and '-' stay, other bytes become %XX."""
    return quote(volume, safe="").replace("~", "%7E")


def decoded(text: str) -> bytes:
    """Return the name of which encoded() made that text."""
    return unquote_to_bytes(text)


def folder_of(volume: str | None) -> str:
    """Return the folder of a volume whose encoded name is given; None: it has no name. Raises Refused."""
    name = _FOLDER + (_NAMELESS if volume is None else "%5F" + volume[1:] if volume == _NAMELESS else volume)
    if len(name) > _NAME_MAX:
        raise Refused(f"volume {volume}: its folder's name would have {len(name)} bytes, of {_NAME_MAX} at most; rename it")
    return name
