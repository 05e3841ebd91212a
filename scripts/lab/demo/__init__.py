# SPDX-License-Identifier: GPL-2.0
"""The demo: published workloads on emulated drives, raw and through each mode, in a guest."""
