/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A figure that may be unknown: the size that a header gives, or what the
 * kernel says of a device. Every comparison states what an unknown figure
 * means; the number is reached through the functions below only, and a direct
 * comparison does not compile.
 */
#ifndef ALIGNCTL_MAYBE_H
#define ALIGNCTL_MAYBE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct maybe - a number, or the absence of one
 * @maybe_there: the number is known
 * @maybe_number: the number; 0 if it is not known
 *
 * A figure of zeroes is unknown.
 */
struct maybe {
	bool maybe_there;
	int64_t maybe_number;
};

#define MAYBE_UNKNOWN	((struct maybe) { 0 })

static inline struct maybe maybe_of(int64_t number)
{
	return (struct maybe) {
		.maybe_there = true, .maybe_number = number,
	};
}

static inline bool maybe_known(struct maybe maybe)
{
	return maybe.maybe_there;
}

/* Get the number. Return: false, with @number 0, if it is unknown. */
static inline bool maybe_get(struct maybe maybe, int64_t *number)
{
	*number = maybe.maybe_number;
	return maybe.maybe_there;
}

/* Return the number, or @otherwise if it is unknown. */
static inline int64_t maybe_or(struct maybe maybe, int64_t otherwise)
{
	return maybe.maybe_there ? maybe.maybe_number : otherwise;
}

/* Check that a figure is known and is @number. */
static inline bool maybe_is(struct maybe maybe, int64_t number)
{
	return maybe.maybe_there && maybe.maybe_number == number;
}

/* Check that a figure is known and less than @number. */
static inline bool maybe_below(struct maybe maybe, int64_t number)
{
	return maybe.maybe_there && maybe.maybe_number < number;
}

/* Check that a figure is known and greater than @number. */
static inline bool maybe_above(struct maybe maybe, int64_t number)
{
	return maybe.maybe_there && maybe.maybe_number > number;
}

/* Check that two figures are known and differ. */
static inline bool maybe_differ(struct maybe one, struct maybe other)
{
	return one.maybe_there && other.maybe_there &&
	       one.maybe_number != other.maybe_number;
}

/* Check that two figures are known and are the same. */
static inline bool maybe_same(struct maybe one, struct maybe other)
{
	return one.maybe_there && other.maybe_there &&
	       one.maybe_number == other.maybe_number;
}

/* Check that two figures are the same, or both unknown. */
static inline bool maybe_equal(struct maybe one, struct maybe other)
{
	return one.maybe_there == other.maybe_there &&
	       one.maybe_number == other.maybe_number;
}

/* From here on, nothing reads a number without asking whether it is known. */
#pragma GCC poison maybe_there maybe_number

#endif
