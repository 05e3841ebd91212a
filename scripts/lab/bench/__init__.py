# SPDX-License-Identifier: GPL-2.0
"""The benchmark: every way to a drive against every other, and the required figures."""
