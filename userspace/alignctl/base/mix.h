/* SPDX-License-Identifier: GPL-2.0 */
/* Reproducible bits that look random. */
#ifndef ALIGNCTL_MIX_H
#define ALIGNCTL_MIX_H

#include <stdint.h>

/* Mix all bits of @n into each bit of the result: splitmix64's finalizer. */
static inline uint64_t mix64(uint64_t n)
{
	n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9ULL;
	n = (n ^ (n >> 27)) * 0x94d049bb133111ebULL;
	return n ^ (n >> 31);
}

#endif
