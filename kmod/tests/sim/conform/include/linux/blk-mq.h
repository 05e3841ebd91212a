/* SPDX-License-Identifier: GPL-2.0 */
/* The disks of the suites are in disks.h. */
