# SPDX-License-Identifier: GPL-2.0
"""The developers' programs, room by room; none is installed.

linux       kernels: fetched, built, and the modules built for them
machines    QEMU's guests and User Mode Linux with their emulated drives
plugins     the pytest plugins, first of all those that run tests inside guests
proof       runs beside or beyond `make check`: proof, soak, coverage, fuzzing, KUnit
demo        dm-align shown on emulated drives
conform     alignctl conform on devices of the kernel and on dm-align
bench       dm-align measured against raw, dm-linear and dm-ebs

Each room imports from the rooms above it and from the files here.
"""
