/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests that come a little out of the order of their times, put into it: the
 * earliest of the last few thousand goes first, and those of the same time in
 * the order in which they came.
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

/* Adds one; it must not be full. */
void trace_sorter_add(struct trace_sorter *sorter,
		      const struct trace_request *request,
		      const struct trace_place *place);

/* Takes the earliest one; it must not be empty. */
void trace_sorter_take(struct trace_sorter *sorter,
		       struct trace_request *request,
		       struct trace_place *place);

#endif
