# SPDX-License-Identifier: GPL-2.0
"""The folder of a program's results: a lock against a second writer, and the JSON document."""

from __future__ import annotations

import contextlib
import fcntl
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class InUse(Exception):
    """Another program is writing to the folder."""


@contextlib.contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Create the folder and its log/, and lock it against other programs. Raises InUse."""
    (folder / "log").mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUse(f"{folder} is in use by another run: wait for that run, or name another "
                        "folder with --out") from None
        yield


def save(path: Path, number: int, document: dict[str, Any]) -> None:
    """Write a document. number: of its format, which `load` compares."""
    path.write_text(json.dumps({"format": number, **document}, indent=1) + "\n")


def load(path: Path, number: int, program: str) -> dict[str, Any]:
    """Read a document of `save`. Raises ValueError if `program` wrote it in another format."""
    document = json.loads(path.read_text())
    if document.get("format") != number:
        raise ValueError(f"{path}: format {document.get('format')}, this program reads {number}: "
                         f"run the {program} again")
    return document
