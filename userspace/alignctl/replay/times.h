/* SPDX-License-Identifier: GPL-2.0 */
/* Tables of times, for people and as JSON: over a whole run, and by kind of request. */
#ifndef ALIGNCTL_REPLAY_TIMES_H
#define ALIGNCTL_REPLAY_TIMES_H

#include "base/histogram.h"
#include "base/table.h"

/**
 * struct times_row - a row of these tables
 * @name: name of the row; if NULL, @number takes its place
 * @number: bytes that the row is about
 * @times: the times
 */
struct times_row {
	const char *name;
	uint64_t number;
	const struct histogram *times;
};

/* Columns by which a table of times is sorted and named. */
enum times_by { TIMES_WHOLE, TIMES_KIND, TIMES_SIZE, TIMES_CLASS, TIMES_PHASE,
		TIMES_NR };

/*
 * The types of tables. TIMES_WHOLE has all figures; the others have number, mean
 * and p99 for people, and all figures in a member service_us of the document.
 */
extern const struct table_type times_table[TIMES_NR];

#endif
