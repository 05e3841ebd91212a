/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_POISON_H
#define SHIM_POISON_H
#define LIST_POISON1	((void *)0x100)
#define LIST_POISON2	((void *)0x122)
#endif
