# SPDX-License-Identifier: GPL-2.0
"""Kernels, virtual machines and test runs of dm-align."""
