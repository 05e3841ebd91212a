// SPDX-License-Identifier: GPL-2.0
/*
 * Track the written and valid parts of blocks, and emit the reads and writes that
 * these cause.
 */
#include <stdlib.h>

#include "base/exit_codes.h"
#include "base/message.h"
#include "base/mix.h"
#include "base/units.h"
#include "workload/page_cache.h"

#define STRETCH_BLOCKS	64U

/**
 * struct stretch - the state of 64 neighbouring blocks, a bit for each
 * @number: number of the stretch, its first block divided by 64
 * @known: blocks that are cached
 * @dirty: blocks that have to be written back
 * @listed: the stretch is in the cache's list of dirty stretches
 */
struct stretch {
	uint64_t number;
	uint64_t known;
	uint64_t dirty;
	bool listed;
};

/**
 * struct page_cache - the cached blocks of a device
 * @block: size of a block, bytes
 * @stretch: stretches that have had a cached block
 * @nr: number of stretches
 * @max: allocated length of @stretch and @dirty
 * @slot: hash table of indices into @stretch, from 1; 0: free; length 2 * @max
 * @dirty: indices of the listed stretches
 * @nr_dirty: number of listed stretches
 */
struct page_cache {
	uint32_t block;
	struct stretch *stretch;
	uint32_t nr;
	uint32_t max;
	uint32_t *slot;
	uint32_t *dirty;
	uint32_t nr_dirty;
};

static uint32_t *find_slot(const struct page_cache *cache, uint64_t number)
{
	uint32_t slots = 2 * cache->max;
	uint32_t at = mix64(number) & (slots - 1);

	while (cache->slot[at] &&
	       cache->stretch[cache->slot[at] - 1].number != number)
		at = (at + 1) & (slots - 1);
	return &cache->slot[at];
}

static void make_room(struct page_cache *cache, uint32_t max)
{
	uint32_t i;

	cache->max = max;
	cache->stretch = memory_or_exit(reallocarray(cache->stretch, max,
						     sizeof(*cache->stretch)));
	cache->dirty = memory_or_exit(reallocarray(cache->dirty, max,
						   sizeof(*cache->dirty)));
	free(cache->slot);
	cache->slot = memory_or_exit(calloc(2 * max, sizeof(*cache->slot)));
	for (i = 0; i < cache->nr; i++)
		*find_slot(cache, cache->stretch[i].number) = i + 1;
}

struct page_cache *page_cache_new(uint32_t block)
{
	struct page_cache *cache = memory_or_exit(calloc(1, sizeof(*cache)));

	cache->block = block;
	make_room(cache, 16);
	return cache;
}

void page_cache_free(struct page_cache *cache)
{
	if (!cache)
		return;
	free(cache->stretch);
	free(cache->slot);
	free(cache->dirty);
	free(cache);
}

/* Find or add the stretch of a block; NULL: there are too many. */
static struct stretch *stretch_of(struct page_cache *cache, uint64_t block)
{
	uint64_t number = block / STRETCH_BLOCKS;
	uint32_t *slot = find_slot(cache, number);

	if (*slot)
		return &cache->stretch[*slot - 1];
	if (cache->nr == PAGE_CACHE_MAX_STRETCHES)
		return NULL;
	if (cache->nr == cache->max) {
		make_room(cache, 2 * cache->max);
		slot = find_slot(cache, number);
	}
	cache->stretch[cache->nr] = (struct stretch) { .number = number };
	*slot = ++cache->nr;
	return &cache->stretch[cache->nr - 1];
}

/* Send a request for one block to the device. */
static int send_block(const struct page_cache *cache, enum trace_op op,
		      uint64_t block, const struct trace_request *because,
		      page_cache_fn device, void *context)
{
	const struct trace_request request = {
		.time_ns = because->time_ns, .op = op,
		.offset = block * cache->block, .bytes = cache->block,
	};

	return device(context, &request);
}

static int by_number(const void *a, const void *b, void *context)
{
	const struct page_cache *cache = context;
	uint64_t x = cache->stretch[*(const uint32_t *)a].number;
	uint64_t y = cache->stretch[*(const uint32_t *)b].number;

	return (x > y) - (x < y);
}

/* Write back the stretch's dirty blocks from @first up to, not with, @end. */
static int write_stretch(const struct page_cache *cache,
			 struct stretch *stretch, uint64_t first, uint64_t end,
			 const struct trace_request *because,
			 page_cache_fn device, void *context)
{
	uint64_t block = stretch->number * STRETCH_BLOCKS;
	uint32_t i;
	int result = 0;

	for (i = 0; stretch->dirty && i < STRETCH_BLOCKS && !result; i++) {
		if (!(stretch->dirty >> i & 1) || block + i < first ||
		    block + i >= end)
			continue;
		stretch->dirty &= ~(UINT64_C(1) << i);
		result = send_block(cache, TRACE_WRITE, block + i, because,
				    device, context);
	}
	return result;
}

/* Write back all dirty blocks, in rising order. */
static int write_all(struct page_cache *cache,
		     const struct trace_request *because, page_cache_fn device,
		     void *context)
{
	uint32_t i;
	int result = 0;

	qsort_r(cache->dirty, cache->nr_dirty, sizeof(*cache->dirty),
		by_number, cache);
	for (i = 0; i < cache->nr_dirty && !result; i++) {
		struct stretch *stretch = &cache->stretch[cache->dirty[i]];

		stretch->listed = false;
		result = write_stretch(cache, stretch, 0, UINT64_MAX, because,
				       device, context);
	}
	cache->nr_dirty = 0;
	return result;
}

