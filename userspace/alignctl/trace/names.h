/* SPDX-License-Identifier: GPL-2.0 */
/* The names of a trace's files, by their numbers, and the numbers by the names. */
#ifndef ALIGNCTL_TRACE_NAMES_H
#define ALIGNCTL_TRACE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Files of a trace that is written, and of a recording that is read. */
#define TRACE_MAX_FILES		1024U

/* Limits that keep the memory for the names of a trace that is read bounded. */
#define TRACE_MAX_NAMES		(1U << 20)
#define TRACE_NAMES_BYTES	(64U << 20)
#define TRACE_MAX_NAME		4095U

/**
 * struct trace_names - names of files; all zeroes: there are none
 * @nr: one more than the highest number that has a name
 * @room: number of elements of @names
 * @last: the number that trace_names_find() found last
 * @nr_named: number of files that have a name
 * @bytes: length of all names
 * @nr_slots: number of slots, a power of two and more than twice @nr_named; or 0
 * @names: name of each file by number; NULL: the file has none
 * @slots: one more than the number of a file, in the slot of the hash of its
 *	name or in the first free one behind it; 0: free
 */
struct trace_names {
	uint32_t nr;
	uint32_t room;
	uint32_t last;
	uint32_t nr_named;
	size_t bytes;
	uint32_t nr_slots;
	char **names;
	uint32_t *slots;
};

void trace_names_free(struct trace_names *names);

/* Return a file's name; NULL: the file has none. */
const char *trace_names_get(const struct trace_names *names, uint32_t number);

/* Check whether no further name can be added. */
bool trace_names_full(const struct trace_names *names);

/*
 * Give a file its name. Return: NULL, or why the file cannot have that name. A
 * name is never replaced by another one.
 */
const char *trace_names_set(struct trace_names *names, uint32_t number,
			    const char *name);

/* Find the file named @name. Return: true with @number set, or false. */
bool trace_names_find(struct trace_names *names, const char *name,
		      uint32_t *number);

#endif
