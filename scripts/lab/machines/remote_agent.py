# SPDX-License-Identifier: GPL-2.0
"""The agent of the demo and of the benchmark in the guest: executes the host's requests, one line each.

    python3 remote_agent.py CHANNEL

CHANNEL is the name of a virtio port. A request is one of

    {"argv": [...]}                          runs a command
    {"read": PATH, "at": [...], "bytes": n}  reads n bytes at each offset, past the page cache
    {"scatter": n}                           leaves half of n bytes free, in single pages
    {"end": true}                            ends the program

and the answer is {"status": n, "stdout": "...", "stderr": "..."}. Uses only the standard
library, because the guest has no virtual environment.
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
    """Return the device of a virtio port, found in sysfs as the guest has no udev."""
    for entry in Path("/sys/class/virtio-ports").iterdir():
        named = entry / "name"
        if named.exists() and named.read_text().strip() == name:
            return f"/dev/{entry.name}"
    sys.exit(f"remote_agent: no virtio port is named {name!r}")


def run(argv):
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return {"status": done.returncode, "stdout": done.stdout, "stderr": done.stderr}


def read(path, offsets, size):
    """Read past the page cache, into an anonymous map, as direct reads need an aligned buffer."""
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
    """Allocate memory and free every other page; keep the others until this program ends."""
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    # A huge page cannot be split by freeing parts of it.
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, size, page):
        memory[at] = 1
    for at in range(0, size, 2 * page):
        memory.madvise(mmap.MADV_DONTNEED, at, page)
    _kept.append(memory)
    return {"status": 0, "stdout": "", "stderr": ""}


def serve(channel):
    """Answer requests until the host ends the agent or disconnects."""
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
    # A port can be opened only once, so both directions share one descriptor.
    with open(port(sys.argv[1]), "r+b", buffering=0) as device:
        serve(io.BufferedRWPair(device, device))
