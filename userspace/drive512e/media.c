// SPDX-License-Identifier: GPL-2.0
/* Read and write the store, keep what a power cut restores, and apply cuts and failures. */
#include "media.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "store.h"

/*
 * The volatile cache is kept as what a power cut would restore: the store
 * always has the newest content, and a "saved" block the content before a
 * change. Each flush begins a new generation; a block is saved once in each
 * generation in which it changes. When the flush of a generation ends, the
 * blocks saved in it and earlier are dropped: their changes are durable now.
 *
 * The cache has a limit, as that of any drive: when it is full the oldest saved
 * blocks are dropped, as if the drive had written them.  Drives of a terabyte
 * have 64 MiB.
 */
#define CACHE_BYTES (UINT64_C(64) << 20)
#define BUCKETS 16384u

/* Room for so many unreadable blocks at first; it doubles as needed. */
#define UNREADABLE_LEAST 64u

struct saved {
	TAILQ_ENTRY(saved) age;
	LIST_ENTRY(saved) chain;	/* in its bucket, newest first */
	uint64_t block;
	uint64_t generation;
	bool unreadable;
	unsigned char content[];
};

/* Sectors on which requests of a kind fail. */
struct failing {
	enum op op;			/* OP_READ or OP_WRITE */
	uint64_t offset, end;		/* bytes */
};

struct media {
	struct block_map map;
	uint64_t size;
	bool cache;
	struct store *store;		/* has locks of its own */

	pthread_mutex_t lock;		/* guards everything below */
	bool off;
	uint64_t cuts;
	struct power_cut how;		/* at, after: requests left; 0: none */
	struct request under_way[UNDER_WAY_MAX];
	size_t nr_under_way;
	uint64_t generation;
	TAILQ_HEAD(, in_flight) in_flight;	/* in order of arrival */
	TAILQ_HEAD(ages, saved) saved;	/* oldest first */
	LIST_HEAD(, saved) buckets[BUCKETS];
	uint64_t nr_saved;		/* a block in each of its generations */
	uint64_t volatile_blocks;	/* a block once */
	uint64_t *unreadable;		/* numbers of blocks, ascending */
	size_t nr_unreadable, room_unreadable;
	struct failing *failing;
	size_t nr_failing;
};

struct media *media_new(uint64_t size, const struct block_map *map, bool cache,
			const char *path)
{
	struct media *media = calloc(1, sizeof(*media));

	if (!media)
		return NULL;
	media->store = store_new(size, map, path);
	if (!media->store) {
		int saved = errno;

		free(media);
		errno = saved;
		return NULL;
	}
	media->map = *map;
	media->size = size;
	media->cache = cache;
	pthread_mutex_init(&media->lock, NULL);
	TAILQ_INIT(&media->in_flight);
	TAILQ_INIT(&media->saved);
	return media;
}

/* ---- blocks ---- */

/* Bytes of the drive, from @start to before @end. */
struct range {
	uint64_t start, end;
};

static struct range intersection(struct range a, struct range b)
{
	struct range r = {
		.start = a.start > b.start ? a.start : b.start,
		.end = a.end < b.end ? a.end : b.end,
	};

	return r;
}

static bool is_empty(struct range r)
{
	return r.start >= r.end;
}

/* Return a block's bytes inside the drive, which edge blocks exceed. */
static struct range range_of_block(const struct media *media, uint64_t block)
{
	uint64_t shift = media_byte(&media->map, 0);
	uint64_t start = block * media->map.physical;
	uint64_t end = start + media->map.physical;
	struct range r = {
		.start = start > shift ? start - shift : 0,
		.end = end - shift < media->size ? end - shift : media->size,
	};

	return r;
}

static uint64_t block_of(const struct media *media, uint64_t offset)
{
	return media_byte(&media->map, offset) / media->map.physical;
}

/* Return the whole blocks in @r; may be empty. */
static struct range whole_blocks(const struct media *media, struct range r)
{
	uint64_t first = block_of(media, r.start);
	uint64_t last = block_of(media, r.end - 1);
	struct range head = range_of_block(media, first);
	struct range tail = range_of_block(media, last);

