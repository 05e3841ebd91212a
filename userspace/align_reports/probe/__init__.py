# SPDX-License-Identifier: GPL-2.0
"""What `alignctl replay` makes of many runs: two devices compared, and the methods."""
