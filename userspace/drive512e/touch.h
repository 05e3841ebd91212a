/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Find the physical blocks that a request covers, and those covered in part.
 *
 * The drive has its own arithmetic, so that its counts are independent of the
 * host's, for which it is the witness.  Both share only the definition of a
 * boundary: byte x of the drive is one iff (x - alignment) mod physical == 0.
 *
 * Below the plugin, positions are "media bytes": byte offsets plus (physical -
 * alignment), so that block n starts at media byte n * physical even if the
 * drive's first block begins before its first addressable byte.
 */
#ifndef DRIVE512E_TOUCH_H
#define DRIVE512E_TOUCH_H

#include <stdbool.h>
#include <stdint.h>

#define SECTOR_SIZE 512u

/* Block size and offset, bytes; physical a power of two, alignment less. */
struct block_map {
	uint32_t physical;
	uint32_t alignment;
};

/* The physical blocks of one request that is not empty. */
struct touch {
	uint64_t first;		/* number of the first block covered at all */
	uint64_t last;		/* number of the last block covered at all */
	bool head;		/* the request starts inside a block */
	bool tail;		/* the request ends inside a block */
	unsigned int partial;	/* blocks covered in part: 0, 1 or 2 */
};

static inline uint64_t media_byte(const struct block_map *map, uint64_t offset)
{
	return offset + map->physical - map->alignment;
}

static inline uint64_t block_floor(uint64_t media, uint32_t physical)
{
	return media & ~(uint64_t)(physical - 1);
}

static inline uint64_t block_ceil(uint64_t media, uint32_t physical)
{
	return block_floor(media + physical - 1, physical);
}

/* Find the blocks of a request; @count must not be 0. */
static inline struct touch touch_of(const struct block_map *map,
				    uint64_t offset, uint64_t count)
{
	uint64_t start = media_byte(map, offset);
	uint64_t end = start + count;
	struct touch t = {
		.first = start / map->physical,
		.last = (end - 1) / map->physical,
		.head = start % map->physical != 0,
		.tail = end % map->physical != 0,
	};

	if (t.first == t.last)
		t.partial = t.head || t.tail;
	else
		t.partial = (unsigned int)t.head + (unsigned int)t.tail;
	return t;
}

#endif