	if (head.start < r.start)
		r.start = head.end;
	if (tail.end > r.end)
		r.end = tail.start;
	return r;
}

/* Return the bytes that a request changes: of a trim, whole blocks only. */
static struct range changed_by(const struct media *media,
			       const struct request *req)
{
	struct range r = { req->offset, req->offset + req->count };
	struct block_map map = media->map;
	uint64_t shift = media_byte(&map, 0);

	if (req->op != OP_TRIM)
		return r;
	r.start = block_ceil(r.start + shift, map.physical) - shift;
	r.end = block_floor(r.end + shift, map.physical);
	/* the first block may begin before the drive does, and a trim end in it */
	r.end = r.end > shift ? r.end - shift : 0;
	return r;
}

/* ---- unreadable blocks ---- */

/* Return the index of the first unreadable block that is not before @block. */
static size_t unreadable_from(const struct media *media, uint64_t block)
{
	size_t low = 0, high = media->nr_unreadable;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (media->unreadable[middle] < block)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool meets_unreadable(const struct media *media, struct range r)
{
	size_t at;

	if (is_empty(r))
		return false;
	at = unreadable_from(media, block_of(media, r.start));
	return at < media->nr_unreadable &&
	       media->unreadable[at] <= block_of(media, r.end - 1);
}

static bool is_unreadable(const struct media *media, uint64_t block)
{
	return meets_unreadable(media, range_of_block(media, block));
}

static void make_unreadable(struct media *media, uint64_t block)
{
	size_t at = unreadable_from(media, block);
	uint64_t *to;

	if (is_unreadable(media, block))
		return;
	if (media->nr_unreadable == media->room_unreadable) {
		size_t room = media->room_unreadable ? 2 * media->room_unreadable
						     : UNREADABLE_LEAST;

		to = realloc(media->unreadable, room * sizeof(*to));
		if (!to)
			return;	/* the block stays old, which is lawful, too */
		media->unreadable = to;
		media->room_unreadable = room;
	}
	to = media->unreadable + at;
	memmove(to + 1, to, (media->nr_unreadable - at) * sizeof(*to));
	*to = block;
	media->nr_unreadable++;
}

/* Make the blocks of a range readable, which consists of whole blocks. */
static void make_readable(struct media *media, struct range r)
{
	size_t from = unreadable_from(media, block_of(media, r.start));
	size_t to = unreadable_from(media, block_of(media, r.end - 1) + 1);

	if (from == to)
		return;
	memmove(media->unreadable + from, media->unreadable + to,
		(media->nr_unreadable - to) * sizeof(*media->unreadable));
	media->nr_unreadable -= to - from;
}

/* ---- requests that fail ---- */

static bool is_to_fail(const struct media *media, enum op op, struct range r)
{
	for (size_t i = 0; i < media->nr_failing; i++) {
		const struct failing *f = &media->failing[i];

		if (f->op == op && r.start < f->end && r.end > f->offset)
			return true;
	}
	return false;
}

/*
 * Check whether a request must fail that changes @r, which is not empty: as
 * media_fail() says, or because it writes a part of an unreadable block.
 */
static bool must_fail(const struct media *media, const struct in_flight *f,
		      struct range r)
{
	struct range whole = whole_blocks(media, r);
	struct range head = { r.start, whole.start };
	struct range tail = { whole.end, r.end };

	if (is_empty(whole))
		head = tail = r;
	return (f->req.op != OP_TRIM && is_to_fail(media, OP_WRITE, r)) ||
	       meets_unreadable(media, head) || meets_unreadable(media, tail);
}

/* ---- saved blocks ---- */

static struct saved *newest_saved(struct media *media, uint64_t block)
{
	struct saved *s;

	LIST_FOREACH(s, &media->buckets[block % BUCKETS], chain) {
		if (s->block == block)
			return s;
	}
	return NULL;
}

static void forget(struct media *media, struct saved *s)
{
	TAILQ_REMOVE(&media->saved, s, age);
	LIST_REMOVE(s, chain);
	media->nr_saved--;
	media->volatile_blocks -= !newest_saved(media, s->block);
	free(s);
}

/* Drop the blocks saved up to and with @generation. */
static void forget_until(struct media *media, uint64_t generation)
{
	struct saved *s;

	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): off the list, once freed */
	while ((s = TAILQ_FIRST(&media->saved)) && s->generation <= generation)
		forget(media, s);
}

