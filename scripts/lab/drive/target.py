# SPDX-License-Identifier: GPL-2.0
"""A drive model as the target of a method: on a virtual clock, or in real time."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
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
        assert len(words) == 6, f"{self.PROGRAM[0]} did not start with {parameters}"
        size, logical, physical, offset, rotational, cache = map(int, words)
        self.says = Says(size, logical, physical, offset, bool(rotational), bool(cache))

    def __enter__(self) -> ClockTarget:
        return self

    def __exit__(self, *_: object) -> None:
        self._to.close()
        self._from.close()
        assert self._clock.wait() == 0

    def _ask(self, commands: Sequence[str]) -> list[int]:
        """Send the commands; return their answers."""
        answers = []
        for start in range(0, len(commands), AT_ONCE):
            part = commands[start:start + AT_ONCE]
            self._to.write("\n".join(part) + "\n")
            self._to.flush()
            answers += [int(self._from.readline()) for _ in part]
        return answers

    def each(self, requests: Sequence[Request], flushed: bool = False) -> list[float]:
        if not flushed:
            return [ns / 1000 for ns in self._ask([line(request) for request in requests])]
        times = self._ask([command for request in requests for command in (line(request), "F")])
        return [(write + flush) / 1000 for write, flush in zip(times[::2], times[1::2], strict=True)]

    def together(self, requests: Sequence[Request], depth: int) -> list[float]:
        if not requests:
            return []
        self._ask([f"depth {depth}"])
        # All of a batch is read before the first answer.
        self._to.write("\n".join([f"batch {len(requests)}", *map(line, requests), ""]))
        self._to.flush()
        return [int(self._from.readline()) / 1000 for _ in requests]

    def flush(self) -> float:
        return self._ask(["F"])[0] / 1000

    def pause(self, seconds: float) -> None:
        self._ask([f"wait {round(seconds * 1e9)}"])

    def elapsed_s(self) -> float:
        return self._ask(["time"])[0] / 1e9


class NbdTarget(ClockTarget):
    """The plugin with these parameters, served by nbdkit, in real time."""

    PROGRAM = (NBD, PLUGIN)


def line(request: Request) -> str:
    """Return the request as a command of drive512e-clock."""
    return f"{'W' if request.write else 'R'} {request.offset} {request.bytes}"
