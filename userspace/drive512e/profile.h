/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The drives that can be emulated: one table, in profile.c, with the source of
 * every figure beside it.
 */
#ifndef DRIVE512E_PROFILE_H
#define DRIVE512E_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

enum profile_kind {
	PROFILE_INSTANT,	/* takes no time, only counts */
	PROFILE_FIXED,		/* one latency for all requests */
	PROFILE_MECHANICAL,	/* a disk: see mechanics.h and hdd.h */
};

/* Seek times in microseconds. */
struct seek_times {
	double track_to_track;
	double mean;		/* over a third of the stroke */
	double full_stroke;
};

struct profile {
	const char *name;
	enum profile_kind kind;
	bool rotational;
	bool cache_allowed;	/* may have a volatile write cache */

	/* The mechanics. */
	uint64_t capacity;	/* bytes */
	unsigned int rpm;
	double outer_rate;	/* bytes per second, first zone */
	double inner_rate;	/* bytes per second, last zone */
	unsigned int cylinders;
	unsigned int heads;
	struct seek_times read_seek;
	struct seek_times write_seek;

	/* The interface. */
	double bus_rate;	/* bytes per second */
	unsigned int command_ns;	/* the drive's own time for a command */

	/* Reading ahead. */
	uint64_t look_ahead;	/* bytes read beyond the end of a read */

	/* The write cache. */
	unsigned int cache_entries;	/* limit of cache runs that wait */
	unsigned int cache_joins;	/* limit of writes that join one */
	uint64_t cache_bytes;	/* limit of dirty bytes that wait */
	/* limit of blocks read for one cache run in a sweep; 0: no limit */
	unsigned int rmw_reads_per_pass;
	unsigned int hold_back_ms;	/* for the last block of a stream */
};

/* Find the profile named @name, or NULL. */
const struct profile *profile_find(const char *name);

/* Return all names, for a message: "a, b or c". */
const char *profile_names(void);

#endif
