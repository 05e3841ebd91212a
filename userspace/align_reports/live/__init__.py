# SPDX-License-Identifier: GPL-2.0
"""`alignctl verify --live`: the modes of an align device in use, in turn, under the device's own load."""
