/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many objects are visited under one holding of a lock with interrupts off.
 *
 * A section goes from the first lock that a thread takes with interrupts off, or in
 * an interrupt, to the release of its last one. The engine is compiled as for
 * ThreadSanitizer, whose calls before each access come here, and find the object by
 * its address. An access to fields that only lead to a block is no visit: the nodes
 * of its trees and lists, and its numbers, by which the trees are in order.
 */
#ifndef SIM_BOUNDS_H
#define SIM_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>

/* Most objects of a kind that a section may visit: contract 0. */
#define BOUNDS_MOST	64U

/**
 * struct bounds_link - bytes of a block that do not visit it
 * @from: offset of the first one
 * @to: offset behind the last one
 */
struct bounds_link {
	size_t from, to;
};

/* bounds_links.c: of struct align_block; the last one is empty. */
extern const struct bounds_link bounds_links[];

#ifdef SIM_BOUNDS
/* Memory was allocated, by the function around @maker; or is freed. */
void bounds_allocated(const void *memory, size_t bytes, const void *maker);
void bounds_freed(const void *memory);
/*
 * A lock is about to be held in the function around @place: a section begins, if it
 * is a lock that begins one. And the last lock was released.
 */
void bounds_begin(const void *place);
void bounds_end(void);
/* A machine begins: nothing is allocated. */
void bounds_reset(void);
/* Print, for each place, the largest number of objects of a kind. */
void bounds_tell(void);
#else
static inline void bounds_allocated(const void *memory, size_t bytes,
				    const void *maker)
{
	(void)memory;
	(void)bytes;
	(void)maker;
}

static inline void bounds_freed(const void *memory)
{
	(void)memory;
}

static inline void bounds_begin(const void *place)
{
	(void)place;
}

static inline void bounds_end(void)
{
}

static inline void bounds_reset(void)
{
}

static inline void bounds_tell(void)
{
}
#endif

#endif
