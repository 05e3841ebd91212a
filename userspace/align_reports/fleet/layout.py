# SPDX-License-Identifier: GPL-2.0
"""Where the documents of a fleet lie, and which host each is of.

The host is in the file's name, or else the name of its folder:

    HOST/check.json  HOST/stats.json  HOST/plan-sda.json     what the Ansible role writes
    HOST.check.json  HOST.stats.json  HOST.plan-sda.json
    HOST.json

Of a folder, all files *.json in it and in the folders in it are taken. What a document is, its content says; the word
in the name only parts the host from the rest, and the device, as in plan-sda, is that of a plan.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..document import visible

KINDS = ("check", "stats", "plan")
SUFFIX = ".json"
# A document of a host with a thousand disks has 3 MB.
MOST_BYTES = 64 << 20
NAME = re.compile(rf"(?:(?P<host>.+)\.)?(?P<kind>{'|'.join(KINDS)})(?:-(?P<device>.+))?", re.S)


class Unusable(Exception):
    """A file cannot be used; the text says why, and what to do."""


class Place(NamedTuple):
    """A file, and what its name says: the host, the kind of document (or None), the device (or None)."""

    path: str
    host: str
    kind: str | None
    device: str | None


def place(path: str) -> Place:
    """Tell from the name of a file which host its document is of."""
    folder, name = os.path.split(os.path.abspath(path))
    name = name.removesuffix(SUFFIX)
    found = NAME.fullmatch(name)
    if not found:
        return Place(path, visible(name), None, None)
    host, device = found["host"] or os.path.basename(folder) or "/", found["device"]
    return Place(path, visible(host), found["kind"], device and visible(device))


def _unreadable(error: OSError) -> str:
    return f"{error.strerror}: let this user read it"


def _entries(folder: str, deep: bool, without: dict[str, str]) -> Iterator[str]:
    """Yield the documents in a folder. without: gets a reason for each folder that cannot be read, as only its host is lost."""
    try:
        entries = list(os.scandir(folder))
    except OSError as error:
        without[folder] = _unreadable(error)
        return
    for entry in entries:
        if entry.name.endswith(SUFFIX):
            yield entry.path
            continue
        try:
            inside = deep and entry.is_dir()
        except OSError as error:
            without[entry.path] = _unreadable(error)
            continue
        if inside:
            yield from _entries(entry.path, False, without)


def files(operands: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """Find the files that the operands are or hold, each once, and {operand, or folder in it: why it has none}."""
    found: dict[str, None] = {}
    without: dict[str, str] = {}
    for operand in operands:
        unreadable: dict[str, str] = {}
        inside = list(_entries(operand, True, unreadable)) if os.path.isdir(operand) else [operand]
        if not inside and not unreadable:
            without[operand] = f"holds no documents: no *{SUFFIX} in it, nor in the folders in it"
        without.update(unreadable)
        found.update(dict.fromkeys(inside))
    return sorted(found), without


def content(path: str) -> bytes:
    """Read a file whole. Raises Unusable."""
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise Unusable("is a folder: give its files, or the folder that it is in")
        # Opening a pipe would wait for its writer, and a device may do anything.
        if not stat.S_ISREG(status.st_mode):
            raise Unusable("is not a regular file: save the document to one")
        if status.st_size > MOST_BYTES:
            raise Unusable(f"has {status.st_size} bytes, and no document more than {MOST_BYTES}: leave it out")
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError as error:
        raise Unusable(f"{error.strerror}: give a file that this user can read") from None