/* Drop a block, however often it is saved. */
static void forget_block(struct media *media, uint64_t block)
{
	struct saved *s, *next;

	for (s = LIST_FIRST(&media->buckets[block % BUCKETS]); s; s = next) {
		next = LIST_NEXT(s, chain);
		if (s->block == block)
			forget(media, s);
	}
}

static int save_block(struct media *media, uint64_t block)
{
	const struct saved *newest = newest_saved(media, block);
	struct range r = range_of_block(media, block);
	struct saved *s;

	if (newest && newest->generation == media->generation)
		return 0;
	s = malloc(sizeof(*s) + media->map.physical);
	if (!s || store_read(media->store, s->content, r.start,
			     r.end - r.start) < 0) {
		free(s);
		return -1;
	}
	s->block = block;
	s->generation = media->generation;
	s->unreadable = is_unreadable(media, block);
	TAILQ_INSERT_TAIL(&media->saved, s, age);
	LIST_INSERT_HEAD(&media->buckets[block % BUCKETS], s, chain);
	media->nr_saved++;
	media->volatile_blocks += !newest;
	if (media->nr_saved > CACHE_BYTES / media->map.physical)
		forget(media, TAILQ_FIRST(&media->saved));
	return 0;
}

/* Check whether a power cut would make a saved block unreadable. */
static bool was_unreadable(const struct media *media, uint64_t block)
{
	const struct saved *s;

	LIST_FOREACH(s, &media->buckets[block % BUCKETS], chain) {
		if (s->block == block && s->unreadable)
			return true;
	}
	return false;
}

/*
 * Make what a request with FUA has changed durable.  A part of a block that was
 * unreadable can only be written with the rest, which the cache has.
 */
static void change_saved(struct media *media, const struct in_flight *f,
			 struct range r)
{
	for (uint64_t b = block_of(media, r.start);
	     b <= block_of(media, r.end - 1); b++) {
		struct range block = range_of_block(media, b);
		struct range part = intersection(block, r);
		struct saved *s;

		if ((part.start == block.start && part.end == block.end) ||
		    was_unreadable(media, b)) {
			forget_block(media, b);
			continue;
		}
		LIST_FOREACH(s, &media->buckets[b % BUCKETS], chain) {
			unsigned char *to = s->content + part.start - block.start;

			if (s->block != b)
				continue;
			if (f->req.op == OP_WRITE)
				memcpy(to, f->data + part.start - f->req.offset,
				       part.end - part.start);
			else
				memset(to, 0, part.end - part.start);
		}
	}
}

void media_free(struct media *media)
{
	if (!media)
		return;
	forget_until(media, media->generation);
	free(media->unreadable);
	free(media->failing);
	store_free(media->store);
	pthread_mutex_destroy(&media->lock);
	free(media);
}

/* ---- the power ---- */

static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

enum fate { FATE_OLD, FATE_NEW, FATE_TORN };

static enum fate fate_of_block(const struct media *media, uint64_t block)
{
	uint64_t dice = mix(media->how.seed ^ mix(block));

	return dice % (media->how.tear == TEAR_NONE ? 2 : 3);
}

static bool sector_is_new(const struct media *media, uint64_t offset)
{
	return mix(mix(media->how.seed) ^ (offset / SECTOR_SIZE)) & 1;
}

/* Apply a part of a request to the store. */
static int apply(struct media *media, const struct in_flight *f, struct range r)
{
	if (f->req.op == OP_WRITE)
		return store_write(media->store,
				   f->data + r.start - f->req.offset, r.start,
				   r.end - r.start);
	return store_zero(media->store, r.start, r.end - r.start);
}

/*
 * Restore a saved block according to its fate.  Errors of the backing file are
 * ignored: no request could return them.
 */
static void bring_back(struct media *media, const struct saved *s,
		       enum fate fate)
{
	struct range r = range_of_block(media, s->block);

