# SPDX-License-Identifier: GPL-2.0
"""Runs beside and beyond `make check`: the proof (`python -m lab.proof`), and its parts that are separate programs."""
