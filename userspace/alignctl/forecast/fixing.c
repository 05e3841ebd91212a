// SPDX-License-Identifier: GPL-2.0
/*
 * The model's blocks: held, cached and evicted by the target's rules, in both
 * modes at the same time.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/bits.h"
#include "base/message.h"
#include "base/units.h"
#include "decide.h"
#include "forecast/fixing.h"

/* Blocks that there is room for at first, and chunks of any number of blocks. */
#define FIRST_ROOM	16U
#define MOST_CHUNKS	32U
#define WORD_BITS	64U
#define HOLD_NS		(ALIGN_DEFAULT_HOLD_MS * NS_PER_MS)
#define CACHED_NS	(ALIGN_CACHED_MS * NS_PER_MS)

/* 2^64 by the golden ratio: spreads neighbouring numbers over the high bits. */
#define SPREAD		0x9e3779b97f4a7c15ULL

/**
 * struct stay - a block in one of the modes
 * @since_ns: time of the first held touch, or of the last write of the block
 * @age: link in fixing.held, or in memory.cached
 */
struct stay {
	uint64_t since_ns;
	TAILQ_ENTRY(block) age;
};

/**
 * struct block - a block that the target has in memory in some mode
 * @number: number of the block
 * @same: link in the bucket
 * @spare: link in fixing.spare
 * @modes: a bit for each mode in which the target has the block in memory
 * @in: the block in these modes
 * @held: number of touches that mode coalesce holds; 0: it is cached only
 * @valid: the content of the rest was cached when the first touch was held
 * @first: first sector of the only held touch
 * @end: sector behind it
 * @kept: bitmap of the sectors that held touches have changed, if there are
 *	several
 */
struct block {
	uint64_t number;
	LIST_ENTRY(block) same;
	SLIST_ENTRY(block) spare;
	uint32_t modes;
	bool valid;
	struct stay in[FIXING_NR_MODES];
	uint64_t held;
	uint32_t first;
	uint32_t end;
	uint64_t kept[];
};

TAILQ_HEAD(block_age, block);
LIST_HEAD(block_bucket, block);
SLIST_HEAD(block_spare, block);

/**
 * struct memory - the blocks in memory in one of the modes
 * @nr: number of blocks
 * @cached: blocks without held touches, oldest first
 * @host: number of blocks read
 * @evicted: there were too many blocks
 */
struct memory {
	uint32_t nr;
	struct block_age cached;
	uint64_t host;
	bool evicted;
};

/**
 * struct fixing - a model of the target in both modes
 * @g: geometry of the target
 * @timed: requests come at their times
 * @now_ns: time of the last request; 0 if not @timed
 * @went_back: time went back, as it does at the end of a page cache
 * @max: limit of blocks in a mode
 * @in: each mode
 * @expected: number of touches of writes and write-zeroes
 * @expected_zeroes: number of touches of write-zeroes
 * @drive: number of touches of edge blocks
 * @resolved: number of touches that mode coalesce has resolved, by a read or
 *	without; mode pad resolves each at once
 * @nr_held: number of blocks with held touches, in mode coalesce
 * @crowded: too many were
 * @held: blocks with held touches, oldest first
 * @written: number of blocks written in mode coalesce; in mode pad, each touch
 *	writes one
 * @chunk: memory for blocks: FIRST_ROOM, and then as many as in all chunks before
 * @nr_chunks: number of chunks
 * @nr_blocks: number of blocks in all chunks
 * @fresh: the first block of the last chunk that was never in use
 * @nr_fresh: number of blocks from there on
 * @block_bytes: size of a block
 * @spare: blocks that were in use
 * @kept_words: number of words of a block's bitmap
 * @whole: last word of the bitmap of a block that lacks nothing; the others are
 *	all ones
 * @bucket: hash table of all blocks, by number
 * @bucket_shift: 64 less log2 of the number of buckets
 */
