# SPDX-License-Identifier: GPL-2.0
"""Two devices compared: the same requests on both, in turn."""
