# SPDX-License-Identifier: GPL-2.0
"""The process of alignctl that reads the documents, and leaves of each what is needed here (fleet/reader.c).

It takes a small part of the time that Python's json takes for whole documents, and works while this process ranks. What it
refuses, it leaves to this process, which knows what to say of it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
from collections.abc import Generator, Iterable

# Bytes read at once.
AT_ONCE = 1 << 16


def _ended(process: int) -> str:
    """Wait for the reader to end; return how it did. Its id stays its own, for the clean-up."""
    found = os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    return f"was killed ({signal.strsignal(found.si_status)})" if found and found.si_code != os.CLD_EXITED else "failed"


def lines(started: list[int] | None, members: Iterable[str], paths: list[str]) -> Generator[bytes, None, None]:
    """Yield a line for each file: its document as JSON without white space, with no other members; or nothing but its end.

    started: two descriptors and the id of the reader, as verbs/fleet.c says them; None: there is none.
    Raises ChildProcessError if the reader ends before its work is done.
    """
    if started is None:
        yield from itertools.repeat(b"\n", len(paths))
        return
    requests, answers, process = started
    try:
        texts = [*map(str.encode, members), b"", *map(os.fsencode, paths)]
        # where it has ended, there is no answer to read
        with contextlib.suppress(BrokenPipeError), open(requests, "wb") as stream:
            stream.write(b"".join(text + b"\0" for text in texts))
        with open(answers, "rb", buffering=AT_ONCE) as stream:
            for _ in paths:
                line = stream.readline()
                if not line.endswith(b"\n"):
                    raise ChildProcessError(f"the process that reads the documents {_ended(process)}: see that there is "
                                            "memory, and run it again")
                yield line
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
