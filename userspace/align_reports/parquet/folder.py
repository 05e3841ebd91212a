# SPDX-License-Identifier: GPL-2.0
"""Write a folder of the layout from a table of requests in DuckDB: a part for each volume, all of them or none."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from . import layout
from .database import Database, literal
from .layout import PREFIX, Refused

# The table that write_parts() reads has these columns and the number of the volume.
TABLE = "requests"
NUMBER = "volume_nr"


@contextlib.contextmanager
def scratch_beside(output: Path) -> Iterator[Path]:
    """Make a folder beside the output, on whose file system there must be room, and remove it at the end. Raises Refused."""
    try:
        made = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent))
    except OSError as error:
        raise Refused(f"{output.parent}: {error.strerror}; name an output in a folder that can be written") from error
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _totals(database: Database) -> dict[int, dict[str, str]]:
    """Return the metadata by which damage to a volume's rows is found, by the volume's number."""
    sums = ", ".join(f"sum(CAST({name} AS HUGEINT)) % {1 << layout.SUM_BITS}" for name in layout.COLUMNS)
    found = database.execute(f"SELECT {NUMBER}, count(*), {sums} FROM {TABLE} GROUP BY {NUMBER}").fetchall()
    return {number: {"rows": str(rows), "sums": " ".join(map(str, columns))} for number, rows, *columns in found}


def _metadata(metadata: dict[str, str], volume: str | None) -> str:
    """Return the metadata of a volume's file as SQL has it."""
    full = {"layout": str(layout.VERSION), "op": layout.OP, **metadata}
    if volume is not None:
        full["volume"] = volume
    return "{" + ", ".join(f"{literal(PREFIX + key)}: {literal(value)}" for key, value in full.items()) + "}"


def write_parts(database: Database, volumes: Sequence[tuple[int, str | None]], metadata: dict[str, str], scratch: Path,
                output: Path, progress: Callable[[int], None] = lambda done: None) -> None:
    """Write the table's requests as a folder, which appears when it is complete.

    volumes: numbers and encoded names, None for the one without a name; metadata: keys without the prefix. Raises Refused,
    duckdb.Error and OSError.
    """
    draft = scratch / "parts"
    draft.mkdir()
    totals = _totals(database)
    for done, (number, volume) in enumerate(volumes):
        folder = draft / layout.folder_of(volume)
        folder.mkdir()
        database.execute(
            f"""COPY (SELECT {', '.join(layout.COLUMNS)} FROM {TABLE} WHERE {NUMBER} = {number} ORDER BY ts_ns, seq)
                TO {literal(folder / layout.PART)}
                (FORMAT parquet, COMPRESSION zstd, KV_METADATA {_metadata(metadata | totals[number], volume)})""")
        _sync(folder / layout.PART)
        _sync(folder)
        progress(done + 1)
    _sync(draft)
    if os.path.lexists(output):
        raise Refused(f"{output}: exists and is not overwritten; name another folder")
    os.chmod(draft, 0o777 & ~_umask())
    os.rename(draft, output)
    _sync(output.parent)


def _umask() -> int:
    found = os.umask(0o077)
    os.umask(found)
    return found
