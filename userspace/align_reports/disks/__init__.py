# SPDX-License-Identifier: GPL-2.0
"""The page of alignctl plan of several disks."""
