/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Methods of measurement: series of runs, each of which may depend on the
 * results before it. userspace/align_reports implements them.
 */
#ifndef ALIGNCTL_METHOD_H
#define ALIGNCTL_METHOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

/**
 * struct method - a named method
 * @name: the method's name for alignctl probe
 * @summary: one line for people
 * @origin: publication of the method
 * @published: published results, or NULL
 * @writes: the method writes; else it only reads
 * @may_write: the method writes if it is given an area
 * @in_turn: the method makes its requests one at a time
 * @samples: the method takes recorded samples in place of a device, too
 * @adaptive: the method chooses the number of its requests
 * @default_count: largest number of requests in a run; 0: that of the workload of
 *	the same name, which it runs
 */
struct method {
	const char *name;
	const char *summary;
	const char *origin;
	const char *published;
	bool writes;
	bool may_write;
	bool in_turn;
	bool samples;
	bool adaptive;
	uint32_t default_count;
};

/* Methods in columns; a row is a struct method. */
extern const struct table_type method_table;

/* Find the method named @name, or NULL. */
const struct method *method_find(const char *name);

/* Return the method at @index in the table, or NULL after the last one. */
const struct method *method_at(size_t index);

#endif
