/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a drive that can be emulated has for parameters; the drives themselves are
 * in profiles/, with the source of every figure beside it.
 */
#ifndef DRIVE512E_PROFILE_H
#define DRIVE512E_PROFILE_H

#include "touch.h"

enum profile_kind {
	PROFILE_INSTANT,	/* takes no time, only counts */
	PROFILE_FIXED,		/* one latency for all requests */
	PROFILE_MECHANICAL,	/* a disk: see mechanics.h and hdd.h */
	PROFILE_FLASH,		/* an SSD: see ssd.h */
};

/* Seek times in microseconds. */
struct seek_times {
	double track_to_track;
	double mean;		/* of requests anywhere */
	double full_stroke;
};

/* The geometry that a drive tells its host; bytes. */
struct says {
	uint32_t logical;
	uint32_t physical;
	uint32_t alignment;	/* offset of the first block boundary */
};

struct profile {
	const char *name;
	const char *about;	/* one line for people */
	enum profile_kind kind;
	bool rotational;
	bool cache_allowed;	/* may have a volatile write cache */

	uint64_t capacity;	/* bytes; 0: any */

	/* Its blocks.  physical 0: 4096 bytes from byte 0 on. */
	struct block_map blocks;
	/* What it says of them.  logical 0: the truth, of 512-byte sectors. */
	struct says says;

	/* The mechanics. */
	unsigned int rpm;
	double outer_rate;	/* bytes per second, first zone */
	double inner_rate;	/* bytes per second, last zone */
	unsigned int heads;
	struct seek_times read_seek;
	struct seek_times write_seek;

	/* The interface. */
	double bus_rate;	/* bytes per second */
	unsigned int command_ns;	/* the drive's own time for a command */
	unsigned int queue;	/* commands that it reorders; 0: in order */
	bool one_at_a_time;	/* takes none while it works on another */

	/* Reading ahead. */
	uint64_t look_ahead;	/* bytes read beyond the end of a read */

	/* The write cache. */
	unsigned int cache_entries;	/* limit of cache runs that wait */
	unsigned int cache_joins;	/* limit of writes that join one */
	uint64_t cache_bytes;	/* limit of dirty bytes that wait */
	/* limit of runs with a block in part that wait; 0: no limit */
	unsigned int cache_partial;
	bool stream_whole;	/* only writes of whole blocks are a stream */
	unsigned int hold_back_ms;	/* for the last block of a stream */

	/* limit of blocks read for one cache run in a sweep; 0: no limit */
	unsigned int rmw_reads_per_pass;
	bool rmw_alone;	/* uncached, each block is read in its own turn */

	/* Flash; cache_bytes is the size of its write buffer. */
	unsigned int dies;
	uint32_t page;		/* bytes that a die reads or programs at once */
	unsigned int page_read_ns;
	unsigned int program_ns;
	unsigned int latency_ns;	/* of a command, beside command_ns */
	unsigned int unit_ns;	/* for each further unit of a command */
};

/* The profiles, ended by NULL. */
extern const struct profile *const profiles[];

/* Find the profile named @name, or NULL. */
const struct profile *profile_find(const char *name);

/* Return all names, for a message: "a, b or c". */
const char *profile_names(void);

/* Return what a drive of this profile, whose blocks are @truth, says of them. */
struct says profile_says(const struct profile *profile,
			 const struct block_map *truth);

#endif
