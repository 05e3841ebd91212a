# SPDX-License-Identifier: GPL-2.0
"""`alignctl probe`: what a device can do, by methods of many runs."""
