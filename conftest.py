# SPDX-License-Identifier: GPL-2.0
"""What all tests of the project share; the guests' tests get their host side here."""

pytest_plugins = ["dmalign.host_plugin"]
