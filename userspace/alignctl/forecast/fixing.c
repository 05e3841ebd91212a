// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/bits.h"
#include "base/message.h"
#include "base/mix.h"
#include "base/units.h"
#include "decide.h"
#include "forecast/fixing.h"

#define WORD_BITS	64U
/* Neighbouring blocks whose buckets are neighbours, too. */
#define GROUP_SHIFT	6U
#define HOLD_NS		(ALIGN_DEFAULT_HOLD_MS * NS_PER_MS)
#define CACHED_NS	(ALIGN_CACHED_MS * NS_PER_MS)

/**
 * struct block - a block that the target has cached, or holds touches of
 * @number: number of the block
 * @held: number of held touches; 0: the block is cached only
 * @valid: the content of the rest is cached
 * @since_ns: time of the first held touch, or of the last write of the block
 * @age: link in fixing.held or fixing.cached
 * @same: link in the bucket, or in fixing.spare
 * @kept: bitmap of the sectors that held touches have changed; only if
 *	fixing.holds
 */
struct block {
	uint64_t number;
	uint64_t held;
	bool valid;
	uint64_t since_ns;
	TAILQ_ENTRY(block) age;
	LIST_ENTRY(block) same;
	uint64_t kept[];
};

TAILQ_HEAD(block_age, block);
LIST_HEAD(block_bucket, block);

/**
 * struct fixing - a model of the target
 * @g: geometry of the target
 * @holds: mode coalesce; else pad
 * @now_ns: time set by fixing_time()
 * @max: limit of blocks
 * @nr: number of blocks
 * @nr_held: number of blocks with held touches
 * @pressed: too many are, and are written
 * @held: blocks with held touches, oldest first
 * @cached: the other blocks, oldest first
 * @room: memory of @max blocks, of which the first @nr_used were ever used: the
 *	rest costs none
 * @block_bytes: size of a block in @room
 * @nr_used: number of blocks in @room that are or were in use
 * @spare: blocks in @room that were in use
 * @kept_words: number of words of a block's bitmap
 * @whole: last word of the bitmap of a block that lacks nothing; the others are
 *	all ones
 * @bucket: hash table of all blocks, by number
 * @nr_buckets: number of buckets, a power of two
 * @figures: figures so far; held touches count as expected only
 */
struct fixing {
	struct align_geometry g;
	bool holds;
	uint64_t now_ns;
	uint32_t max;
	uint32_t nr;
	uint32_t nr_held;
	bool pressed;
	struct block_age held;
	struct block_age cached;
	void *room;
	size_t block_bytes;
	uint32_t nr_used;
	struct block_bucket spare;
	uint32_t kept_words;
	uint64_t whole;
	struct block_bucket *bucket;
	uint32_t nr_buckets;
	struct fixing_figures figures;
};

uint32_t fixing_max_blocks(const struct align_geometry *g)
{
	return ALIGN_DEFAULT_MEMORY / g->physical;
}

struct fixing *fixing_new(const struct align_geometry *g, bool holds,
			  uint32_t max_blocks)
{
	struct fixing *f = memory_or_exit(calloc(1, sizeof(*f)));
	uint32_t sectors = align_block_sectors(g);

	f->g = *g;
	f->holds = holds;
	f->max = max_blocks;
	if (holds) {
		f->kept_words = (sectors + WORD_BITS - 1) / WORD_BITS;
		f->whole = bits_between(0, sectors < WORD_BITS ? sectors :
							     WORD_BITS);
	}
	f->block_bytes = sizeof(struct block) +
			 f->kept_words * sizeof(uint64_t);
	f->room = memory_or_exit(calloc(f->max, f->block_bytes));
	for (f->nr_buckets = 1; f->nr_buckets < f->max; f->nr_buckets *= 2)
		;
	f->bucket = memory_or_exit(calloc(f->nr_buckets, sizeof(*f->bucket)));
	TAILQ_INIT(&f->held);
	TAILQ_INIT(&f->cached);
	return f;
}

static void evict(struct fixing *f, struct block *block)
{
	TAILQ_REMOVE(&f->cached, block, age);
	LIST_REMOVE(block, same);
	LIST_INSERT_HEAD(&f->spare, block, same);
	f->nr--;
}

/* Return the bucket of the first block of a group; the others' follow it. */
static uint32_t group_bucket(uint64_t number)
{
	return (uint32_t)mix64(number >> GROUP_SHIFT);
}

