# SPDX-License-Identifier: GPL-2.0
"""The part of the demo and of the benchmark that runs in the guest: does what the host asks, one line at a time.

    python3 remote_agent.py CHANNEL

CHANNEL is the name of a virtio port. A request is one of

    {"argv": [...]}                          runs a command
    {"read": PATH, "at": [...], "bytes": n}  reads n bytes at each offset, past the page cache
    {"scatter": n}                           leaves half of n bytes free, in single pages
    {"end": true}                            ends the program

and is answered by {"status": n, "stdout": "...", "stderr": "..."}. Needs nothing but the
standard library, because the guest has no virtual environment.
"""

import io
import json
import mmap
import os
import subprocess
import sys
from pathlib import Path

_kept: list = []


def port(name):
    """The device of a virtio port; there is no udev here to name it."""
    for entry in Path("/sys/class/virtio-ports").iterdir():
        named = entry / "name"
        if named.exists() and named.read_text().strip() == name:
            return f"/dev/{entry.name}"
    sys.exit(f"remote_agent: no virtio port is named {name!r}")


def run(argv):
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return {"status": done.returncode, "stdout": done.stdout, "stderr": done.stderr}


def read(path, offsets, size):
    """Direct reads need a buffer at a page boundary, which an anonymous map has."""
    try:
        device = os.open(path, os.O_RDONLY | os.O_DIRECT)
        try:
            with mmap.mmap(-1, size) as buffer:
                for offset in offsets:
                    os.preadv(device, [buffer], offset)
        finally:
            os.close(device)
    except OSError as error:
        return {"status": 1, "stdout": "", "stderr": str(error)}
    return {"status": 0, "stdout": "", "stderr": ""}


def scatter(size):
    """Takes memory and gives every other page back; keeps the others until this program ends."""
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    # A huge page would be one piece.
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, size, page):
        memory[at] = 1
    for at in range(0, size, 2 * page):
        memory.madvise(mmap.MADV_DONTNEED, at, page)
    _kept.append(memory)
    return {"status": 0, "stdout": "", "stderr": ""}


def serve(channel):
    """Answers requests until the host ends it; a lost host ends it too."""
    for line in channel:
        request = json.loads(line)
        if "argv" in request:
            answer = run(request["argv"])
        elif "read" in request:
            answer = read(request["read"], request["at"], request["bytes"])
        elif "scatter" in request:
            answer = scatter(request["scatter"])
        else:
            return
        channel.write(json.dumps(answer).encode() + b"\n")
        channel.flush()


if __name__ == "__main__":
    # A port can be opened once only, so both directions share one descriptor.
    with open(port(sys.argv[1]), "r+b", buffering=0) as device:
        serve(io.BufferedRWPair(device, device))
