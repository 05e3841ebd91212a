# SPDX-License-Identifier: GPL-2.0
"""`alignctl verify`: one device, some workloads, raw and through each mode of dm-align."""
