# SPDX-License-Identifier: GPL-2.0
"""What all tests of the project share: the host side of the guests' tests, time limits that follow the machine, the
session's time and where it went, how much a run does, and whether User Mode Linux and QEMU run here at all."""

pytest_plugins = ["dmalign.budget", "dmalign.extent", "dmalign.host_plugin", "dmalign.timers", "dmalign.preflight",
                  "dmalign.spent"]
