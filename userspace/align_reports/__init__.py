# SPDX-License-Identifier: GPL-2.0
"""Reports that compare a 512e drive with and without dm-align."""
