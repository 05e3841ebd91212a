# SPDX-License-Identifier: GPL-2.0
"""The emulated drive's profiles against what is published: the page and the picture of `make bench-drive`."""
