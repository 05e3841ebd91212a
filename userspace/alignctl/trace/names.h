/* SPDX-License-Identifier: GPL-2.0 */
/* The names of a trace's files, by their numbers. */
#ifndef ALIGNCTL_TRACE_NAMES_H
#define ALIGNCTL_TRACE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Limits that keep the memory for names to some MiB. */
#define TRACE_MAX_FILES		1024U
#define TRACE_MAX_NAME		4095U

/* Slots of the table by which names are found, at most half full. */
#define TRACE_NAME_SLOTS	2048U

/**
 * struct trace_names - names of files
 * @nr: one more than the highest number that has a name
 * @last: the number that trace_names_find() found last
 * @names: name of each file by number; NULL: the file has none
 * @slots: one more than the number of a file, in the slot of the hash of its
 *	name or in the first free one behind it; 0: free
 */
struct trace_names {
	uint32_t nr;
	uint32_t last;
	char *names[TRACE_MAX_FILES];
	uint16_t slots[TRACE_NAME_SLOTS];
};

void trace_names_free(struct trace_names *names);

/* Return a file's name; NULL: the file has none. */
const char *trace_names_get(const struct trace_names *names, uint32_t number);

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
