/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Table lines and messages for the target "align", lawful and not, each with
 * the verdict that the target must give.
 */
#ifndef HOSTILE_H
#define HOSTILE_H

#include <stddef.h>
#include <stdint.h>

enum verdict {
	LAWFUL,		/* must be accepted */
	UNLAWFUL,	/* must be refused, with a reason */
	EITHER,		/* random bytes: any answer, refusals with a reason */
};

/* The device for which the lines are made. */
struct hostile_device {
	const char *path;
	uint64_t sectors;
	uint32_t logical;	/* bytes */
};

struct hostile_line {
	enum verdict verdict;
	const char *why;	/* the fault of the line; "" if lawful */
	uint64_t length;	/* sectors of the target */
	char params[4096];	/* after "<start> <length> align" */
};

/*
 * A message in bytes: the kernel reads up to the first byte 0; a message that
 * lacks one is unlawful.
 */
struct hostile_message {
	enum verdict verdict;
	size_t length;
	char text[16384];
};

/* Return a pseudo-random number; the same seed gives the same lines. */
uint64_t hostile_random(uint64_t *rng);

void hostile_make_line(uint64_t *rng, const struct hostile_device *dev,
		       struct hostile_line *line);
void hostile_make_message(uint64_t *rng, struct hostile_message *message);

#endif
