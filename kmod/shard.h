/* SPDX-License-Identifier: GPL-2.0 */
/**
 * DOC: Locks
 *
 * The device is divided into regions of 64 MiB, which 16 shards take in turn. A
 * shard has the blocks of its regions, the ranges that overlap them, and a
 * lock. A region is larger than a request, so nearly every write takes one
 * lock, and one that crosses a border takes two; only a discard or write-zeroes
 * that spans more than two regions takes all of them, always in the same order.
 * Inside these, three more locks guard state that the whole target shares: the
 * order of held blocks and their waiters; the blocks that wait for a stream; the
 * spare block. No lock is held during I/O; the longest work under a shard's
 * lock is the copy of a touch, or, while an area quiesces, to sum the counts of
 * all CPUs.
 */
#ifndef DM_ALIGN_SHARD_H
#define DM_ALIGN_SHARD_H

#include <linux/build_bug.h>

#include "align.h"

static inline u64 shard_region(const struct align_target *at, u64 number)
{
	return number >> (ALIGN_REGION_SHIFT - SECTOR_SHIFT -
			  at->geometry.block_shift);
}

/* The sector after the region of the block that @sector is in. */
static inline u64 shard_region_end(const struct align_target *at, u64 sector)
{
	u64 region = shard_region(at, align_block_of(&at->geometry, sector));

	return align_block_start(&at->geometry,
				 (region + 1) << (ALIGN_REGION_SHIFT -
						  SECTOR_SHIFT -
						  at->geometry.block_shift));
}

/*
 * log2 of the bytes of an area. A region consists of areas, which concern writes
 * where no block is in memory (quiet.c). An area lies in one shard.
 */
#define ALIGN_AREA_SHIFT	24
static_assert(ALIGN_SHARD_AREAS ==
	      1 << (ALIGN_REGION_SHIFT - ALIGN_AREA_SHIFT));

/* Whether two blocks lie in the same area of the same region. */
static inline bool area_is_same(const struct align_target *at, u64 a, u64 b)
{
	unsigned int shift = ALIGN_AREA_SHIFT - SECTOR_SHIFT -
			     at->geometry.block_shift;

	return a >> shift == b >> shift;
}

/* The index of a block's area. */
static inline unsigned int area_index(const struct align_target *at, u64 number)
{
	return (number >> (ALIGN_AREA_SHIFT - SECTOR_SHIFT -
			   at->geometry.block_shift)) % ALIGN_AREAS;
}

/* The shard of an area. */
static inline struct align_shard *shard_of_area(struct align_target *at,
						unsigned int area)
{
	return &at->engine.blocks.shard[area / ALIGN_SHARD_AREAS];
}

static inline struct align_area *area_at(struct align_target *at,
					 unsigned int area)
{
	return &at->engine.blocks.area[area];
}

/* The index of a block's shard. */
static inline unsigned int shard_index(const struct align_target *at, u64 number)
{
	return shard_region(at, number) % ALIGN_SHARDS;
}

/* The shard of a block. */
static inline struct align_shard *shard_of(struct align_target *at, u64 number)
{
	return &at->engine.blocks.shard[shard_index(at, number)];
}

static inline struct shard_span shard_span(const struct align_target *at,
					   u64 first, u64 last)
{
	u64 from = shard_region(at, first);
	u64 to = shard_region(at, last);
	unsigned int a = from % ALIGN_SHARDS;
	unsigned int b = to % ALIGN_SHARDS;

	return (struct shard_span) {
		.first = min(a, b), .second = max(a, b), .all = to - from > 1 };
}

/* The index of the first shard of a span. */
static inline unsigned int shard_first(const struct shard_span *span)
{
	return span->all ? 0 : span->first;
}

/* The index of the one after @i, or ALIGN_SHARDS. */
static inline unsigned int shard_next(const struct shard_span *span,
				      unsigned int i)
{
	if (span->all)
		return i + 1;
	return i < span->second ? span->second : ALIGN_SHARDS;
}

static inline bool shard_in_span(const struct shard_span *span, unsigned int i)
{
	return span->all || i == span->first || i == span->second;
}

/*
 * Locks taken in a loop or under a condition are more than sparse can follow:
 * it is told that none is held. Interrupts are off.
 */
static inline void shard_lock(struct align_shard *shard)
{
	spin_lock(&shard->lock);
	__release(&shard->lock);
}

static inline bool shard_trylock(struct align_shard *shard)
{
	if (!spin_trylock(&shard->lock))
		return false;
	__release(&shard->lock);
	return true;
}

static inline void shard_unlock(struct align_shard *shard)
{
	__acquire(&shard->lock);
	spin_unlock(&shard->lock);
}

static inline void span_lock(struct align_target *at,
			     const struct shard_span *span,
			     unsigned long *flags)
{
	unsigned int i = shard_first(span);

	spin_lock_irqsave(&at->engine.blocks.shard[i].lock, *flags);
	__release(&at->engine.blocks.shard[i].lock);
	while ((i = shard_next(span, i)) < ALIGN_SHARDS)
		shard_lock(&at->engine.blocks.shard[i]);
}

static inline void span_unlock(struct align_target *at,
			       const struct shard_span *span,
			       unsigned long flags)
{
	unsigned int first = shard_first(span);
	unsigned int i = first;

	while ((i = shard_next(span, i)) < ALIGN_SHARDS)
		shard_unlock(&at->engine.blocks.shard[i]);
	__acquire(&at->engine.blocks.shard[first].lock);
	spin_unlock_irqrestore(&at->engine.blocks.shard[first].lock, flags);
}

/* Of the locks of a span, assert that the first and the second one are held. */
static inline void span_assert_held(const struct align_target *at,
				    const struct shard_span *span)
{
	lockdep_assert_held(&at->engine.blocks.shard[span->first].lock);
	lockdep_assert_held(&at->engine.blocks.shard[span->second].lock);
}

#endif
