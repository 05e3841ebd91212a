# SPDX-License-Identifier: GPL-2.0
"""Traces that the methods make for alignctl replay."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..replays import Replays


def write_trace(replays: Replays, rows: Iterable[tuple[str, int, int]]) -> str:
    """Write a trace of (operation, offset, bytes) in place of the one before; return its path. Raises OSError."""
    path = replays.folder / "trace.csv"
    try:
        with path.open("w") as file:
            file.write("op,offset,bytes\n")
            file.writelines(f"{op},{offset},{size}\n" for op, offset, size in rows)
    except OSError as error:
        # Without the path one would take a full disk for the device that is measured.
        raise OSError(f"{path}: {error.strerror}; set TMPDIR to a folder with room") from error
    return str(path)


def trace(replays: Replays, kind: str, size: int, places: list[int]) -> str:
    """Write a trace of requests of one size in place of the one before; return its path."""
    return write_trace(replays, ((kind, place, size) for place in places))


def device_facts(replays: Replays, device: str) -> dict[str, Any]:
    """Return what alignctl reports of the device with any run; makes one of a single read."""
    replays.make(trace(replays, "read", 4096, [0]), device, "--scan")
    return replays.facts or {}
