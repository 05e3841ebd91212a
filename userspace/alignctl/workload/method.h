/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Methods of measurement: many runs, one after the other, of which the next may
 * depend on what the last one found. How each goes is in
 * userspace/align_reports.
 */
#ifndef ALIGNCTL_METHOD_H
#define ALIGNCTL_METHOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

/**
 * struct method - a named method
 * @name: as alignctl probe knows it
 * @summary: one line for people
 * @origin: where it comes from
 * @published: what was found with it, or NULL
 * @writes: does it write? else it only reads
 * @default_count: requests of each run, at most
 */
struct method {
	const char *name;
	const char *summary;
	const char *origin;
	const char *published;
	bool writes;
	uint32_t default_count;
};

/* Methods in columns; a row is a struct method. */
extern const struct table_type method_table;

/* The method of that name, or NULL. */
const struct method *method_find(const char *name);

/* The method at @index in the table, or NULL after the last one. */
const struct method *method_at(size_t index);

#endif
