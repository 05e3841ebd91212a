/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_CONST_H
#define SHIM_CONST_H
#include <linux/kernel.h>
#define ALIGN(x, a)		round_up(x, a)
#define __KERNEL_DIV_ROUND_UP(n, d) DIV_ROUND_UP(n, d)
#endif
