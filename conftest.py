# SPDX-License-Identifier: GPL-2.0
"""What all tests of the project share: the host side of the guests' tests, time limits that follow the machine, the
session's time and where it went, signals, alignctl's documents judged by their schemas, how much a run does, and whether
User Mode Linux and QEMU run here at all."""

import os

# Tests run make themselves, and not as a part of the make that may run them, with its flags and jobs.
for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
    os.environ.pop(name, None)

pytest_plugins = ["lab.plugins.budget", "lab.plugins.documents", "lab.plugins.extent", "lab.plugins.host_plugin",
                  "lab.plugins.layer", "lab.plugins.signals", "lab.plugins.timers", "lab.plugins.preflight",
                  "lab.plugins.spent"]
