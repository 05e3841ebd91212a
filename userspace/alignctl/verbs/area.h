/* SPDX-License-Identifier: GPL-2.0 */
/* "--write START+LENGTH", the area of a device that a verb may write to. */
#ifndef ALIGNCTL_AREA_H
#define ALIGNCTL_AREA_H

#include <stdint.h>

/**
 * struct area - a part of a device
 * @start: first byte
 * @bytes: length, bytes; 0: none is named
 */
struct area {
	uint64_t start;
	uint64_t bytes;
};

/* Take the argument of --write. Return: 0, or -1 after reporting. */
int area_take(struct area *area, const char *argument);

#endif
