# SPDX-License-Identifier: GPL-2.0
"""The file of --html: what may become one, seen before the first run, and the page put there."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from .page import MARK

KINDS = {stat.S_IFBLK: "a block device", stat.S_IFCHR: "a character device",
         stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
# The mark is among the first lines of a page.
HEAD = 512


def refusal(path: Path, inputs: list[str]) -> str | None:
    """Why a page must not or cannot be put there; nothing is changed.

    inputs: what the runs read or write, as far as these are files
    """
    try:
        if path.exists():
            return _refusal_of_existing(path, inputs)
        return _refusal_of_folder(path.resolve().parent)
    except OSError as error:
        return f"{error.strerror}; name a file that you may read and write"


def _refusal_of_existing(path: Path, inputs: list[str]) -> str | None:
    for each in inputs:
        if os.path.exists(each) and path.samefile(each):
            return f"is {each}, which the runs need; name another file"
    kind = stat.S_IFMT(path.stat().st_mode)
    if kind != stat.S_IFREG:
        return f"is {KINDS[kind]}; name a regular file, or one that does not exist"
    with path.open("rb") as file:
        head = file.read(HEAD)
    if head and MARK.encode() not in head:
        return "is no report of alignctl's; remove it, or name another file"
    return _refusal_of_folder(path.resolve().parent)


def _refusal_of_folder(folder: Path) -> str | None:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return f"{error.strerror}: {folder} must be a folder in which you may make files"


def write(path: Path, page: str) -> None:
    """Puts the page there, whole: until then what was there stays. Raises OSError."""
    # what a link names is replaced, not the link
    path = path.resolve()
    made = path.with_name(f".alignctl-{os.getpid()}.html")
    try:
        with made.open("x") as file:
            file.write(page)
        if path.exists():
            made.chmod(stat.S_IMODE(path.stat().st_mode))
        made.replace(path)
    finally:
        made.unlink(missing_ok=True)