static struct block_bucket *bucket_of(const struct fixing *f, uint64_t number)
{
	return &f->bucket[(group_bucket(number) + number) &
			  (f->nr_buckets - 1)];
}

static struct block *find_in(const struct block_bucket *bucket, uint64_t number)
{
	struct block *block;

	LIST_FOREACH(block, bucket, same)
		if (block->number == number)
			return block;
	return NULL;
}

static struct block *find(const struct fixing *f, uint64_t number)
{
	return find_in(bucket_of(f, number), number);
}

/* Forget which sectors held touches have changed. */
static void clear_kept(const struct fixing *f, struct block *block)
{
	/* nearly all blocks of drives have one word */
	if (f->kept_words)
		block->kept[0] = 0;
	if (f->kept_words > 1)
		memset(block->kept, 0, f->kept_words * sizeof(*block->kept));
}

/* Allocate a block, all zeroes; there is room for one. */
static struct block *new_block(struct fixing *f)
{
	struct block *block = LIST_FIRST(&f->spare);

	if (!block)
		return f->room + f->block_bytes * f->nr_used++;
	LIST_REMOVE(block, same);
	block->held = 0;
	block->valid = false;
	block->since_ns = 0;
	clear_kept(f, block);
	return block;
}

/* Find a block, or add one without content; evict the oldest one for room. */
static struct block *get(struct fixing *f, uint64_t number)
{
	struct block_bucket *bucket = bucket_of(f, number);
	struct block *block = find_in(bucket, number);

	if (block)
		return block;
	/* some block is not held, see hold_less() */
	if (f->nr == f->max) {
		f->figures.evicted = true;
		evict(f, TAILQ_FIRST(&f->cached));
	}
	block = new_block(f);
	block->number = number;
	LIST_INSERT_HEAD(bucket, block, same);
	TAILQ_INSERT_TAIL(&f->cached, block, age);
	f->nr++;
	return block;
}

/* Put a block that is on no list behind the cached ones that are older. */
static void insert_cached(struct fixing *f, struct block *block)
{
	struct block *older;

	TAILQ_FOREACH_REVERSE(older, &f->cached, block_age, age) {
		if (older->since_ns <= block->since_ns) {
			TAILQ_INSERT_AFTER(&f->cached, older, block, age);
			return;
		}
	}
	TAILQ_INSERT_HEAD(&f->cached, block, age);
}

/* Book a block that is written, which resolves @touches; @read: its rest is read first. */
static void book(struct fixing *f, uint64_t touches, bool read)
{
	f->figures.host += read;
	f->figures.avoided += touches - read;
	f->figures.written++;
}

/* Note the sectors of a touch. */
static void keep(struct block *block, const struct align_part *part)
{
	uint32_t at = part->first, end = part->first + part->count;

	if (end <= WORD_BITS) {
		block->kept[0] |= bits_between(at, end);
		return;
	}
	while (at < end) {
		uint32_t bit = at % WORD_BITS;
		uint32_t last = end - at < WORD_BITS - bit ? bit + end - at :
							     WORD_BITS;

		block->kept[at / WORD_BITS] |= bits_between(bit, last);
		at += last - bit;
	}
}

/* Tell whether held touches cover all of a block, in mode coalesce. */
static bool all_kept(const struct fixing *f, const struct block *block)
{
	uint32_t last = f->kept_words - 1, i;

	if (block->kept[last] != f->whole)
		return false;
	for (i = 0; i < last; i++)
		if (block->kept[i] != UINT64_MAX)
			return false;
	return true;
}

/* Forget a block's held touches, once the block is written or dropped. */
static void release(struct fixing *f, struct block *block)
{
	TAILQ_REMOVE(&f->held, block, age);
	f->nr_held--;
	block->held = 0;
	clear_kept(f, block);
}

/* Note that a block of which nothing is held is cached from now on. */
static void know(struct fixing *f, struct block *block)
{
	block->valid = true;
	block->since_ns = f->now_ns;
	insert_cached(f, block);
}

/* Write a block's held touches. */
static void write_back(struct fixing *f, struct block *block)
{
	book(f, block->held, !block->valid && !all_kept(f, block));
	release(f, block);
	know(f, block);
}

