# SPDX-License-Identifier: GPL-2.0
"""Write a folder of the layout for alignctl convert, which has put the requests into a file of text and says on standard
input, as JSON, what is known of them: see userspace/alignctl/trace/parquet_writer.c."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from . import layout
from .database import connect, exactly, literal
from .folder import NUMBER, TABLE, scratch_beside, write_parts

MEMORY = "512MiB"


def write(rows: Path, output: Path) -> None:
    """Write the requests of a file as a folder. Raises Refused, duckdb.Error and OSError."""
    told = json.load(sys.stdin)
    columns = {NUMBER: "UINTEGER", **layout.COLUMNS}
    types = "{" + ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in columns.items()) + "}"
    with scratch_beside(output) as scratch:
        database = connect(MEMORY, scratch)
        database.execute(
            f"""CREATE TABLE {TABLE} AS SELECT * FROM read_csv({literal(exactly(rows))}, columns = {types}, auto_detect = false,
                header = false, delim = ',', quote = '', escape = '') ORDER BY {NUMBER}""")
        write_parts(database, [(number, volume) for number, volume in told["volumes"]], told["metadata"], scratch, output)
        database.close()