	if (fate == FATE_NEW)
		return;
	if (fate == FATE_TORN && media->how.tear == TEAR_BLOCK) {
		make_unreadable(media, s->block);
		return;
	}
	for (uint64_t at = r.start; at < r.end; at += SECTOR_SIZE) {
		if (fate == FATE_OLD || !sector_is_new(media, at))
			store_write(media->store, s->content + at - r.start, at,
				    SECTOR_SIZE);
	}
	if (s->unreadable)
		make_unreadable(media, s->block);
	else
		make_readable(media, r);
}

/* Let a request that is in flight at a power cut take effect in part. */
static void leave_in_part(struct media *media, const struct in_flight *f)
{
	struct range all = changed_by(media, &f->req);

	if (is_empty(all) || must_fail(media, f, all))
		return;
	for (uint64_t b = block_of(media, all.start);
	     b <= block_of(media, all.end - 1); b++) {
		struct range block = range_of_block(media, b);
		struct range part = intersection(block, all);
		enum fate fate = fate_of_block(media, b);

		if (fate == FATE_OLD)
			continue;
		if (fate == FATE_TORN && media->how.tear == TEAR_BLOCK) {
			make_unreadable(media, b);
			continue;
		}
		for (uint64_t at = part.start; at < part.end; at += SECTOR_SIZE) {
			struct range sector = { at, at + SECTOR_SIZE };

			if (fate == FATE_NEW || sector_is_new(media, at))
				apply(media, f, sector);
		}
		/* Its old sectors stay unreadable if the block is torn. */
		if (fate == FATE_NEW && part.start == block.start &&
		    part.end == block.end)
			make_readable(media, block);
	}
}

static void cut_now(struct media *media)
{
	struct saved *s, *next;
	uint64_t flushing = 0;	/* generations below are being flushed */
	struct in_flight *f;

	TAILQ_FOREACH(f, &media->in_flight, link) {
		if (f->req.op == OP_FLUSH && f->generation >= flushing)
			flushing = f->generation + 1;
	}
	/* From newest to oldest, so that the oldest content remains. */
	for (s = TAILQ_LAST(&media->saved, ages); s; s = next) {
		next = TAILQ_PREV(s, ages, age);
		bring_back(media, s, s->generation < flushing ?
				     fate_of_block(media, s->block) : FATE_OLD);
		forget(media, s);
	}
	media->nr_under_way = 0;
	while ((f = TAILQ_FIRST(&media->in_flight))) {
		if (media->nr_under_way < UNDER_WAY_MAX)
			media->under_way[media->nr_under_way++] = f->req;
		if (f->req.op != OP_READ && f->req.op != OP_FLUSH)
			leave_in_part(media, f);
		TAILQ_REMOVE(&media->in_flight, f, link);
	}
	media->off = true;
	media->cuts++;
	media->how = (struct power_cut){ 0 };
}

bool media_cut(struct media *media, const struct power_cut *how)
{
	bool on;

	pthread_mutex_lock(&media->lock);
	on = !media->off;
	if (on) {
		media->how = *how;
		if (how->at == 0 && how->after == 0)
			cut_now(media);
	}
	pthread_mutex_unlock(&media->lock);
	return on;
}

void media_power_on(struct media *media)
{
	pthread_mutex_lock(&media->lock);
	media->off = false;
	media->how = (struct power_cut){ 0 };
	pthread_mutex_unlock(&media->lock);
}

/* ---- failures ---- */

int media_fail(struct media *media, enum op op, uint64_t first, uint64_t count)
{
	struct failing *more;

	pthread_mutex_lock(&media->lock);
	more = realloc(media->failing, (media->nr_failing + 1) * sizeof(*more));
	if (more) {
		media->failing = more;
		more[media->nr_failing++] = (struct failing){
			.op = op,
			.offset = first * SECTOR_SIZE,
			.end = (first + count) * SECTOR_SIZE,
		};
	}
	pthread_mutex_unlock(&media->lock);
	return more ? 0 : -1;
}

void media_heal(struct media *media)
{
	pthread_mutex_lock(&media->lock);
	media->nr_failing = 0;
	pthread_mutex_unlock(&media->lock);
}

