# SPDX-License-Identifier: GPL-2.0
"""The file of --html: a check before the first run that it may be written, and the writing."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from pathlib import Path

from .document import ESCAPED
from .page import MARK

KINDS = {stat.S_IFBLK: "a block device", stat.S_IFCHR: "a character device",
         stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
# The mark is among the first lines of a page.
HEAD = 512
# As many links in a row as the kernel follows.
MOST_LINKS = 40


def refusal(path: Path, inputs: list[str]) -> str | None:
    """Return why a page must not or cannot be written to `path`, or None; changes nothing.

    inputs: paths that the runs read or write; names that are no files are ignored
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
        return "is not a report of alignctl; remove it, or name another file"
    return _refusal_of_folder(path.resolve().parent)


def _refusal_of_folder(folder: Path) -> str | None:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return f"{error.strerror}: cannot create files in {folder}; name a file in a folder in which you can"


def _link_of(path: Path) -> str | None:
    """Return where `path` leads if it is a link, or None. Raises OSError for a link that the kernel would not follow.

    Reading a link follows it past fs.protected_symlinks: a link of any user's in /tmp would choose the file that root writes.
    """
    try:
        fd = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        # owner and target of the same link, even if another one takes its name
        found = os.fstat(fd)
        if not stat.S_ISLNK(found.st_mode):
            return None
        target = os.readlink("", dir_fd=fd)
    finally:
        os.close(fd)
    folder = path.parent.stat()
    if folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH and found.st_uid not in (os.geteuid(), folder.st_uid):
        raise OSError(errno.EACCES, "is a link that another user has made; name another file")
    return target


def _place_of(path: Path) -> Path:
    """Return the file that a page replaces: the target of a symbolic link, not the link. Raises OSError."""
    for _ in range(MOST_LINKS):
        target = _link_of(path)
        if target is None:
            return path
        path = path.parent / target
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def write(path: Path, page: str) -> None:
    """Replace `path` by the page, atomically. Raises OSError, and then leaves the old content."""
    path = _place_of(path)
    # it may be another file than before the runs
    reason = _refusal_of_existing(path, []) if path.exists() else None
    if reason:
        raise OSError(errno.EEXIST, reason)
    made = path.with_name(f".alignctl-{os.getpid()}.html")
    try:
        # The page says that it is UTF-8, which the locale need not be.
        with made.open("x", encoding="utf-8", errors=ESCAPED) as file:
            file.write(page)
        if path.exists():
            made.chmod(stat.S_IMODE(path.stat().st_mode))
        made.replace(path)
    finally:
        made.unlink(missing_ok=True)
