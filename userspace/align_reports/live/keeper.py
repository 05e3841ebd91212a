# SPDX-License-Identifier: GPL-2.0
"""The device of the experiment: its keeper, which alone changes its mode, and alignctl stats.

The keeper is a process that alignctl has started; alignctl/mapped/mode_keeper.h has its messages. It puts the
mode back when its socket closes, so also if this program is killed.
"""

from __future__ import annotations

import contextlib
import json
import select
import shlex
import socket
import subprocess
from typing import Any, Protocol

from .. import interrupt
from ..exit_status import BUSY, IO
from ..machine import GRACE_S, Refused

MESSAGE_MAX = 512


class Lost(Refused):
    """The experiment cannot go on: the device is not as it was left."""

    def __init__(self, words: str) -> None:
        super().__init__(words, BUSY)


class KeeperEnded(Refused):
    """The keeper has ended, so no process would put the mode back."""

    def __init__(self) -> None:
        super().__init__("the process that keeps its mode was ended", IO)


class Device(Protocol):
    """What the experiment does with the device."""

    def change(self, mode: str) -> None:
        """Change the mode; return when the change is complete. Raises Refused, Lost."""

    def wait(self, seconds: float) -> None:
        """Wait. Raises Lost as soon as the device is not as it was left, and Interrupted."""

    def measure(self, seconds: int) -> dict[str, Any]:
        """Return what the ledger counted in the next seconds, as `alignctl stats --interval` says. Raises as wait()."""

    def end(self) -> str | None:
        """Put the mode back; return why it was left as it is, or None. Raises Refused if that failed."""


class Kept:
    """The device behind a keeper.

    keeper  socket to the keeper
    name    the device, for messages
    dm      the kernel's name of the device
    before  the mode before the experiment
    """

    def __init__(self, keeper: socket.socket, alignctl: str, name: str, dm: str, before: str) -> None:
        self._keeper, self._alignctl, self._name, self._dm, self._before = keeper, alignctl, name, dm, before
        # The modes that the experiment may have set: two while the keeper has not answered.
        self._modes = {before}

    def change(self, mode: str) -> None:
        modes = self._modes
        self._modes = {*modes, mode}
        # A signal waits until the mode has changed.
        answer, rest = self._ask(f"mode {mode}")
        if answer == "lost":
            raise Lost(f"{self._name}: {rest}")
        if answer != "ok":
            self._modes = modes
            raise Refused(f"{self._name}: mode {mode} was refused, see above", int(rest))
        self._modes = {mode}

    def wait(self, seconds: float) -> None:
        self._until(seconds)

    def measure(self, seconds: int) -> dict[str, Any]:
        argv = (self._alignctl, "stats", self._dm, "--interval", str(seconds), "1", "--json")
        with subprocess.Popen(argv, stdout=subprocess.PIPE, encoding="utf-8", start_new_session=True) as child:
            try:
                assert child.stdout
                self._until(None, child.stdout.fileno())
                output, _ = child.communicate(timeout=GRACE_S)
            finally:
                # no effect if the child has ended
                child.kill()
        # The keeper looks now and then only, and knows better why the ledger may be gone.
        answer, rest = self._ask("look")
        if answer == "lost":
            raise Lost(f"{self._name}: {rest}")
        # Status 1 stands for findings, which the document has, too.
        if child.returncode not in (0, 1) or not output:
            raise Refused(f"{self._name}: alignctl stats: status {child.returncode}, see above", max(child.returncode, IO))
        document: dict[str, Any] = json.loads(output)["devices"][0]
        return document

    def end(self) -> str | None:
        try:
            answer, rest = self._ask("end")
            # What the keeper has said by itself may come first.
            while answer == "lost":
                answer, rest = self._receive()
        except KeeperEnded:
            return self._put_back()
        finally:
            self._keeper.close()
        if answer == "failed":
            raise Refused(f"{self._name}: mode {self._before} could not be put back, see above", int(rest))
        return None if answer == "back" else rest

    def _until(self, seconds: float | None, *files: int) -> None:
        """Wait for the time or for a file. Raises Lost when the keeper says so."""
        with interrupt.allowed():
            ready = select.select([self._keeper.fileno(), *files], [], [], seconds)[0]
        if self._keeper.fileno() in ready:
            raise Lost(f"{self._name}: {self._receive()[1]}")

    def _ask(self, text: str) -> tuple[str, str]:
        try:
            self._keeper.send(text.encode())
        except OSError:
            raise KeeperEnded from None
        return self._receive()

    def _receive(self) -> tuple[str, str]:
        try:
            text = self._keeper.recv(MESSAGE_MAX).decode()
        except OSError:
            raise KeeperEnded from None
        if not text:
            raise KeeperEnded
        word, _, rest = text.partition(" ")
        return word, rest

    def _put_back(self) -> str | None:
        """Put the mode back in place of the keeper, unless it is not the experiment's."""
        shown = subprocess.run([self._alignctl, "stats", self._dm, "--json"], stdout=subprocess.PIPE, encoding="utf-8",
                               start_new_session=True, check=False)
        modes: set[str] = set()
        with contextlib.suppress(ValueError, LookupError):
            modes = {target["mode"] for target in json.loads(shown.stdout)["devices"][0]["targets"]}
        if not modes <= self._modes or not modes:
            return f"another program changed its mode meanwhile, to {' and '.join(sorted(modes)) or 'none'}"
        done = subprocess.run([self._alignctl, "set", self._dm, "--mode", self._before], stdout=subprocess.DEVNULL,
                              start_new_session=True, check=False)
        if done.returncode:
            way_out = shlex.join(["alignctl", "set", self._name, "--mode", self._before])
            raise Refused(f"{self._name}: mode {self._before} could not be put back: {way_out}", IO)
        return None
