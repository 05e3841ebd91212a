# SPDX-License-Identifier: GPL-2.0
"""The engine itself in simulated worlds: see Documentation/develop/simulation.rst."""