/* ---- requests ---- */

enum begun media_begin(struct media *media, struct in_flight *f,
		       const struct request *req, const void *data)
{
	enum begun begun = BEGUN;

	f->req = *req;
	f->data = data;
	pthread_mutex_lock(&media->lock);
	f->cuts = media->cuts;
	if (media->off) {
		begun = NO_POWER;
	} else {
		/* Changes from now on are not covered by this flush. */
		f->generation = media->generation;
		if (req->op == OP_FLUSH)
			media->generation++;
		TAILQ_INSERT_TAIL(&media->in_flight, f, link);
		if (media->how.at && --media->how.at == 0) {
			cut_now(media);
			begun = POWER_WENT;
		}
	}
	pthread_mutex_unlock(&media->lock);
	return begun;
}

int media_read(struct media *media, void *buf, uint64_t offset, uint64_t count)
{
	struct range r = { offset, offset + count };
	bool bad;

	pthread_mutex_lock(&media->lock);
	bad = is_to_fail(media, OP_READ, r) || meets_unreadable(media, r);
	pthread_mutex_unlock(&media->lock);
	if (bad) {
		errno = EIO;
		return -1;
	}
	return store_read(media->store, buf, offset, count);
}

/*
 * Check whether a block would stay as it is: zeroes over sectors never written,
 * as mkfs sends them for terabytes, must not drive anything out of the cache.
 */
static bool stays(struct media *media, const struct in_flight *f, uint64_t block)
{
	struct range r = range_of_block(media, block);

	return f->req.op != OP_WRITE && !is_unreadable(media, block) &&
	       store_is_hole(media->store, r.start, r.end - r.start);
}

/* Apply a request to the media; called with the lock held.  As media_end(). */
static int change(struct media *media, const struct in_flight *f)
{
	struct range all = changed_by(media, &f->req);
	struct range whole;

	if (is_empty(all))
		return 0;
	if (must_fail(media, f, all)) {
		errno = EIO;
		return -1;
	}
	if (media->cache && !f->req.fua) {
		for (uint64_t b = block_of(media, all.start);
		     b <= block_of(media, all.end - 1); b++) {
			if (!stays(media, f, b) && save_block(media, b) < 0)
				return -1;
		}
	}
	if (apply(media, f, all) < 0)
		return -1;
	whole = whole_blocks(media, all);
	if (!is_empty(whole))
		make_readable(media, whole);
	if (f->req.fua)
		change_saved(media, f, all);
	return 0;
}

int media_end(struct media *media, struct in_flight *f, bool *went)
{
	int ret = 0;

	*went = false;
	pthread_mutex_lock(&media->lock);
	if (f->cuts != media->cuts) {
		errno = EIO;
		ret = -1;
	} else {
		TAILQ_REMOVE(&media->in_flight, f, link);
		if (f->req.op == OP_FLUSH)
			forget_until(media, f->generation);
		else if (f->req.op != OP_READ)
			ret = change(media, f);
		if (media->how.after && --media->how.after == 0) {
			cut_now(media);
			*went = true;
		}
	}
	pthread_mutex_unlock(&media->lock);
	return ret;
}

void media_abandon(struct media *media, struct in_flight *f)
{
	pthread_mutex_lock(&media->lock);
	if (f->cuts == media->cuts)
		TAILQ_REMOVE(&media->in_flight, f, link);
	pthread_mutex_unlock(&media->lock);
}

struct media_state media_state(struct media *media)
{
	struct media_state state;

	pthread_mutex_lock(&media->lock);
	state = (struct media_state){
		.powered = !media->off,
		.power_cuts = media->cuts,
		.nr_under_way = media->nr_under_way,
		.volatile_blocks = media->volatile_blocks,
		.unreadable_blocks = media->nr_unreadable,
	};
	memcpy(state.under_way, media->under_way, sizeof(state.under_way));
	pthread_mutex_unlock(&media->lock);
	return state;
}

uint64_t media_cuts(struct media *media)
{
	uint64_t cuts;

	pthread_mutex_lock(&media->lock);
	cuts = media->cuts;
	pthread_mutex_unlock(&media->lock);
	return cuts;
}
