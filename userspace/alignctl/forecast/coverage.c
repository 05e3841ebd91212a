// SPDX-License-Identifier: GPL-2.0
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/message.h"
#include "base/mix.h"
#include "forecast/coverage.h"

/*
 * Bits count from the start of block 0, which may lie before the device, so
 * that no block lies in two leaves, and none of up to 64 sectors in two words.
 */
#define WORD_BITS	64U
#define LEAF_WORDS	64U
#define LEAF_BITS	(LEAF_WORDS * WORD_BITS)

#define NO_LEAF		UINT32_MAX

/**
 * struct leaf - a stretch of the device
 * @number: number of the leaf, from the start of block 0
 * @next: index of another leaf in the same bucket, or NO_LEAF
 * @some: a bit for each word in which a sector is written
 * @full: a bit for each word in which all sectors are written
 * @word: a bit for each sector of the leaf
 */
struct leaf {
	uint64_t number;
	uint32_t next;
	uint64_t some;
	uint64_t full;
	uint64_t word[LEAF_WORDS];
};

static_assert(LEAF_WORDS == WORD_BITS, "a word has a bit for each word of a leaf");

/**
 * struct coverage - one pass
 * @g: geometry of the device
 * @from: number of the leaf at which this pass begins
 * @to: number of the leaf before which it ends; lowered when memory runs out
 * @max: limit of leaves
 * @nr: number of leaves
 * @room: allocated length of @leaf
 * @leaf: the leaves, unsorted
 * @bucket: index of the first leaf of each bucket, or NO_LEAF
 * @nr_buckets: number of buckets, a power of two
 */
struct coverage {
	struct align_geometry g;
	uint64_t from;
	uint64_t to;
	uint32_t max;
	uint32_t nr;
	uint32_t room;
	struct leaf *leaf;
	uint32_t *bucket;
	uint32_t nr_buckets;
};

/* Empty all buckets, of which there are as many as there is room for leaves. */
static void empty_buckets(struct coverage *c)
{
	c->nr_buckets = c->room;
	c->bucket = memory_or_exit(reallocarray(c->bucket, c->nr_buckets,
						sizeof(*c->bucket)));
	memset(c->bucket, 0xff, c->nr_buckets * sizeof(*c->bucket));
}

static uint32_t *bucket_of(struct coverage *c, uint64_t number)
{
	return &c->bucket[mix64(number) & (c->nr_buckets - 1)];
}

static void put_in_bucket(struct coverage *c, uint32_t i)
{
	uint32_t *bucket = bucket_of(c, c->leaf[i].number);

	c->leaf[i].next = *bucket;
	*bucket = i;
}

struct coverage *coverage_new(const struct align_geometry *g,
			      uint32_t max_leaves)
{
	struct coverage *c = memory_or_exit(calloc(1, sizeof(*c)));

	c->g = *g;
	c->to = UINT64_MAX;
	c->max = max_leaves;
	c->room = 1;
	c->leaf = memory_or_exit(malloc(sizeof(*c->leaf)));
	empty_buckets(c);
	return c;
}