struct fixing {
	struct align_geometry g;
	bool timed;
	uint64_t now_ns;
	bool went_back;
	uint32_t max;
	struct memory in[FIXING_NR_MODES];
	uint64_t expected;
	uint64_t expected_zeroes;
	uint64_t drive;
	uint64_t resolved;
	uint32_t nr_held;
	bool crowded;
	struct block_age held;
	uint64_t written;
	void *chunk[MOST_CHUNKS];
	unsigned int nr_chunks;
	uint32_t nr_blocks;
	void *fresh;
	uint32_t nr_fresh;
	size_t block_bytes;
	struct block_spare spare;
	uint32_t kept_words;
	uint64_t whole;
	struct block_bucket *bucket;
	uint32_t bucket_shift;
};

uint32_t fixing_max_blocks(const struct align_geometry *g)
{
	return ALIGN_DEFAULT_MEMORY / g->physical;
}

static uint64_t nr_buckets(const struct fixing *f)
{
	return (uint64_t)1 << (64 - f->bucket_shift);
}

static inline struct block_bucket *bucket_of(const struct fixing *f,
					     uint64_t number)
{
	return &f->bucket[number * SPREAD >> f->bucket_shift];
}

static inline struct block *find_in(const struct block_bucket *bucket,
				    uint64_t number)
{
	struct block *block;

	LIST_FOREACH(block, bucket, same)
		if (block->number == number)
			return block;
	return NULL;
}

static inline struct block *find_block(const struct fixing *f, uint64_t number)
{
	return find_in(bucket_of(f, number), number);
}

/* Double the number of buckets, or make the first ones. */
static void add_buckets(struct fixing *f)
{
	struct block_bucket *old = f->bucket;
	uint64_t nr = old ? nr_buckets(f) : 0, i;
	struct block *block;

	f->bucket_shift = 64 - align_log2(2 * f->nr_blocks);
	f->bucket = memory_or_exit(calloc(nr_buckets(f), sizeof(*f->bucket)));
	for (i = 0; i < nr; i++) {
		while ((block = LIST_FIRST(&old[i]))) {
			LIST_REMOVE(block, same);
			LIST_INSERT_HEAD(bucket_of(f, block->number), block,
					 same);
		}
	}
	free(old);
}

/* Double the room for blocks: most disks of a trace with many need little. */
static __attribute__((noinline)) void add_room(struct fixing *f)
{
	const uint32_t nr = f->nr_blocks ? f->nr_blocks : FIRST_ROOM;

	f->fresh = memory_or_exit(calloc(nr, f->block_bytes));
	f->nr_fresh = nr;
	f->nr_blocks += nr;
	f->chunk[f->nr_chunks++] = f->fresh;
	add_buckets(f);
}

struct fixing *fixing_new(const struct align_geometry *g, bool timed,
			  uint32_t max_blocks)
{
	struct fixing *f = memory_or_exit(calloc(1, sizeof(*f)));
	uint32_t sectors = align_block_sectors(g);

	f->g = *g;
	f->timed = timed;
	f->max = max_blocks;
	f->kept_words = (sectors + WORD_BITS - 1) / WORD_BITS;
	f->whole = bits_between(0, sectors < WORD_BITS ? sectors : WORD_BITS);
	f->block_bytes = sizeof(struct block) +
			 f->kept_words * sizeof(uint64_t);
	TAILQ_INIT(&f->held);
	TAILQ_INIT(&f->in[FIXING_PAD].cached);
	TAILQ_INIT(&f->in[FIXING_COALESCE].cached);
	add_room(f);
	return f;
}

/* Find a block, or add one that no mode has in memory yet. */
static __always_inline struct block *get_block(struct fixing *f, uint64_t number)
{
	struct block_bucket *bucket = bucket_of(f, number);
	struct block *block = find_in(bucket, number);

	if (block)
		return block;
	block = SLIST_FIRST(&f->spare);
	if (block) {
		SLIST_REMOVE_HEAD(&f->spare, spare);
	} else {
		if (!f->nr_fresh) {
			add_room(f);
			bucket = bucket_of(f, number);
		}
		block = f->fresh;
		f->fresh += f->block_bytes;
		f->nr_fresh--;
	}
	block->number = number;
	LIST_INSERT_HEAD(bucket, block, same);
	return block;
}

/* Tell whether the target has a block in memory in a mode. */
static bool is_in(const struct block *block, enum fixing_mode mode)
{
	return block->modes & 1U << mode;
}

