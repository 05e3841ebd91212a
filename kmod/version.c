// SPDX-License-Identifier: GPL-2.0
/*
 * The version of the whole project: scripts/version reads it here for the
 * programs, the man pages and the packages. Kbuild leaves this file out of a
 * kernel that has the target in its tree, whose version is the kernel's.
 */
#include <linux/module.h>

MODULE_VERSION("0.1");
