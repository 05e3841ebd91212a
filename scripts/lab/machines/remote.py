# SPDX-License-Identifier: GPL-2.0
"""A guest that runs commands: the host sends requests over a virtio port to an agent in the guest."""

from __future__ import annotations

import contextlib
import json
import shlex
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.machines import vm
from lab.pace import patience

CHANNEL = "lab.commands"
# QEMU connects its channels before the guest boots, but its image is made first.
CONNECT_S = 60
AGENT = Path(__file__).with_name("remote_agent.py")


class GuestError(Exception):
    """The guest did not come up, died, or a command in it failed."""


class Guest:
    """The connected agent; boot() makes one."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._answers = connection.makefile("r")

    def _send(self, request: dict[str, Any]) -> None:
        self._connection.sendall(json.dumps(request).encode() + b"\n")

    def answer(self, what: str, request: dict[str, Any], timeout: float | None) -> dict[str, Any]:
        """Send a request; return the agent's answer. `what` names the request in errors. Raises GuestError."""
        self._connection.settimeout(timeout)
        try:
            self._send(request)
            line = self._answers.readline()
        except TimeoutError as error:
            raise GuestError(f"{what}: no answer from the guest in {timeout:.0f} s") from error
        except OSError as error:
            raise GuestError(f"{what}: the guest is gone: {error}") from error
        if not line:
            raise GuestError(f"{what}: the guest ended before it answered")
        return json.loads(line)

    def _ask(self, what: str, request: dict[str, Any], timeout: float | None,
             ok: tuple[int, ...] = (0,)) -> str:
        answer = self.answer(what, request, timeout)
        if answer["status"] not in ok:
            said = (answer["stderr"] or answer["stdout"]).strip()
            raise GuestError(f"{what}: status {answer['status']}: {said}")
        return answer["stdout"]

    def run(self, *argv: str, timeout: float | None = 120, ok: tuple[int, ...] = (0,)) -> str:
        """Run a command; return its standard output. timeout in seconds, None: no limit; ok: good statuses. Raises GuestError."""
        return self._ask(shlex.join(argv), {"argv": argv}, timeout, ok)

    def read(self, path: str, offsets: list[int], size: int, timeout: float = 120) -> None:
        """Read `size` bytes at each offset of a device, past the page cache."""
        self._ask(f"read {path}", {"read": path, "at": offsets, "bytes": size}, timeout)

    def scatter(self, size: int, timeout: float = 120) -> None:
        """Fragment `size` bytes of the guest's memory: leave every other page free.

        The kernel allocates these pages first, so buffers are scattered as on a machine that has
        been up for a while.
        """
        self._ask(f"scatter {size} bytes", {"scatter": size}, timeout)

    def json(self, *argv: str, timeout: float | None = 120, ok: tuple[int, ...] = (0,)) -> Any:
        return json.loads(self.run(*argv, timeout=timeout, ok=ok))

    def end(self) -> None:
        self._send({"end": True})


@contextlib.contextmanager
def boot(folder: Path, *, timeout: float, boot_timeout: float = 120,
         **options: Any) -> Iterator[Guest]:
    """Boot a guest for the time of a `with` block; yield its Guest.

    folder: for the guest's own output; timeout: seconds for everything;
    boot_timeout: seconds until the agent answers; options: as `vm.run` takes them.
    Raises GuestError if the guest does not come up or its kernel log holds a fault.
    """
    # Choosing the accelerator may take a boot: do so before the time limit of the socket begins.
    vm.accelerator()
    ended: list[vm.Result] = []
    def machine(channel: str) -> None:
        with (folder / "guest.log").open("w") as output:
            ended.append(vm.run(f"python3 {shlex.quote(str(AGENT))} {CHANNEL}", timeout=timeout,
                                channels=[(CHANNEL, channel)], stdout=output, **options))

    # Not in the folder: the path of a socket is limited to 107 bytes.
    with (tempfile.TemporaryDirectory(prefix="dm-align-") as sockets,
          socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener):
        listener.bind(f"{sockets}/guest")
        listener.listen(1)
        # A daemon thread: the machine dies with this process, however it ends.
        thread = threading.Thread(target=machine, args=(f"{sockets}/guest",), daemon=True)
        thread.start()
        limit = patience(CONNECT_S)
        listener.settimeout(limit)
        try:
            connection, _ = listener.accept()
        except TimeoutError as error:
            why = ended and vm.explain(ended[0])
            raise GuestError(why or f"QEMU does not start within {limit:.0f} s") from error
    with connection:
        guest = Guest(connection)
        try:
            guest.run("true", timeout=boot_timeout)
            yield guest
            guest.end()
        except GuestError as error:
            thread.join(5)
            why = ended and vm.explain(ended[0])
            raise GuestError(f"{error}\n{why}" if why else str(error)) from error
        thread.join(60)
    if not ended:
        raise GuestError("the guest does not switch itself off")
    why = vm.explain(ended[0])
    if why:
        raise GuestError(why)