/* Remove a block, which is on no list of a mode, from the memory in that mode. */
static inline void leave_memory(struct fixing *f, enum fixing_mode mode,
				struct block *block)
{
	f->in[mode].nr--;
	block->modes &= ~(1U << mode);
	if (block->modes)
		return;
	LIST_REMOVE(block, same);
	SLIST_INSERT_HEAD(&f->spare, block, spare);
}

static inline void evict_block(struct fixing *f, enum fixing_mode mode,
			       struct block *block)
{
	TAILQ_REMOVE(&f->in[mode].cached, block, in[mode].age);
	leave_memory(f, mode, block);
}

/* Take a block into memory in a mode; evict the oldest one for room. */
static inline void enter_memory(struct fixing *f, enum fixing_mode mode,
				struct block *block)
{
	struct memory *memory = &f->in[mode];

	/* some block is not held, see hold_less() */
	if (memory->nr == f->max) {
		memory->evicted = true;
		evict_block(f, mode, TAILQ_FIRST(&memory->cached));
	}
	memory->nr++;
	block->modes |= 1U << mode;
}

/*
 * Book a block that mode coalesce writes, which resolves @touches; @read: its rest is
 * read first.
 */
static inline void book_touches(struct fixing *f, uint64_t touches, bool read)
{
	if (read)
		f->in[FIXING_COALESCE].host++;
	f->resolved += touches;
	f->written++;
}

/* Note some sectors in a bitmap. */
static void set_bits(uint64_t *word, uint32_t at, uint32_t end)
{
	while (at < end) {
		uint32_t bit = at % WORD_BITS;
		uint32_t last = end - at < WORD_BITS - bit ? bit + end - at :
							     WORD_BITS;

		word[at / WORD_BITS] |= bits_between(bit, last);
		at += last - bit;
	}
}

/* Note the sectors of one more held touch of a block. */
static void keep_more(const struct fixing *f, struct block *block,
		      uint32_t first, uint32_t end)
{
	if (block->held++ == 1) {
		memset(block->kept, 0, f->kept_words * sizeof(*block->kept));
		set_bits(block->kept, block->first, block->end);
	}
	set_bits(block->kept, first, end);
}

/* Tell whether held touches cover all of a block. */
static bool all_kept(const struct fixing *f, const struct block *block)
{
	uint32_t last = f->kept_words - 1, i;

	if (block->held < 2 || block->kept[last] != f->whole)
		return false;
	for (i = 0; i < last; i++)
		if (block->kept[i] != UINT64_MAX)
			return false;
	return true;
}

/* Forget a block's held touches, once the block is written or dropped. */
static inline void release_block(struct fixing *f, struct block *block)
{
	TAILQ_REMOVE(&f->held, block, in[FIXING_COALESCE].age);
	f->nr_held--;
	block->held = 0;
}

/* Put a block that is on no list of a mode behind the cached ones that are older. */
static void insert_by_age(struct memory *memory, enum fixing_mode mode,
			  struct block *block)
{
	uint64_t since_ns = block->in[mode].since_ns;
	struct block *older;

	TAILQ_FOREACH_REVERSE(older, &memory->cached, block_age, in[mode].age) {
		if (older->in[mode].since_ns <= since_ns) {
			TAILQ_INSERT_AFTER(&memory->cached, older, block,
					   in[mode].age);
			return;
		}
	}
	TAILQ_INSERT_HEAD(&memory->cached, block, in[mode].age);
}

/* Note that a block that is on no list of a mode is cached there from now on. */
static inline void cache_block(struct fixing *f, enum fixing_mode mode,
			       struct block *block)
{
	block->in[mode].since_ns = f->now_ns;
	if (f->went_back)
		insert_by_age(&f->in[mode], mode, block);
	else
		TAILQ_INSERT_TAIL(&f->in[mode].cached, block, in[mode].age);
}

/* Write a block's held touches. */
static inline void write_back(struct fixing *f, struct block *block)
{
	book_touches(f, block->held, !block->valid && !all_kept(f, block));
	release_block(f, block);
	cache_block(f, FIXING_COALESCE, block);
}