/* Write back the pages of a write with FUA. */
static int write_pages(struct page_cache *cache,
		       const struct trace_request *write, page_cache_fn device,
		       void *context)
{
	uint32_t unit = cache->block > PAGE_BYTES ? cache->block : PAGE_BYTES;
	uint64_t first = write->offset / unit * (unit / cache->block);
	uint64_t end = ((write->offset + write->bytes - 1) / unit + 1) *
		       (unit / cache->block);
	uint64_t block = first;
	int result = 0;

	while (block < end && !result) {
		/* exists: the write has dirtied all of its blocks */
		struct stretch *stretch = stretch_of(cache, block);

		result = write_stretch(cache, stretch, first, end, write,
				       device, context);
		block = (stretch->number + 1) * STRETCH_BLOCKS;
	}
	return result;
}

/*
 * Read or dirty a block for a request. A block that is not cached is read,
 * unless the request writes it @whole.
 */
static int use_block(struct page_cache *cache, uint64_t block, bool whole,
		     const struct trace_request *request,
		     page_cache_fn device, void *context)
{
	uint64_t bit = UINT64_C(1) << block % STRETCH_BLOCKS;
	struct stretch *stretch = stretch_of(cache, block);
	int result = 0;

	if (!stretch) {
		message_error("page cache: requests in more than %u stretches of %u blocks, the limit; replay fewer requests, or drop --buffered",
			      PAGE_CACHE_MAX_STRETCHES, STRETCH_BLOCKS);
		return ALIGNCTL_USAGE;
	}
	if (!(stretch->known & bit) && !whole)
		result = send_block(cache, TRACE_READ, block, request, device,
				    context);
	stretch->known |= bit;
	if (request->op != TRACE_WRITE)
		return result;
	stretch->dirty |= bit;
	if (!stretch->listed)
		cache->dirty[cache->nr_dirty++] = stretch - cache->stretch;
	stretch->listed = true;
	return result;
}

/* Read or dirty all blocks that a request covers, whole or in part. */
static int use_blocks(struct page_cache *cache,
		      const struct trace_request *request,
		      page_cache_fn device, void *context)
{
	uint64_t end = request->offset + request->bytes;
	uint64_t block = request->offset / cache->block;
	int result = 0;

	for (; block * cache->block < end && !result; block++) {
		bool whole = request->op == TRACE_WRITE &&
			     block * cache->block >= request->offset &&
			     (block + 1) * cache->block <= end;

		result = use_block(cache, block, whole, request, device,
				   context);
	}
	return result;
}

/* Drop the stretch's blocks from @first up to, not with, @end. */
static void drop_of_stretch(struct stretch *stretch, uint64_t first,
			    uint64_t end)
{
	uint64_t block = stretch->number * STRETCH_BLOCKS;
	uint32_t i;

	for (i = 0; i < STRETCH_BLOCKS; i++, block++) {
		if (block < first || block >= end)
			continue;
		stretch->known &= ~(UINT64_C(1) << i);
		stretch->dirty &= ~(UINT64_C(1) << i);
	}
}

/*
 * Drop the blocks that lie wholly inside a discard or write-zeroes. These may be as
 * long as any device: then look at each stretch that there is.
 */
static void drop_blocks(struct page_cache *cache,
			const struct trace_request *request)
{
	uint64_t first = (request->offset + cache->block - 1) / cache->block;
	uint64_t end = (request->offset + request->bytes) / cache->block;
	uint64_t number = first / STRETCH_BLOCKS, last;
	uint32_t i;

	if (first >= end)
		return;
	last = (end - 1) / STRETCH_BLOCKS;
	if (last - number >= cache->nr) {
		for (i = 0; i < cache->nr; i++)
			drop_of_stretch(&cache->stretch[i], first, end);
		return;
	}
	for (; number <= last; number++) {
		i = *find_slot(cache, number);
		if (i)
			drop_of_stretch(&cache->stretch[i - 1], first, end);
	}
}

int page_cache_end(struct page_cache *cache, page_cache_fn device,
		   void *context)
{
	const struct trace_request end = { .op = TRACE_FLUSH };

	return write_all(cache, &end, device, context);
}

int page_cache_do(struct page_cache *cache, const struct trace_request *request,
		  page_cache_fn device, void *context)
{
	const struct trace_request flush = {
		.time_ns = request->time_ns, .op = TRACE_FLUSH,
	};
	int result = 0;

	if (request->preflush || request->op == TRACE_FLUSH) {
		result = write_all(cache, request, device, context);
		if (!result)
			result = device(context, &flush);
	}
	if (result || request->op == TRACE_FLUSH)
		return result;
	if (request->op == TRACE_DISCARD || request->op == TRACE_WRITE_ZEROES) {
		struct trace_request below = *request;

		drop_blocks(cache, request);
		below.preflush = false;
		return device(context, &below);
	}
	result = use_blocks(cache, request, device, context);
	if (result || !request->fua || request->op != TRACE_WRITE)
		return result;
	result = write_pages(cache, request, device, context);
	return result ? result : device(context, &flush);
}
