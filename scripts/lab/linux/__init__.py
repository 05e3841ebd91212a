# SPDX-License-Identifier: GPL-2.0
"""Kernels to build dm-align for and to test on: fetched, unpacked or built, and the modules for them."""