/* Write held blocks down to half the limit, once three quarters are held. */
static void hold_less(struct fixing *f)
{
	bool pressed = held_is_pressed(false, f->nr_held, f->max);

	if (pressed)
		f->crowded = true;
	while (pressed) {
		write_back(f, TAILQ_FIRST(&f->held));
		pressed = held_is_pressed(true, f->nr_held, f->max);
	}
}

/* Tell whether two neighbours are of one region: others are not joined. */
static bool same_region(const struct fixing *f, uint64_t a, uint64_t b)
{
	uint32_t shift = ALIGN_REGION_SHIFT - ALIGN_SECTOR_SHIFT -
			 f->g.block_shift;

	return a >> shift == b >> shift;
}

/* Return the block @distance behind another one if it is held, else NULL. */
static inline struct block *find_neighbour(const struct fixing *f,
					   const struct block *block,
					   int distance)
{
	struct block *other = find_block(f, block->number + (uint64_t)distance);

	return other && other->held &&
	       same_region(f, block->number, other->number) ? other : NULL;
}

/* Tell whether a block goes with a neighbour: a young one waits for its rest. */
static bool goes_along(const struct fixing *f, const struct block *block)
{
	uint64_t age_ns;

	if (!block)
		return false;
	age_ns = f->now_ns - block->in[FIXING_COALESCE].since_ns;
	return held_goes_along(all_kept(f, block), false, age_ns, HOLD_NS);
}

/* Write a block's held touches, and those of neighbours that go along. */
static void write_back_together(struct fixing *f, struct block *block)
{
	const uint64_t number = block->number;
	struct block *other;
	bool more = true;

	while (goes_along(f, other = find_neighbour(f, block, -1)))
		block = other;
	while (more) {
		other = find_neighbour(f, block, 1);
		more = block->number < number || goes_along(f, other);
		write_back(f, block);
		block = other;
	}
}

/*
 * Write the held touches of a block that is too old. As write_back_together(), but
 * quicker for the many blocks without neighbours.
 */
static inline void write_back_old(struct fixing *f, struct block *block)
{
	if (find_neighbour(f, block, -1) || find_neighbour(f, block, 1))
		write_back_together(f, block);
	else
		write_back(f, block);
}

/* Write the row of held blocks in front of a block that lack nothing. */
static void write_back_row(struct fixing *f, struct block *block)
{
	while ((block = find_neighbour(f, block, -1)) && all_kept(f, block))
		write_back(f, block);
}

/*
 * Hold the first touch of a block, which alone does not cover the block, in mode
 * coalesce.
 */
static inline void hold_first(struct fixing *f, struct block *block,
			      uint32_t first, uint32_t end)
{
	block->valid = is_in(block, FIXING_COALESCE);
	if (block->valid)
		TAILQ_REMOVE(&f->in[FIXING_COALESCE].cached, block,
			     in[FIXING_COALESCE].age);
	else
		enter_memory(f, FIXING_COALESCE, block);
	TAILQ_INSERT_TAIL(&f->held, block, in[FIXING_COALESCE].age);
	block->in[FIXING_COALESCE].since_ns = f->now_ns;
	block->held = 1;
	block->first = first;
	block->end = end;
	f->nr_held++;
	hold_less(f);
}

/* Hold a touch in mode coalesce. Return: the block lacks nothing any more. */
static inline bool hold_touch(struct fixing *f, struct block *block, uint32_t first,
			      uint32_t end)
{
	if (!block->held) {
		hold_first(f, block, first, end);
		return false;
	}
	keep_more(f, block, first, end);
	return all_kept(f, block);
}

/*
 * Serve a touch of a block of which nothing is held, as all touches are in mode
 * pad: read the block, which a touch alone does not cover, and write it. Return: it
 * needed no read.
 */
static inline bool serve_alone(struct fixing *f, enum fixing_mode mode,
			       struct block *block)
{
	struct memory *memory = &f->in[mode];

	if (!is_in(block, mode)) {
		memory->host++;
		enter_memory(f, mode, block);
	} else if (TAILQ_NEXT(block, in[mode].age)) {
		TAILQ_REMOVE(&memory->cached, block, in[mode].age);
		cache_block(f, mode, block);
		return true;
	} else {
		/* nothing that is cached is younger, nor will be */
		block->in[mode].since_ns = f->now_ns;
		return true;
	}
	block->in[mode].since_ns = f->now_ns;
	TAILQ_INSERT_TAIL(&memory->cached, block, in[mode].age);
	return false;
}

