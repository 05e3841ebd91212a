# SPDX-License-Identifier: GPL-2.0
"""The pytest plugins of the project's tests, on the host and in guests."""