/* Write held blocks down to half the limit, once three quarters are held. */
static void hold_less(struct fixing *f)
{
	f->pressed = held_is_pressed(f->pressed, f->nr_held, f->max);
	if (f->pressed)
		f->figures.crowded = true;
	while (f->pressed) {
		write_back(f, TAILQ_FIRST(&f->held));
		f->pressed = held_is_pressed(f->pressed, f->nr_held, f->max);
	}
}

/* Tell whether two neighbours are of one region: others are not joined. */
static bool same_region(const struct fixing *f, uint64_t a, uint64_t b)
{
	uint32_t blocks = (1U << ALIGN_REGION_SHIFT) / f->g.physical;

	return a / blocks == b / blocks;
}

/* Return the block @distance behind another one if it is held, else NULL. */
static struct block *neighbour(const struct fixing *f,
			       const struct block *block, int distance)
{
	struct block *other = find(f, block->number + (uint64_t)distance);

	return other && other->held &&
	       same_region(f, block->number, other->number) ? other : NULL;
}

/* Tell whether a block goes with a neighbour: a young one waits for its rest. */
static bool goes_along(const struct fixing *f, const struct block *block)
{
	return block && held_goes_along(all_kept(f, block), false,
					f->now_ns - block->since_ns, HOLD_NS);
}

/* Write a block's held touches, and those of neighbours that go along. */
static void write_back_together(struct fixing *f, struct block *block)
{
	const uint64_t number = block->number;
	struct block *other;
	bool more = true;

	while (goes_along(f, other = neighbour(f, block, -1)))
		block = other;
	while (more) {
		other = neighbour(f, block, 1);
		more = block->number < number || goes_along(f, other);
		write_back(f, block);
		block = other;
	}
}

/* Write the row of held blocks in front of a block that lack nothing. */
static void write_back_row(struct fixing *f, struct block *block)
{
	while ((block = neighbour(f, block, -1)) && all_kept(f, block))
		write_back(f, block);
}

/* Hold a touch. Return: the block lacks nothing any more. */
static bool hold(struct fixing *f, struct block *block,
		 const struct align_part *part)
{
	bool whole;

	if (!block->held++) {
		TAILQ_REMOVE(&f->cached, block, age);
		TAILQ_INSERT_TAIL(&f->held, block, age);
		f->nr_held++;
		block->since_ns = f->now_ns;
	}
	keep(block, part);
	whole = all_kept(f, block);
	hold_less(f);
	return whole;
}

/*
 * Serve a touch that is acknowledged only when it is on the drive. Return: the
 * block needed no read.
 */
static bool serve(struct fixing *f, struct block *block,
		  const struct align_part *part)
{
	bool whole = block->valid;

	if (block->held) {
		keep(block, part);
		whole = whole || all_kept(f, block);
		book(f, block->held + 1, !whole);
		release(f, block);
	} else {
		/* a touch alone covers no block */
		book(f, 1, !whole);
		/* of what is cached nothing is younger, nor will be */
		if (!TAILQ_NEXT(block, age)) {
			block->valid = true;
			block->since_ns = f->now_ns;
			return whole;
		}
		TAILQ_REMOVE(&f->cached, block, age);
	}
	know(f, block);
	return whole;
}

/* Drop a block that a write, or write-zeroes, covers wholly. */
static void overwrite(struct fixing *f, struct block *block)
{
	if (block->held) {
		f->figures.avoided += block->held;
		release(f, block);
		TAILQ_INSERT_TAIL(&f->cached, block, age);
	}
	evict(f, block);
}

/*
 * Drop a block for a discard, after writing its held touches: a drive may
 * ignore the discard.
 */
static void give_up(struct fixing *f, struct block *block)
{
	if (block->held)
		write_back_together(f, block);
	evict(f, block);
}

/* Call @change for each block of the model that a range overlaps. */
static void for_range(struct fixing *f, uint64_t first, uint64_t end,
		      void (*change)(struct fixing *f, struct block *block))
{
	uint64_t number = align_block_of(&f->g, first);
	uint64_t last = align_block_of(&f->g, end - 1);
	struct block *block, *next;
	uint32_t base, i;

	if (last - number < f->nr_buckets) {
		base = group_bucket(number);
		for (; number <= last && f->nr; number++) {
			const struct block_bucket *bucket;

			if (!(number & ((1U << GROUP_SHIFT) - 1)))
				base = group_bucket(number);
			bucket = &f->bucket[(base + number) &
					    (f->nr_buckets - 1)];
			block = find_in(bucket, number);
			if (block)
				change(f, block);
		}
		return;
	}
	for (i = 0; i < f->nr_buckets; i++) {
		for (block = LIST_FIRST(&f->bucket[i]); block; block = next) {
			next = LIST_NEXT(block, same);
			if (block->number >= number && block->number <= last)
				change(f, block);
		}
	}
}

