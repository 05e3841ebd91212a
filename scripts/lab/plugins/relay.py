# SPDX-License-Identifier: GPL-2.0
"""A relay between a guest and the control sockets of its drives.

The control sockets are on the host, and a unix socket does not connect through the guest's 9p mount of the host's files.
So the guest has a virtio port, `PORT`, whose other end is here. One JSON object a line in either direction:

    {"drive": "p4096", "command": "stats"}   ->   the control socket's answer
    {"drive": "p4096", "log": true}          ->   {"lines": [...]}, the request log since the drive's last "reset"
"""

import contextlib
import json
import os
import socket
import tempfile
import threading

PORT = "lab.drives"


class Relay:
    """Listens during a `with` block; `channel` is for vm.run(channels=...)."""

    def __init__(self, served):
        self._served = served
        self._marks = {}
        self._folder = tempfile.TemporaryDirectory(prefix="dm-align-")
        self._listener = socket.socket(socket.AF_UNIX)
        self._path = os.path.join(self._folder.name, "relay")
        self._listener.bind(self._path)
        self._listener.listen(1)
        self.channel = (PORT, self._path)

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        # accept() returns on a shutdown, but not on a close.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._folder.cleanup()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection):
        with connection, contextlib.suppress(OSError), connection.makefile("r") as questions:
            for question in questions:
                connection.sendall(json.dumps(self._answer(question)).encode() + b"\n")

    def _answer(self, question):
        try:
            asked = json.loads(question)
            drive = self._served[asked["drive"]]
            if asked.get("log"):
                return {"lines": self._log(drive)}
            answer = drive.control(asked["command"])
            if asked["command"] == "reset":
                self._marks[drive.name] = drive.log_file.stat().st_size
            return answer
        except (OSError, ValueError, KeyError, ConnectionError) as error:
            return {"ok": False, "error": f"{type(error).__name__}: {error}"}

    def _log(self, drive):
        with open(drive.log_file) as log:
            log.seek(self._marks.get(drive.name, 0))
            return log.read().splitlines()
