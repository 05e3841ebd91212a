# SPDX-License-Identifier: GPL-2.0
"""Mutants of the engine, made by rules, that lives on virtual time must find; `make sim-mutants`."""