/*
 * Write the blocks that the touches of a write have completed. The first one
 * waits for the second if that is held and open: so a stream goes down in large
 * requests. What goes with a remainder of whole blocks takes the row in front
 * along.
 */
static void complete(struct fixing *f, struct block *const whole[],
		     bool waits, bool joins_remainder)
{
	unsigned int i;

	for (i = 0; i < ALIGN_MAX_TOUCHES; i++) {
		if (!whole[i] || (!i && waits && !whole[1]))
			continue;
		if (whole[i]->held)
			write_back(f, whole[i]);
		if (!i && joins_remainder)
			write_back_row(f, whole[i]);
	}
}

/*
 * Do what write and write-zeroes have in common: the target splits off the
 * partial touches of both. Return: the number of partial touches.
 */
static unsigned int do_write(struct fixing *f, uint64_t first, uint64_t end,
			     bool fua, bool zeroes)
{
	struct block *whole[ALIGN_MAX_TOUCHES] = { NULL };
	bool holds = f->holds && !fua;
	struct align_split split;
	unsigned int i, handled = 0;
	bool remainder;

	align_split_write(&f->g, first, end - first, &split);
	f->figures.expected += split.nr_touches;
	for (i = 0; i < split.nr_touches; i++) {
		const struct align_part *part = &split.touch[i];
		struct block *block;

		if (align_is_edge(&f->g, part->block)) {
			f->figures.drive++;
			continue;
		}
		handled++;
		block = get(f, part->block);
		if (holds ? hold(f, block, part) : serve(f, block, part))
			whole[part->block != split.first_block] = block;
	}
	remainder = split.remainder_sectors || handled < split.nr_touches;
	complete(f, whole, holds && handled == 2 && !remainder,
		 remainder && !zeroes);
	if (split.remainder_sectors)
		for_range(f, split.remainder_start,
			  split.remainder_start + split.remainder_sectors,
			  overwrite);
	return split.nr_touches;
}

void fixing_write(struct fixing *f, uint64_t first, uint64_t end, bool fua)
{
	do_write(f, first, end, fua, false);
}

void fixing_write_zeroes(struct fixing *f, uint64_t first, uint64_t end,
			 bool fua)
{
	f->figures.expected_zeroes += do_write(f, first, end, fua, true);
}

void fixing_discard(struct fixing *f, uint64_t first, uint64_t end)
{
	for_range(f, first, end, give_up);
}

void fixing_flush(struct fixing *f)
{
	while (!TAILQ_EMPTY(&f->held))
		write_back(f, TAILQ_FIRST(&f->held));
}

void fixing_request(struct fixing *f, bool timed,
		    const struct trace_request *request, uint64_t first,
		    uint64_t end)
{
	/* what expires until then does so at the next request as well */
	if (request->op == TRACE_READ && !request->preflush)
		return;
	if (timed)
		fixing_time(f, request->time_ns);
	if (request->preflush)
		fixing_flush(f);
	switch (request->op) {
	case TRACE_WRITE:
		fixing_write(f, first, end, request->fua);
		break;
	case TRACE_FLUSH:
		fixing_flush(f);
		break;
	case TRACE_DISCARD:
		fixing_discard(f, first, end);
		break;
	case TRACE_WRITE_ZEROES:
		fixing_write_zeroes(f, first, end, request->fua);
		break;
	case TRACE_READ:
	case TRACE_NR_OPS:
		break;
	}
}

void fixing_time(struct fixing *f, uint64_t ns)
{
	struct block *block;

	while ((block = TAILQ_FIRST(&f->held)) &&
	       ns - block->since_ns >= HOLD_NS) {
		f->now_ns = block->since_ns + HOLD_NS;
		write_back_together(f, block);
	}
	while ((block = TAILQ_FIRST(&f->cached)) &&
	       /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): off the list */
	       ns - block->since_ns >= CACHED_NS)
		evict(f, block);
	f->now_ns = ns;
}

const struct fixing_figures *fixing_figures(const struct fixing *f)
{
	return &f->figures;
}

void fixing_free(struct fixing *f)
{
	free(f->room);
	free(f->bucket);
	free(f);
}
