# SPDX-License-Identifier: GPL-2.0
"""The control socket of drive512e: the drive's own counts of a run."""

from __future__ import annotations

import json
import socket
from typing import Any

TIMEOUT_S = 30.0


class Control:
    """Commands to one drive; see Documentation/develop/drive512e.rst."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __call__(self, command: str) -> dict[str, Any]:
        """Send a command; return the drive's answer. Raises OSError if there is none, or if the drive refuses."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(TIMEOUT_S)
            try:
                connection.connect(self._path)
            except OSError as error:
                raise OSError(f"{self._path}: {error.strerror or error}: start drive512e with control= of that "
                              "path") from error
            try:
                connection.sendall(command.encode() + b"\n")
                line = connection.makefile("rb").readline()
            except OSError as error:
                raise OSError(f"{self._path}: {command}: {error.strerror or error}") from error
        # A drive that ends meanwhile answers nothing, or a part of a line.
        answer = json.loads(line) if line.endswith(b"\n") else {"ok": False, "error": "no answer; see why the drive has ended"}
        if not answer.get("ok", True):
            raise OSError(f"{self._path}: {command}: {answer.get('error')}")
        return answer
