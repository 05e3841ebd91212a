# SPDX-License-Identifier: GPL-2.0
"""Texts with names of any bytes: the documents of --json, in UTF-8 as alignctl's own verbs write them, and other output."""

from __future__ import annotations

import codecs
import json
from typing import Any


def _mended(value: Any) -> Any:
    """Return the value with each byte that Python took as a surrogate, as it is not of a whole letter, as \\xNN."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    return [_mended(item) for item in value] if isinstance(value, list | tuple) else value


def _escaped(letter: str) -> str:
    if "\udc80" <= letter <= "\udcff":
        return f"\\x{ord(letter) - 0xdc00:02x}"
    return letter if letter.isprintable() else letter.encode("unicode_escape").decode()


def _encodable(error: UnicodeError) -> tuple[str, int]:
    """Return what is written for letters that a stream cannot encode: \\xNN for a byte of no letter, \\uNNNN for others."""
    assert isinstance(error, UnicodeEncodeError)
    return "".join(_escaped(letter) if "\udc80" <= letter <= "\udcff" else letter.encode("ascii", "backslashreplace").decode()
                   for letter in error.object[error.start:error.end]), error.end


# How a stream handles such letters, so that no name and no sign of a table ends a program that has measured for hours.
ESCAPED = "alignctl.escaped"
codecs.register_error(ESCAPED, _encodable)


def visible(text: str) -> str:
    """Return a text from outside for one line of a terminal: what does not print is escaped, a byte of no letter as \\xNN."""
    return text if text.isprintable() else "".join(map(_escaped, text))


def text_of(document: Any, indent: int | None = None) -> str:
    """Return the document as JSON that a strict reader takes."""
    text = json.dumps(document, indent=indent)
    # A surrogate stands in it as \udcNN; most documents have none, and looking is much faster than mending.
    return json.dumps(_mended(document), indent=indent) if "\\udc" in text else text


def rows_of(document: dict[str, Any]) -> str:
    """Return the document likewise, with a line for each element of a member that is a list.

    With an indent the json module writes in Python what it writes in C otherwise, which takes several times as long.
    """
    def lines(value: Any) -> str:
        return "[\n" + ",\n".join(map(text_of, value)) + "\n]" if value and isinstance(value, list) else text_of(value)
    return "{\n" + ",\n".join(f"{text_of(key)}: {lines(value)}" for key, value in document.items()) + "\n}"
