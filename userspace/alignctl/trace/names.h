/* SPDX-License-Identifier: GPL-2.0 */
/* The names of a trace's files, by their numbers. */
#ifndef ALIGNCTL_TRACE_NAMES_H
#define ALIGNCTL_TRACE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* So that names never take more than some MiB. */
#define TRACE_MAX_FILES		1024U
#define TRACE_MAX_NAME		4095U

/**
 * struct trace_names - names by number
 * @nr: one more than the highest number that has been named
 * @names: of each; NULL: it has none
 * @last: the number that was found last
 */
struct trace_names {
	uint32_t nr;
	uint32_t last;
	char *names[TRACE_MAX_FILES];
};

void trace_names_free(struct trace_names *names);

const char *trace_names_get(const struct trace_names *names, uint32_t number);

/*
 * Why a number cannot be given a name, or another name than it has; NULL: it
 * has been.
 */
const char *trace_names_set(struct trace_names *names, uint32_t number,
			    const char *name);

/* Is there one of that name? @number is set if so. */
bool trace_names_find(struct trace_names *names, const char *name,
		      uint32_t *number);

#endif
