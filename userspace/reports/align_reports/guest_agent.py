# SPDX-License-Identifier: GPL-2.0
"""The part of the demo that runs in the guest: does what the host asks, one line at a time.

    python3 guest_agent.py CHANNEL

CHANNEL is the name of a virtio port. A request is {"argv": [...]}, answered by
{"status": n, "stdout": "...", "stderr": "..."}; {"end": true} ends the program. Needs
nothing but the standard library, because the guest has no virtual environment.
"""

import io
import json
import subprocess
import sys
from pathlib import Path


def port(name):
    """The device of a virtio port; there is no udev here to name it."""
    for entry in Path("/sys/class/virtio-ports").iterdir():
        named = entry / "name"
        if named.exists() and named.read_text().strip() == name:
            return f"/dev/{entry.name}"
    sys.exit(f"guest_agent: no virtio port is named {name!r}")


def serve(channel):
    """Answers requests until the host ends it; a lost host ends it too."""
    for line in channel:
        request = json.loads(line)
        if request.get("end"):
            return
        done = subprocess.run(request["argv"], capture_output=True, text=True, check=False)
        answer = {"status": done.returncode, "stdout": done.stdout, "stderr": done.stderr}
        channel.write(json.dumps(answer).encode() + b"\n")
        channel.flush()


if __name__ == "__main__":
    # A port can be opened once only, so both directions share one descriptor.
    with open(port(sys.argv[1]), "r+b", buffering=0) as device:
        serve(io.BufferedRWPair(device, device))