/*
 * Serve a touch in mode coalesce that is acknowledged only when it is on the
 * drive. Return: the block needed no read.
 */
static bool serve_touch(struct fixing *f, struct block *block, uint32_t first,
			uint32_t end)
{
	bool whole;

	if (!block->held) {
		f->resolved++;
		f->written++;
		return serve_alone(f, FIXING_COALESCE, block);
	}
	keep_more(f, block, first, end);
	whole = block->valid || all_kept(f, block);
	book_touches(f, block->held, !whole);
	release_block(f, block);
	cache_block(f, FIXING_COALESCE, block);
	return whole;
}

/* Evict a block of which nothing is held. */
static void drop_block(struct fixing *f, struct block *block)
{
	bool coalesce = is_in(block, FIXING_COALESCE);

	if (is_in(block, FIXING_PAD))
		evict_block(f, FIXING_PAD, block);
	if (coalesce)
		evict_block(f, FIXING_COALESCE, block);
}

/* Drop a block that a write, or write-zeroes, covers wholly. */
static void overwrite_block(struct fixing *f, struct block *block)
{
	if (block->held) {
		f->resolved += block->held;
		release_block(f, block);
		cache_block(f, FIXING_COALESCE, block);
	}
	drop_block(f, block);
}

/*
 * Drop a block for a discard, after writing its held touches: a drive may
 * ignore the discard.
 */
static void give_up(struct fixing *f, struct block *block)
{
	if (block->held)
		write_back_together(f, block);
	drop_block(f, block);
}

/* Call @change for the blocks from @number to @last that are in memory. */
static inline void for_range(struct fixing *f, uint64_t number, uint64_t last,
			     void (*change)(struct fixing *f,
					    struct block *block))
{
	struct block *block, *next;
	uint64_t i;

	if (last - number < nr_buckets(f)) {
		for (; number <= last; number++) {
			block = find_block(f, number);
			if (block)
				change(f, block);
		}
		return;
	}
	for (i = 0; i < nr_buckets(f); i++) {
		for (block = LIST_FIRST(&f->bucket[i]); block; block = next) {
			next = LIST_NEXT(block, same);
			if (block->number >= number && block->number <= last)
				change(f, block);
		}
	}
}

/* Drop the blocks that a write, or write-zeroes, covers wholly. */
static void overwrite_range(struct fixing *f, uint64_t first, uint64_t last)
{
	for_range(f, first, last, overwrite_block);
}

/* Drop the blocks that a discard overlaps. */
static void discard_blocks(struct fixing *f, uint64_t first, uint64_t end)
{
	for_range(f, align_block_of(&f->g, first),
		  align_block_of(&f->g, end - 1), give_up);
}

/*
 * Write the blocks that the touches of a write have completed. The first one
 * waits for the second if that is held and open: so a stream goes down in large
 * requests. What goes with a remainder of whole blocks takes the row in front
 * along.
 */
static void write_completed(struct fixing *f, struct block *head, struct block *tail,
			    bool waits, bool joins_remainder)
{
	if (head && (tail || !waits)) {
		if (head->held)
			write_back(f, head);
		if (joins_remainder)
			write_back_row(f, head);
	}
	if (tail && tail->held)
		write_back(f, tail);
}

/*
 * Do a touch of a block's sectors from @first to before @end in both modes. Return:
 * the block, if the touch completes it in mode coalesce; else NULL.
 */
static __always_inline struct block *do_touch(struct fixing *f, uint64_t number,
					      uint32_t first, uint32_t end,
					      bool fua)
{
	struct block *block;
	bool whole;

	if (align_is_edge(&f->g, number)) {
		f->drive++;
		return NULL;
	}
	block = get_block(f, number);
	serve_alone(f, FIXING_PAD, block);
	whole = fua ? serve_touch(f, block, first, end) :
		      hold_touch(f, block, first, end);
	return whole ? block : NULL;
}

