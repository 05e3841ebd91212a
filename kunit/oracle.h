/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An oracle of physical blocks: a walk over single sectors, by the definition
 * alone: byte x is a boundary iff (x - alignment_offset) mod P == 0. It shares
 * no arithmetic with geometry.h.
 */
#ifndef DM_ALIGN_ORACLE_H
#define DM_ALIGN_ORACLE_H

#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/minmax.h>

#include "geometry.h"

#define FAR_SECTORS	BIT_ULL(54)	/* no device is larger: 2^63 bytes */

/* Sectors of an oracle: enough for ranges over three blocks, and for some small ones. */
#define ORACLE_MOST	(5 * ALIGN_MAX_BLOCK_SECTORS)
#define ORACLE_LEAST	640

/**
 * struct oracle - the blocks found by a walk from sector to sector
 * @sectors: sectors walked over
 * @block_sectors: sectors in a block
 * @block: the block in which each sector lies
 * @pos: where in its block each sector lies
 */
struct oracle {
	int sectors;
	u32 block_sectors;
	u16 block[ORACLE_MOST];
	u16 pos[ORACLE_MOST];
};

/* A physical and a logical block size; the tests try the offsets of each. */
struct blocks {
	u32 physical;
	u32 logical;
};

static const struct blocks blocks_params[] = {
	{ 512, 512 },
	{ 1024, 512 },
	{ 2048, 512 },
	{ 4096, 512 },
	{ 8192, 512 },
	{ 16384, 512 },
	{ 32768, 512 },
	{ 65536, 512 },
	{ 4096, 4096 },
	{ 8192, 4096 },
	{ 16384, 4096 },
	{ 32768, 4096 },
	{ 65536, 4096 },
	{ 131072, 512 },
	{ 262144, 512 },
	{ 262144, 4096 },
	{ 1048576, 512 },
	{ 1048576, 4096 },
};

static inline void blocks_desc(const struct blocks *b, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "physical %u logical %u",
		 b->physical, b->logical);
}

KUNIT_ARRAY_PARAM(blocks, blocks_params, blocks_desc);

/*
 * By how many times blocks are larger than those of 128 logical blocks: as often
 * again must starts be left out, and offsets, for the same time on an emulated CPU.
 */
static inline u32 blocks_scale(const struct blocks *b)
{
	return max(b->physical / b->logical / 128, 1U);
}

/*
 * Return the sectors from one start to the next: 1 in small blocks; in large
 * ones a stride that is coprime to their size, as all starts would take minutes
 * on an emulated CPU.
 */
static inline u32 start_stride(const struct blocks *b)
{
	return b->logical / 512 *
	       (b->physical / b->logical > 16 ? 4 * blocks_scale(b) + 1 : 1);
}

/* Return the bytes from one offset to the next: all, but in very large blocks. */
static inline u32 offset_stride(const struct blocks *b)
{
	u32 scale = blocks_scale(b);

	return b->logical * (scale > 1 ? scale * scale + 1 : 1);
}

static inline bool is_boundary(u32 physical, u32 offset, int sector)
{
	return (sector * 512 - (int)offset) % (int)physical == 0;
}

static inline void oracle_walk(struct oracle *o, u32 physical, u32 offset)
{
	int sector = 0;
	u32 block = 0;
	u32 pos = 0;

	o->block_sectors = physical / 512;
	o->sectors = max(5 * physical / 512, (u32)ORACLE_LEAST);
	/* block 0 may start before the device */
	while (!is_boundary(physical, offset, sector)) {
		sector--;
		pos++;
	}
	for (sector = 0; sector < o->sectors; sector++) {
		if (sector && is_boundary(physical, offset, sector)) {
			block++;
			pos = 0;
		}
		o->block[sector] = block;
		o->pos[sector] = pos++;
	}
}

static inline struct oracle *oracle_alloc(struct kunit *test)
{
	struct oracle *o = kunit_kzalloc(test, sizeof(*o), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, o);
	return o;
}

/* Make a geometry over a range that starts at sector 0 and never ends. */
static inline void whole_device(struct kunit *test, struct align_geometry *g,
				u32 physical, u32 logical, u32 offset)
{
	KUNIT_ASSERT_NULL(test, align_geometry_init(g, physical, logical,
						    offset, 0, FAR_SECTORS));
}

#endif
