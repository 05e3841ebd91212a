/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of the page cache: which requests reach the device because of
 * buffered ones.
 *
 * - All blocks of the cache have one size. The first write to a part of a block
 *   reads the rest; a read reads the whole block.
 * - Dirty blocks are written back: all by a flush, those of its pages by a
 *   write with FUA. Each block is one request, in rising order.
 *
 * The cache starts empty, never evicts, never writes back on its own and never
 * reads ahead. The kernel evicts and writes back if memory is short, writes
 * back what is 30 seconds old, and reads ahead.
 */
#ifndef ALIGNCTL_PAGE_CACHE_H
#define ALIGNCTL_PAGE_CACHE_H

#include "base/units.h"
#include "trace/trace.h"

/* Default size of the cache's blocks, bytes. */
#define PAGE_CACHE_BLOCK	PAGE_BYTES
/* Limit of memory, in stretches of 64 blocks. */
#define PAGE_CACHE_MAX_STRETCHES	(2U << 20)

struct page_cache;

/* Create a cache with blocks of @block bytes, a power of two. */
struct page_cache *page_cache_new(uint32_t block);
void page_cache_free(struct page_cache *cache);

/* Take a request to the device. Return: enum alignctl_exit; not 0 ends all. */
typedef int (*page_cache_fn)(void *context,
			     const struct trace_request *request);

/*
 * Do a request, and pass those that reach the device because of it to @device.
 * Return: what @device returned, or ALIGNCTL_USAGE after reporting that there
 * are too many stretches.
 */
int page_cache_do(struct page_cache *cache, const struct trace_request *request,
		  page_cache_fn device, void *context);

/* Write back all dirty blocks, without a flush. Return: as page_cache_do(). */
int page_cache_end(struct page_cache *cache, page_cache_fn device,
		   void *context);

#endif
