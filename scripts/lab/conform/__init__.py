# SPDX-License-Identifier: GPL-2.0
"""What alignctl conform says of the kernel's block devices, and of dm-align: the verdicts in Documentation/admin/conform.rst."""
