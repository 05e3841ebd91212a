/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keep the order of a trace's requests where it matters while many of them run
 * at once:
 *
 * - Two requests that overlap never run together if either changes data (write,
 *   discard, write-zeroes): the later one waits.
 * - A flush, or a request that flushes first, waits for every earlier request
 *   that changes data, or the flush would make less durable than it did in the
 *   trace. It does not wait for reads, and no request waits for a flush: a
 *   trace has no end times, so later requests may have been issued before it
 *   ended.
 *
 * All other requests may run at once. A waiting request stops no other.
 *
 * Overlap is by bytes, also through the page cache. Two writes to different
 * bytes of one page may run together: the kernel reads, changes and writes a
 * page with its folio locked, so neither write undoes the other.
 */
#ifndef ALIGNCTL_ORDER_H
#define ALIGNCTL_ORDER_H

#include "trace/trace.h"

struct order;

/* Create an order for at most @max requests at a time, numbered below @max. */
struct order *order_new(unsigned int max);
void order_free(struct order *order);

/*
 * Add @request after all others, under an unused number. Return: true if the
 * request may start; else a later order_end() returns its number.
 */
bool order_add(struct order *order, unsigned int number,
	       const struct trace_request *request);

/*
 * Remove a request that has ended. Return: how many requests may start because
 * of that, with their numbers in @free, which has room for all.
 */
unsigned int order_end(struct order *order, unsigned int number,
		       unsigned int *free);

/* Return the number of requests that may not start yet. */
unsigned int order_waiting(const struct order *order);

#endif
