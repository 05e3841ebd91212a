# SPDX-License-Identifier: GPL-2.0
"""Synthetic sets of block traces in the formats and of the shapes of published ones."""
