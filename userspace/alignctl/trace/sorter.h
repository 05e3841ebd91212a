/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sort requests that arrive a little out of the order of their times: the
 * earliest of the last few thousand goes first, and requests of equal times in
 * the order of their arrival.
 */
#ifndef ALIGNCTL_TRACE_SORTER_H
#define ALIGNCTL_TRACE_SORTER_H

#include "trace/format.h"

#define TRACE_SORTER_ROOM	8192U

struct trace_sorter;

struct trace_sorter *trace_sorter_new(void);
void trace_sorter_free(struct trace_sorter *sorter);
void trace_sorter_clear(struct trace_sorter *sorter);
bool trace_sorter_full(const struct trace_sorter *sorter);
bool trace_sorter_empty(const struct trace_sorter *sorter);

/* Add a request; the sorter must not be full. */
void trace_sorter_add(struct trace_sorter *sorter,
		      const struct trace_request *request,
		      const struct trace_place *place);

/* Take the earliest request; the sorter must not be empty. */
void trace_sorter_take(struct trace_sorter *sorter,
		       struct trace_request *request,
		       struct trace_place *place);

#endif
