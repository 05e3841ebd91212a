# SPDX-License-Identifier: GPL-2.0
"""The dashboard under load: real metrics of an align device, through Prometheus, and the picture of its panels."""
