// SPDX-License-Identifier: GPL-2.0
/*
 * A tree of leaves with a bit for each sector, and runs where sectors follow one
 * another.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/cleanup.h"
#include "base/message.h"
#include "base/mix.h"
#include "forecast/coverage.h"

#define WORD_BITS	64U
#define LEAF_WORDS	64U
#define LEAF_BITS	(LEAF_WORDS * WORD_BITS)

#define NO_LEAF		UINT32_MAX
#define NO_BLOCK	UINT64_MAX

/* Runs that are found before each count goes over them. */
#define MAX_RUNS	256U

/**
 * struct leaf - a stretch of the device
 * @number: number of the leaf, from the start of the device
 * @next: index of another leaf in the same bucket, or NO_LEAF
 * @some: a bit for each word in which a sector is written
 * @word: a bit for each sector of the leaf
 */
struct leaf {
	uint64_t number;
	uint32_t next;
	uint64_t some;
	uint64_t word[LEAF_WORDS];
};

static_assert(LEAF_WORDS == WORD_BITS, "a word has a bit for each word of a leaf");

/**
 * struct run - sectors that are written, between two that are not
 * @first: first sector
 * @end: the sector behind them
 */
struct run {
	uint64_t first;
	uint64_t end;
};

/**
 * struct coverage - one pass
 * @from: number of the leaf at which this pass begins
 * @to: number of the leaf before which it ends; lowered when memory runs out
 * @max: limit of leaves
 * @nr: number of leaves
 * @room: allocated length of @leaf
 * @leaf: the leaves, unsorted
 * @bucket: index of the first leaf of each bucket, or NO_LEAF
 * @nr_buckets: number of buckets, a power of two
 * @run: runs of sectors that are not counted yet, the last of which may go on
 * @nr_runs: number of elements of @run in use
 */
struct coverage {
	uint64_t from;
	uint64_t to;
	uint32_t max;
	uint32_t nr;
	uint32_t room;
	struct leaf *leaf;
	uint32_t *bucket;
	uint32_t nr_buckets;
	struct run run[MAX_RUNS];
	uint32_t nr_runs;
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

struct coverage *coverage_new(uint32_t max_leaves)
{
	struct coverage *c = memory_or_exit(calloc(1, sizeof(*c)));

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

static int by_number(const void *a, const void *b, void *context)
{
	const struct leaf *leaf = context;
	uint64_t x = leaf[*(const uint32_t *)a].number;
	uint64_t y = leaf[*(const uint32_t *)b].number;

	return (x > y) - (x < y);
}

/* Return the indices of the leaves by rising number, for free(). */
static uint32_t *sort_leaves(const struct coverage *c)
{
	uint32_t *sorted = memory_or_exit(calloc(c->nr + 1, sizeof(*sorted)));
	uint32_t i;

	for (i = 0; i < c->nr; i++)
		sorted[i] = i;
	qsort_r(sorted, c->nr, sizeof(*sorted), by_number, c->leaf);
	return sorted;
}

/* Leave the upper half of the leaves to a later pass. */
static void give_up_half(struct coverage *c)
{
	CLEANUP_FREE uint32_t *sorted = sort_leaves(c);
	uint32_t i, kept = 0;

	c->to = c->leaf[sorted[(c->nr + 1) / 2]].number;
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

void coverage_add(struct coverage *c, uint64_t first, uint64_t end)
{
	uint64_t at = first;

	if (at / LEAF_BITS < c->from)
		at = c->from * LEAF_BITS;
	while (at < end && at / LEAF_BITS < c->to) {
		struct leaf *leaf = get_leaf(c, at / LEAF_BITS);

		if (!leaf)
			return;
		do {
			uint32_t word = at / WORD_BITS % LEAF_WORDS;
			uint32_t bit = at % WORD_BITS;
			uint32_t last = end - at < WORD_BITS - bit ?
					bit + (uint32_t)(end - at) : WORD_BITS;

			leaf->word[word] |= bits_between(bit, last);
			leaf->some |= (uint64_t)1 << word;
			at += last - bit;
		} while (at < end && at % LEAF_BITS);
	}
}

struct coverage_count coverage_count_of(const struct align_geometry *g)
{
	return (struct coverage_count) {
		.g = *g, .last = NO_BLOCK, .open = NO_BLOCK,
	};
}

/* Count a block of which a sector is not written, unless it is the last such one. */
static inline void count_open(struct coverage_count *count, uint64_t block)
{
	if (block == count->open || align_is_edge(&count->g, block))
		return;
	count->rmin++;
	count->open = block;
}

/* Count the blocks of rising runs of sectors. */
static void count_runs(struct coverage_count *to, const struct run *run,
		       uint32_t nr)
{
	struct coverage_count count = *to;
	uint32_t i;

	for (i = 0; i < nr; i++) {
		uint64_t first = align_block_of(&count.g, run[i].first);
		uint64_t last = align_block_of(&count.g, run[i].end - 1);

		count.distinct += last - first + (first != count.last);
		count.last = last;
		if (align_sector_in_block(&count.g, run[i].first))
			count_open(&count, first);
		if (align_sector_in_block(&count.g, run[i].end))
			count_open(&count, last);
	}
	*to = count;
}

/* Count all runs but the last @left of them. */
static void count_all(struct coverage *c, struct coverage_count *const counts[],
		      unsigned int nr, uint32_t left)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		count_runs(counts[i], c->run, c->nr_runs - left);
	if (left)
		c->run[0] = c->run[c->nr_runs - 1];
	c->nr_runs = left;
}

/* Add the runs of a word whose first sector is @at. */
static void add_runs(struct coverage *c, uint64_t word, uint64_t at)
{
	while (word) {
		uint64_t first = at + bits_lowest(word);
		/* the lowest run becomes one bit, behind it */
		uint64_t carried = word + (word & -word);
		uint64_t behind = carried & ~word;
		uint64_t end = at + (behind ? bits_lowest(behind) : WORD_BITS);

		word &= carried;
		if (c->nr_runs && c->run[c->nr_runs - 1].end == first)
			c->run[c->nr_runs - 1].end = end;
		else
			c->run[c->nr_runs++] = (struct run) { first, end };
	}
}

/* Count the blocks of a leaf. */
static void count_leaf(struct coverage *c, const struct leaf *leaf,
		       struct coverage_count *const counts[], unsigned int nr)
{
	uint64_t some;

	for (some = leaf->some; some; some &= some - 1) {
		uint32_t word = bits_lowest(some);

		if (c->nr_runs > MAX_RUNS - WORD_BITS / 2)
			count_all(c, counts, nr, 1);
		add_runs(c, leaf->word[word],
			 leaf->number * LEAF_BITS + word * WORD_BITS);
	}
}

bool coverage_end_pass(struct coverage *c,
		       struct coverage_count *const counts[], unsigned int nr)
{
	CLEANUP_FREE uint32_t *sorted = sort_leaves(c);
	bool more = c->to != UINT64_MAX;
	uint32_t i;

	for (i = 0; i < c->nr; i++)
		count_leaf(c, &c->leaf[sorted[i]], counts, nr);
	/* the last run may go on in the next pass */
	count_all(c, counts, nr, more && c->nr_runs);
	c->nr = 0;
	empty_buckets(c);
	c->from = c->to;
	c->to = UINT64_MAX;
	return more;
}
