# SPDX-License-Identifier: GPL-2.0
"""A drive model as the target of a method: on a virtual clock, or in real time."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from align_reports.probe.target import Request, Says

from ..paths import OUT

CLOCK, NBD, PLUGIN = (OUT / "bin" / name for name in ("drive512e-clock", "drive512e-nbd", "drive512e.so"))
# Commands that are sent before their answers are read: both fit into a pipe.
AT_ONCE = 1000


class ClockTarget:
    """drive512e-clock with these parameters, such as profile="st1000dm003", noise=10; for a `with` block.

    Nothing tells a method what the parameters are, but for what the drive says itself.
    """

    PROGRAM: tuple[Path, ...] = (CLOCK,)

    def __init__(self, **parameters: object) -> None:
        self._clock = subprocess.Popen([*self.PROGRAM, *(f"{name}={value}" for name, value in parameters.items())],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._clock.stdin and self._clock.stdout
        self._to, self._from = self._clock.stdin, self._clock.stdout
        words = self._from.readline().split()
        if len(words) != 6:
            self._clock.communicate()
            raise ChildProcessError(f"{self.PROGRAM[0].name} did not start with {parameters}")
        size, logical, physical, offset, rotational, cache = map(int, words)
        self.says = Says(size, logical, physical, offset, bool(rotational), bool(cache))

    def __enter__(self) -> ClockTarget:
        return self

    def __exit__(self, *_: object) -> None:
        self._to.close()
        self._from.close()
        assert self._clock.wait() == 0

    def _send(self, commands: Sequence[str], answers: int) -> list[int]:
        """Send the commands; return so many answers."""
        self._to.write("\n".join([*commands, ""]))
        self._to.flush()
        found = list(map(int, islice(self._from, answers)))
        if len(found) != answers:
            raise ChildProcessError(f"{self.PROGRAM[0].name} ended before its last answer")
        return found

    def ask(self, commands: Sequence[str]) -> list[int]:
        """Send commands that have one answer each; return the answers."""
        answers = []
        for start in range(0, len(commands), AT_ONCE):
            part = commands[start:start + AT_ONCE]
            answers += self._send(part, len(part))
        return answers

    def each(self, requests: Sequence[Request], flushed: bool = False) -> list[float]:
        if not flushed:
            return [ns / 1000 for ns in self.ask([line(request) for request in requests])]
        times = self.ask([command for request in requests for command in (line(request), "F")])
        return [(write + flush) / 1000 for write, flush in zip(times[::2], times[1::2], strict=True)]

    def together(self, requests: Sequence[Request], depth: int) -> list[float]:
        return self._batch("batch", requests, depth)

    def jobs(self, requests: Sequence[Request], jobs: int) -> list[float]:
        """Send rounds of a request for each job, which has one in flight; return the response times in the order of sending.

        An answer is followed by a request of the same job, from the round that is being sent.
        """
        return self._batch("jobs", requests, jobs)

    def _batch(self, command: str, requests: Sequence[Request], depth: int) -> list[float]:
        if not requests:
            return []
        # All of a batch is read before the first answer.
        _, *times = self._send([f"depth {depth}", f"{command} {len(requests)}", *map(line, requests)], 1 + len(requests))
        return [ns / 1000 for ns in times]

    def flush(self) -> float:
        return self.ask(["F"])[0] / 1000

    def pause(self, seconds: float) -> None:
        self.ask([f"wait {round(seconds * 1e9)}"])

    def elapsed_s(self) -> float:
        return self.ask(["time"])[0] / 1e9


class NbdTarget(ClockTarget):
    """The plugin with these parameters, served by nbdkit, in real time."""

    PROGRAM = (NBD, PLUGIN)


def line(request: Request) -> str:
    """Return the request as a command of drive512e-clock."""
    write, offset, length = request
    return f"{'W' if write else 'R'} {offset} {length}"
