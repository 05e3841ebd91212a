# SPDX-License-Identifier: GPL-2.0
"""Turn a published set of traces into a folder of the layout: any order of rows, all volumes at once, in bounded memory."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from . import layout
from .database import Database, connect, exactly, literal
from .folder import NUMBER, TABLE, scratch_beside, write_parts
from .layout import Refused

SETS = Path(__file__).parent / "sets"
MACROS = SETS / "macros.sql"
# End of what pread() and pwrite() reach, as in trace/format.h.
MAX_END = (1 << 63) - 1


@dataclass(frozen=True)
class Gathered:
    """What was written. no_length: of the rows, those of length 0, which make no request."""

    volumes: int
    rows: int
    no_length: int


def names() -> list[str]:
    """Return the names of the sets."""
    return sorted(path.stem for path in SETS.glob("*.sql") if path != MACROS)


def _check(database: Database) -> None:
    """Refuse the first row that the layout does not allow. Raises Refused."""
    wrong = database.execute(
        f"""SELECT seq, volume, ts_ns, op, offset_bytes, len_bytes FROM raw
            WHERE volume IS NULL OR ts_ns IS NULL OR op IS NULL OR offset_bytes IS NULL OR len_bytes IS NULL
               OR offset_bytes > {MAX_END}::UBIGINT - len_bytes ORDER BY seq LIMIT 1""").fetchall()
    if not wrong:
        return
    [(seq, *values)] = wrong
    found = dict(zip(("volume", "ts_ns", "op", "offset_bytes", "len_bytes"), values))
    empty = [name for name, value in found.items() if value is None]
    what = f"has no {empty[0]}" if empty else \
        f"reaches beyond byte {MAX_END} (offset_bytes {found['offset_bytes']}, len_bytes {found['len_bytes']})"
    raise Refused(f"row {seq + 1} of volume {found['volume']}, ts_ns {found['ts_ns']}, {what}; mend or remove it")


def _load(database: Database, name: str, files: list[str]) -> dict[str, str]:
    """Make the table of requests of a set; return its metadata. Raises Refused and duckdb.Error."""
    operands = ", ".join(literal("/dev/stdin" if file == "-" else exactly(file)) for file in files)
    database.execute(f"SET VARIABLE files = [{operands}]")
    for path in (MACROS, SETS / f"{name}.sql"):
        database.execute(path.read_text())
    # without an order of its own, row_number() counts in the order of the files
    database.execute("CREATE TABLE raw AS SELECT *, row_number() OVER () - 1 AS seq FROM source")
    _check(database)
    database.execute(f"""CREATE TABLE volumes AS SELECT row_number() OVER (ORDER BY volume) AS {NUMBER}, volume
                         FROM (SELECT DISTINCT volume FROM raw)""")
    database.execute(f"""CREATE TABLE {TABLE} AS SELECT {NUMBER}, {', '.join(layout.COLUMNS)}
                         FROM raw JOIN volumes USING (volume) ORDER BY {NUMBER}""")
    database.execute("DROP TABLE raw")
    return dict(database.execute("SELECT key, value FROM metadata").fetchall())


def gather(name: str, files: list[str], output: Path, memory: str) -> Gathered:
    """Write the set in these files, "-" being standard input, to a new folder. Raises Refused, duckdb.Error and OSError."""
    def progress(done: int) -> None:
        if sys.stderr.isatty():
            print(f"\rvolume {done} of {len(volumes)}", end="" if done < len(volumes) else "\n", file=sys.stderr, flush=True)

    with scratch_beside(output) as scratch:
        database = connect(memory, scratch)
        metadata = _load(database, name, files)
        volumes = [(number, layout.encoded(volume)) for number, volume in
                   database.execute(f"SELECT {NUMBER}, volume FROM volumes ORDER BY {NUMBER}").fetchall()]
        if not volumes:
            raise Refused(f"{', '.join(files)}: no rows; name the extracted files of the set")
        [(rows, no_length)] = database.execute(
            f"SELECT count(*), count(*) FILTER (len_bytes = 0) FROM {TABLE}").fetchall()
        write_parts(database, volumes, metadata, scratch, output, progress)
        database.close()
    return Gathered(len(volumes), rows, no_length)
