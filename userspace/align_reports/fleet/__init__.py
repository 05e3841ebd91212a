# SPDX-License-Identifier: GPL-2.0
"""alignctl fleet: the answers of many hosts, in one ranked list."""
