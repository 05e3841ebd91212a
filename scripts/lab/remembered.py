# SPDX-License-Identifier: GPL-2.0
"""Facts about this machine, remembered in out/ until the next boot."""

import json
from pathlib import Path

from .paths import OUT, locked, write_whole

FILE = OUT / "preflight.json"


def _boot_id():
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _all():
    try:
        known = json.loads(FILE.read_text())
        return known["found"] if known["boot"] == _boot_id() else {}
    except (OSError, ValueError, KeyError):
        return {}


def recall(name):
    """Return the value remembered under a name, or None."""
    return _all().get(name)


def remember(name, value):
    with locked("remembered", FILE.parent):
        write_whole(FILE, json.dumps({"boot": _boot_id(), "found": {**_all(), name: value}}) + "\n")
