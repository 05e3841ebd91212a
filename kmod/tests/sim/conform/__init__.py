# SPDX-License-Identifier: GPL-2.0
"""The shim of the simulation, compared with a real kernel: see Documentation/develop/simulation.rst."""
