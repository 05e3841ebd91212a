# SPDX-License-Identifier: GPL-2.0
"""Kernels that dm-align is built for and tested on: fetched, unpacked or built, and the modules for them."""