void coverage_free(struct coverage *c)
{
	if (!c)
		return;
	free(c->leaf);
	free(c->bucket);
	free(c);
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Leave the upper half of the leaves to a later pass. */
static void give_up_half(struct coverage *c)
{
	uint64_t *number = memory_or_exit(calloc(c->nr, sizeof(*number)));
	uint32_t i, kept = 0;

	for (i = 0; i < c->nr; i++)
		number[i] = c->leaf[i].number;
	qsort(number, c->nr, sizeof(*number), by_number);
	c->to = number[(c->nr + 1) / 2];
	free(number);
	empty_buckets(c);
	for (i = 0; i < c->nr; i++) {
		if (c->leaf[i].number >= c->to)
			continue;
		if (i != kept)
			c->leaf[kept] = c->leaf[i];
		put_in_bucket(c, kept++);
	}
	c->nr = kept;
}

static void make_room(struct coverage *c)
{
	uint32_t i;

	if (c->room >= c->max) {
		give_up_half(c);
		return;
	}
	c->room *= 2;
	c->leaf = memory_or_exit(reallocarray(c->leaf, c->room,
					      sizeof(*c->leaf)));
	empty_buckets(c);
	for (i = 0; i < c->nr; i++)
		put_in_bucket(c, i);
}

/* Find or add a leaf; NULL if it is left to a later pass. */
static struct leaf *get_leaf(struct coverage *c, uint64_t number)
{
	struct leaf *leaf;
	uint32_t i;

	for (i = *bucket_of(c, number); i != NO_LEAF; i = c->leaf[i].next)
		if (c->leaf[i].number == number)
			return &c->leaf[i];
	if (c->nr == c->room)
		make_room(c);
	if (number >= c->to)
		return NULL;
	leaf = &c->leaf[c->nr];
	memset(leaf, 0, sizeof(*leaf));
	leaf->number = number;
	put_in_bucket(c, c->nr++);
	return leaf;
}

/* Note the written bits of a leaf's word. */
static void mark(struct leaf *leaf, uint32_t word, uint64_t written)
{
	uint64_t bit = (uint64_t)1 << word;

	leaf->word[word] |= written;
	leaf->some |= bit;
	if (leaf->word[word] == UINT64_MAX)
		leaf->full |= bit;
}

void coverage_add(struct coverage *c, uint64_t first, uint64_t end)
{
	uint64_t at = first + c->g.lead, stop = end + c->g.lead;

	if (at / LEAF_BITS < c->from)
		at = c->from * LEAF_BITS;
	while (at < stop && at / LEAF_BITS < c->to) {
		struct leaf *leaf = get_leaf(c, at / LEAF_BITS);

		if (!leaf)
			return;
		do {
			uint32_t bit = at % WORD_BITS;
			uint32_t last = stop - at < WORD_BITS - bit ?
					bit + (uint32_t)(stop - at) : WORD_BITS;

			mark(leaf, at / WORD_BITS % LEAF_WORDS,
			     bits_between(bit, last));
			at += last - bit;
		} while (at < stop && at % LEAF_BITS);
	}
}

/**
 * struct tally - blocks of one geometry
 * @distinct: number of blocks that were written
 * @open: number of those whose rest no write covers, without edge blocks
 * @first: first bit of the first block that is no edge block
 * @end: the bit after the last such block
 */
struct tally {
	uint64_t distinct;
	uint64_t open;
	uint64_t first;
	uint64_t end;
};

/*
 * Return a mask of 64 bits, for @scale sectors each from sector @at on: those that
 * lie in no edge block.
 */
static uint64_t inside(const struct tally *tally, uint64_t at, uint32_t scale)
{
	uint64_t end = at + WORD_BITS * scale;

	if (at >= tally->first && end <= tally->end)
		return UINT64_MAX;
	if (end <= tally->first || at >= tally->end)
		return 0;
	return bits_between(at < tally->first ? (tally->first - at) / scale : 0,
			    end > tally->end ? (tally->end - at) / scale :
					       WORD_BITS);
}

/*
 * Count the blocks, of @group bits each, in 64 bits, each for @scale sectors of
 * which @some or the whole is written (@full), from sector @at on.
 */
static void count_blocks(struct tally *tally, uint32_t group, uint64_t some,
			 uint64_t full, uint64_t at, uint32_t scale)
{
	uint64_t lowest = UINT64_MAX / (((uint64_t)1 << group) - 1);
	uint32_t i;

	/* gather each block in its lowest bit */
	for (i = 1; i < group; i *= 2) {
		some |= some >> i;
		full &= full >> i;
	}
	some &= lowest;
	tally->distinct += bits_count(some);
	full = some & ~full;
	if (full)
		tally->open += bits_count(full & inside(tally, at, scale));
}

void coverage_count(const struct coverage *c, const struct align_geometry *g,
		    uint64_t *distinct, uint64_t *rmin)
{
	/* block 0 of @g may start whole blocks behind block 0 of the coverage */
	uint64_t ahead = (c->g.lead - g->lead) >> g->block_shift;
	struct tally tally = {
		.first = (ahead + g->first_whole) << g->block_shift,
		.end = (ahead + g->end_whole) << g->block_shift,
	};
	uint32_t sectors = align_block_sectors(g), i;

	for (i = 0; i < c->nr; i++) {
		const struct leaf *leaf = &c->leaf[i];
		uint64_t at = leaf->number * LEAF_BITS, some = leaf->some;

		if (sectors >= WORD_BITS) {
			count_blocks(&tally, sectors / WORD_BITS, some,
				     leaf->full, at, WORD_BITS);
			continue;
		}
		tally.distinct += bits_count(leaf->full) * (WORD_BITS / sectors);
		for (some &= ~leaf->full; some; some &= some - 1) {
			uint32_t word = bits_lowest(some);

			count_blocks(&tally, sectors, leaf->word[word],
				     leaf->word[word], at + word * WORD_BITS, 1);
		}
	}
	*distinct += tally.distinct;
	*rmin += tally.open;
}

bool coverage_end_pass(struct coverage *c, uint64_t *distinct, uint64_t *rmin)
{
	bool more = c->to != UINT64_MAX;

	coverage_count(c, &c->g, distinct, rmin);
	c->nr = 0;
	empty_buckets(c);
	c->from = c->to;
	c->to = UINT64_MAX;
	return more;
}
