/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What order of a trace must be kept when many of its requests run at once:
 *
 * - Two requests that overlap never run together if either changes the bytes
 *   (write, discard, write-zeroes): the later one waits.
 * - A flush, or a request that flushes first, waits for every earlier request
 *   that changes bytes: else it would not make durable what it did in the
 *   trace. Reads do not hold it up, and nothing waits for it: a trace has no
 *   end times, and what was issued while a flush ran was issued all the same.
 *
 * All else may run at once. A request that waits stops no other.
 *
 * Overlap is by bytes, through the page cache too. Two writes to other bytes of
 * one page may run together: the kernel brings in, changes and sends a page
 * with its folio locked, so neither undoes the other.
 */
#ifndef ALIGNCTL_ORDER_H
#define ALIGNCTL_ORDER_H

#include "trace/trace.h"

struct order;

/* For at most @max requests at a time, which have numbers below @max. */
struct order *order_new(unsigned int max);
void order_free(struct order *order);

/*
 * Adds @request, later than all that are there, under a number that is free.
 * Return: may it start? Else a call of order_end() will say when.
 */
bool order_add(struct order *order, unsigned int number,
	       const struct trace_request *request);

/*
 * A request has ended. Return: how many may start because of that, the
 * numbers of which are in @free, which has room for all.
 */
unsigned int order_end(struct order *order, unsigned int number,
		       unsigned int *free);

/* Requests that were added, have not ended, and may not start yet. */
unsigned int order_waiting(const struct order *order);

#endif