/*
 * Do a write or write-zeroes: the target splits off the partial touches of both,
 * as align_split_write() does.
 */
static inline void do_write(struct fixing *f, uint64_t first, uint64_t end,
			    bool fua, bool zeroes)
{
	uint32_t sectors = align_block_sectors(&f->g);
	uint32_t at = align_sector_in_block(&f->g, first);
	uint32_t stop = align_sector_in_block(&f->g, end);
	/* the block that the write ends in; behind its last one, if it ends there */
	uint64_t number = align_block_of(&f->g, first);
	uint64_t last = align_block_of(&f->g, end);
	struct block *head = NULL, *tail = NULL;
	uint64_t drive = f->drive;
	unsigned int touches = 0;
	bool remainder;

	if (at || number == last) {
		touches++;
		head = do_touch(f, number, at, number == last ? stop : sectors,
				fua);
		number++;
	}
	if (stop && number <= last) {
		touches++;
		tail = do_touch(f, last, 0, stop, fua);
	}
	f->expected += touches;
	if (zeroes)
		f->expected_zeroes += touches;
	remainder = number < last;
	if (head || tail) {
		bool joins = remainder || f->drive != drive;

		write_completed(f, head, tail, !fua && touches == 2 && !joins,
				joins && !zeroes);
	}
	if (remainder)
		overwrite_range(f, number, last - 1);
}

/* Evict the blocks that are cached for too long at @ns. */
static inline void evict_old(struct fixing *f, enum fixing_mode mode,
			     uint64_t ns)
{
	struct block *block;

	while ((block = TAILQ_FIRST(&f->in[mode].cached)) &&
	       ns - block->in[mode].since_ns >= CACHED_NS)
		evict_block(f, mode, block);
}

/* Write and evict what is held and cached for too long at @ns. */
static inline void set_time(struct fixing *f, uint64_t ns)
{
	struct block *block;

	if (ns < f->now_ns)
		f->went_back = true;
	while ((block = TAILQ_FIRST(&f->held)) &&
	       ns - block->in[FIXING_COALESCE].since_ns >= HOLD_NS) {
		f->now_ns = block->in[FIXING_COALESCE].since_ns + HOLD_NS;
		write_back_old(f, block);
	}
	evict_old(f, FIXING_PAD, ns);
	evict_old(f, FIXING_COALESCE, ns);
	f->now_ns = ns;
}

void fixing_flush(struct fixing *f)
{
	while (!TAILQ_EMPTY(&f->held))
		write_back(f, TAILQ_FIRST(&f->held));
}

void fixing_do(struct fixing *f, const struct fixing_request *requests,
	       size_t nr)
{
	const struct fixing_request *request;

	for (request = requests; request < requests + nr; request++) {
		if (f->timed)
			set_time(f, request->time_ns);
		if (request->preflush || request->op == TRACE_FLUSH)
			fixing_flush(f);
		if (request->op == TRACE_WRITE ||
		    request->op == TRACE_WRITE_ZEROES)
			do_write(f, request->first, request->end, request->fua,
				 request->op == TRACE_WRITE_ZEROES);
		else if (request->op == TRACE_DISCARD)
			discard_blocks(f, request->first, request->end);
	}
}

struct fixing_figures fixing_figures(const struct fixing *f,
				     enum fixing_mode mode)
{
	const struct memory *memory = &f->in[mode];
	uint64_t served = f->expected - f->drive;
	bool pad = mode == FIXING_PAD;

	return (struct fixing_figures) {
		.expected = f->expected,
		.expected_zeroes = f->expected_zeroes,
		.avoided = (pad ? served : f->resolved) - memory->host,
		.host = memory->host,
		.drive = f->drive,
		.written = pad ? served : f->written,
		.crowded = !pad && f->crowded,
		.evicted = memory->evicted,
	};
}

size_t fixing_bytes(const struct fixing *f)
{
	return sizeof(*f) + f->nr_blocks * f->block_bytes +
	       nr_buckets(f) * sizeof(*f->bucket);
}

void fixing_free(struct fixing *f)
{
	if (!f)
		return;
	while (f->nr_chunks)
		free(f->chunk[--f->nr_chunks]);
	free(f->bucket);
	free(f);
}
