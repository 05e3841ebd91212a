/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_CONTAINER_OF_H
#define SHIM_CONTAINER_OF_H
#include <stddef.h>
#define container_of(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))
#define typeof_member(type, member) typeof(((type *)0)->member)
#endif
