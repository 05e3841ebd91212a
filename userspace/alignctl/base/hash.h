/* SPDX-License-Identifier: GPL-2.0 */
/* Spreads numbers that may all be multiples of something over buckets. */
#ifndef ALIGNCTL_HASH_H
#define ALIGNCTL_HASH_H

#include <stdint.h>

/* The bucket of @number, of @nr_buckets, a power of two: the kernel's hash_64(). */
static inline uint32_t hash_bucket(uint64_t number, uint32_t nr_buckets)
{
	return (uint32_t)((number * 0x61C8864680B583EBULL) >> 32) &
	       (nr_buckets - 1);
}

#endif
