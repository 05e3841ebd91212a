# SPDX-License-Identifier: GPL-2.0
"""Read a file of the layout for alignctl, which runs this with the file as its standard input and reads standard output.

The protocol is in userspace/alignctl/trace/parquet.c. Types and metadata are checked here, each row is checked there.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

from . import layout
from .database import READ_MEMORY, Database, connect, literal
from .layout import PREFIX, Refused

FILE = "/dev/stdin"
AGAIN = "write it with 'alignctl convert --to parquet', or see traces.rst"
# Other columns that a message names.
NAMED_MAX = 20


def _rows(file: str) -> str:
    return f"read_parquet({literal(file)}, hive_partitioning = false)"


def _columns(database: Database, file: str) -> list[str]:
    """Check the columns; return the names of others. Raises Refused."""
    found = {name: kind for name, kind, *_ in database.execute(f"DESCRIBE SELECT * FROM {_rows(file)}").fetchall()}
    for name, kind in layout.COLUMNS.items():
        if name not in found:
            raise Refused(f"has no column {name}; {AGAIN}")
        if found[name] != kind:
            raise Refused(f"column {name} has type {found[name]}, not {kind}; write it again with CAST({name} AS {kind})")
    return [name for name in found if name not in layout.COLUMNS]


def _metadata(database: Database, file: str) -> dict[str, str]:
    """Return the layout's metadata, its keys without the prefix. Raises Refused."""
    rows = database.execute(f"SELECT key, value FROM parquet_kv_metadata({literal(file)})").fetchall()
    found = {key.decode(errors="replace").removeprefix(PREFIX): value.decode(errors="replace")
             for key, value in rows if key.startswith(PREFIX.encode())}
    missing = [PREFIX + key for key in layout.REQUIRED if key not in found]
    if missing:
        raise Refused(f"has no {missing[0]} in its metadata, and so is no trace in the layout; {AGAIN}")
    if found["layout"] != str(layout.VERSION):
        raise Refused(f"{PREFIX}layout is '{found['layout']}', and this program reads layout {layout.VERSION}; update it")
    if found["epoch"] not in layout.EPOCHS:
        raise Refused(f"{PREFIX}epoch is '{found['epoch']}', not {', '.join(layout.EPOCHS[:-1])} or {layout.EPOCHS[-1]}; {AGAIN}")
    return found


def _number(metadata: dict[str, str], key: str, bits: int) -> int | None:
    """Return a number of the metadata that may be missing. Raises Refused."""
    text = metadata.get(key)
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,20}", text) or int(text) >= 1 << bits:
        raise Refused(f"{PREFIX}{key} is '{text}', no number of {bits} bits; {AGAIN}")
    return int(text)


def _sums(metadata: dict[str, str]) -> list[int] | None:
    """Return the sums of the columns; None: they are missing. Raises Refused."""
    text = metadata.get("sums")
    if text is None:
        return None
    numbers = [int(word) for word in text.split(" ") if re.fullmatch(r"[0-9]{1,20}", word)]
    if len(numbers) != text.count(" ") + 1 or len(numbers) != len(layout.COLUMNS) or max(numbers) >= 1 << layout.SUM_BITS:
        raise Refused(f"{PREFIX}sums is '{text}', not {len(layout.COLUMNS)} numbers of {layout.SUM_BITS} bits; {AGAIN}")
    return numbers


def _name(metadata: dict[str, str], key: str) -> str | None:
    """Return an encoded name of the metadata that may be missing. Raises Refused."""
    text = metadata.get(key)
    if text is not None and not re.fullmatch(r"([A-Za-z0-9._-]|%(?!00)[0-9A-F]{2})*", text):
        raise Refused(f"{PREFIX}{key} is '{text}', with characters that are not percent-encoded; {AGAIN}")
    return text


def header(database: Database, file: str) -> dict[str, Any]:
    """Return what alignctl is told before the rows. Raises Refused."""
    ignored = _columns(database, file)
    metadata = _metadata(database, file)
    [(rows,)] = database.execute(f"SELECT num_rows FROM parquet_file_metadata({literal(file)})").fetchall()
    [(least,)] = database.execute(
        f"""SELECT CASE WHEN count(*) = count(stats_min_value) THEN min(CAST(stats_min_value AS BIGINT)) END
            FROM parquet_metadata({literal(file)}) WHERE path_in_schema = 'len_bytes'""").fetchall()
    told = _number(metadata, "rows", 63)
    if told is not None and told != rows:
        raise Refused(f"has {rows} rows, and {PREFIX}rows is '{told}'; {AGAIN}")
    unix = metadata["epoch"] == "unix"
    first = database.execute(f"SELECT ts_ns FROM {_rows(file)} LIMIT 1").fetchall() if unix else []
    offset = _number(metadata, "alignment_offset_bytes", 32)
    names = ", ".join(ignored[:NAMED_MAX]) + (", ..." if ignored[NAMED_MAX:] else "")
    return {
        # a row of length 0 may be an entry that makes no request
        "rows": rows, "all_requests": not rows or bool(least), "timed": metadata["epoch"] != "none",
        "unix": unix, "volume": _name(metadata, "volume"),
        "start_ns": max(0, first[0][0] or 0) if first else _number(metadata, "start_ns", 63) or 0,
        "device": _name(metadata, "device"), "logical": _number(metadata, "logical_block_bytes", 32) or 0,
        "physical": _number(metadata, "physical_block_bytes", 32) or 0, "offset": offset or 0,
        "offset_known": offset is not None, "lost": _number(metadata, "lost", 64) or 0, "sums": _sums(metadata),
        "ignored": layout.encoded(names) if ignored else None}


def read() -> None:
    """Write the file to standard output. Raises Refused and duckdb.Error, whose texts name the file as FILE."""
    database = connect(READ_MEMORY)
    os.write(1, json.dumps(header(database, FILE)).encode() + b"\n")
    [(rows,)] = database.execute(
        f"COPY (SELECT {', '.join(layout.COLUMNS)} FROM {_rows(FILE)}) TO '/dev/stdout' (FORMAT csv, HEADER false)").fetchall()
    os.write(1, b"end,%d\n" % rows)
