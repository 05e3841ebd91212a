/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of a device-mapper device as lines of text, and the tables that it
 * can be exchanged for while the device is in use.
 */
#ifndef ALIGNCTL_MAPPING_H
#define ALIGNCTL_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/status.h"

/**
 * struct mapping_line - one line of a table
 * @start: first sector of the segment on the device
 * @length: length of the segment in sectors
 * @type: name of the target
 * @params: arguments of the target, as the kernel prints them
 */
struct mapping_line {
	uint64_t start;
	uint64_t length;
	char *type;
	char *params;
};

/**
 * struct mapping - a table
 * @nr: number of lines
 * @line: the lines, by rising start
 */
struct mapping {
	size_t nr;
	struct mapping_line *line;
};

/* Append a line, with copies of @type and @params. */
void mapping_add(struct mapping *mapping, uint64_t start, uint64_t length,
		 const char *type, const char *params);
void mapping_free(struct mapping *mapping);

/* Check whether a line is of target @type. */
bool mapping_line_is(const struct mapping_line *line, const char *type);

/*
 * Find where a line of linear or align lies on the device below. Return: false,
 * with nothing set, for any other target, or if the line is malformed.
 */
bool mapping_place(const struct mapping_line *line, struct align_table *place);

/* Check whether two lines are the same, letter for letter. */
bool mapping_line_same(const struct mapping_line *a,
		       const struct mapping_line *b);

/*
 * Check whether two lines map the same: segment, target, and of linear and
 * align the place below and the features, in any order, as the kernel prints
 * them in one of its own. Of other targets the arguments are not compared.
 */
bool mapping_line_alike(const struct mapping_line *a,
			const struct mapping_line *b);

/*
 * Append line @line, of linear, to @next as one of align with @features, the
 * text after the offset. Return: false, with nothing appended, unless the line
 * is a well-formed one of linear.
 */
bool mapping_add_align(struct mapping *next, const struct mapping_line *line,
		       const char *features);

/*
 * Fill @next with the table @now, each line of align made one of linear by its
 * own device and offset, and all others copied. Return: false, with @next
 * empty, if a line of align is malformed or there is none.
 */
bool mapping_to_linear(const struct mapping *now, struct mapping *next);

enum mapping_fit {
	MAPPING_FITS,		/* the last line ends where its device ends */
	MAPPING_GROWS,		/* its device goes on after it */
	MAPPING_TAKEN,		/* likewise, but a line lies or may lie there */
	MAPPING_CUT,		/* a line ends after its device */
	MAPPING_UNKNOWN,	/* the last line, or its device, is unknown */
};

/*
 * Fill @next with the table @now, the last line of which ends where its device
 * does. @sectors: return the size of a device; 0: it is gone. @line is set to
 * the line that the result is about. Return: the result; @next is empty unless
 * it is MAPPING_GROWS.
 */
enum mapping_fit mapping_resize(const struct mapping *now, struct mapping *next,
				uint64_t (*sectors)(dev_t device), size_t *line);

/* Return the size of the whole table in sectors. */
uint64_t mapping_sectors(const struct mapping *mapping);

#endif
