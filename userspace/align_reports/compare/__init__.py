# SPDX-License-Identifier: GPL-2.0
"""`alignctl verify --vs`: two devices, the same requests on both, in turn."""
