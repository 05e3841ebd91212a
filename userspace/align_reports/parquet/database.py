# SPDX-License-Identifier: GPL-2.0
"""DuckDB as it is used here: bounded memory, spilling to disk, and nothing fetched from a network."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import duckdb

# What a thread of DuckDB's needs to sort and to write, measured.
THREAD_BYTES = 64 << 20
READ_MEMORY = "256MiB"

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 1 << 10, "MI": 1 << 20, "GI": 1 << 30, "TI": 1 << 40}

Database = duckdb.DuckDBPyConnection


def size_of(text: str) -> int:
    """Return the bytes that a size means, such as 512MB or 2GiB. Raises ValueError."""
    found = re.fullmatch(r"(\d+)\s*([KMGT]?I?)B?", text.upper())
    if not found or found[2] == "I" or not int(found[1]):
        raise ValueError(f"'{text}' is no size, such as 512MB or 2GiB")
    return int(found[1]) * _UNITS[found[2]]


def literal(value: str | Path) -> str:
    """Return a text as SQL has it."""
    return "'" + str(value).replace("'", "''") + "'"


def exactly(path: str | Path) -> str:
    """Return a pattern that only that path matches, for functions that take patterns."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))


def connect(memory: str, scratch: Path | None = None) -> Database:
    """Open a database below a folder for what does not fit into memory; None: nothing is kept, and nothing spills."""
    size = size_of(memory)
    threads = max(1, min(len(os.sched_getaffinity(0)), size // THREAD_BYTES))
    config: dict[str, Any] = {
        "memory_limit": f"{size >> 10}KiB", "threads": threads, "preserve_insertion_order": True,
        "autoinstall_known_extensions": False, "autoload_known_extensions": False,
    }
    if scratch is None:
        database = duckdb.connect(config=config)
    else:
        database = duckdb.connect(str(scratch / "scratch.duckdb"), config=config | {"temp_directory": str(scratch / "spill")})
    # it would be drawn on standard output
    return database.execute("SET enable_progress_bar = false")


def reason_of(error: duckdb.Error) -> str:
    """Return what DuckDB says, on one line, with the file of a table, and without the exception's name and general advice."""
    whole = str(error)
    text = re.split(r"\n\n|\nLINE |\nPossible fixes", whole)[0]
    text = re.sub(r"^[\w ]*?Error: ", "", text)
    file = re.search(r"^\s*file ?= ?(.+)$", whole, re.M)
    return " ".join(f"{file[1]}: {text}".split() if file else text.split())
