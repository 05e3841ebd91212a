# SPDX-License-Identifier: GPL-2.0
"""System images: whole Debian systems with their own kernel and systemd, booted in QEMU, for tests of packages, boot and
shutdown."""
