/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the page cache makes of requests, as far as that can be said:
 *
 * - It has blocks of one size. The first write that covers a part of one has
 *   the rest read; a read has all of it read.
 * - Written is what was changed: by a flush all blocks, by a write that is to
 *   be durable (FUA) those of its pages. Each is one request, by rising place.
 *
 * It is empty at first, gives up no block, writes none without being told to,
 * and reads none ahead. The kernel gives up and writes if memory is short, and
 * writes what is 30 seconds old; and it reads ahead of reads.
 */
#ifndef ALIGNCTL_PAGE_CACHE_H
#define ALIGNCTL_PAGE_CACHE_H

#include "base/units.h"
#include "trace/trace.h"

/* Blocks that nothing else is said of. */
#define PAGE_CACHE_BLOCK	PAGE_BYTES
/* Stretches of 64 blocks that there is memory for. */
#define PAGE_CACHE_MAX_STRETCHES	(2U << 20)

struct page_cache;

/* Blocks of @block bytes, a power of two. */
struct page_cache *page_cache_new(uint32_t block);
void page_cache_free(struct page_cache *cache);

/* Takes a request to the device. Return: enum alignctl_exit; not 0 ends all. */
typedef int (*page_cache_fn)(void *context,
			     const struct trace_request *request);

/*
 * Does a request, and hands over those that reach the device because of it.
 * Return: what @device returned, or ALIGNCTL_USAGE: too many stretches; that
 * has been reported.
 */
int page_cache_do(struct page_cache *cache, const struct trace_request *request,
		  page_cache_fn device, void *context);

/* Writes all that was changed, without a flush. */
int page_cache_end(struct page_cache *cache, page_cache_fn device,
		   void *context);

#endif
