/* SPDX-License-Identifier: GPL-2.0 */
/* The built-in workloads: what each is called and the shape of its requests. */
#ifndef ALIGNCTL_WORKLOAD_H
#define ALIGNCTL_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "geometry.h"

#define WORKLOAD_MAX_PARTS	10
#define WORKLOAD_MAX_WINDOW	1024

/*
 * Where workloads that were published with a place in a file begin, apart from
 * that place: one of the largest physical blocks inside the device, so that no
 * block they touch lies only partly in it. A multiple of every block.
 */
#define WORKLOAD_INSIDE		ALIGN_MAX_BLOCK_SIZE

enum workload_order {
	/*
	 * A pattern that repeats every period bytes. Writes rise, and one may
	 * begin before the end of the last.
	 */
	WORKLOAD_STREAM,
	/* A write at each of some places, period bytes apart; then again. */
	WORKLOAD_ROUNDS,
	/*
	 * Each write at a place of its own, in an order made from a seed. If
	 * there are parts, their lengths take turns.
	 */
	WORKLOAD_RANDOM,
	/*
	 * Each write at a place drawn from the seed, whatever was drawn before:
	 * some places come more than once, and most never.
	 */
	WORKLOAD_DRAWS,
	/* Two at a time, at random places and so at a random distance. */
	WORKLOAD_PAIRS,
	/*
	 * A write of the first part to a journal, one after the other, then one
	 * of the second to data beyond it: period bytes on, or, if there are
	 * places, each at one of its own.
	 */
	WORKLOAD_BURSTS,
};

enum workload_sync {
	WORKLOAD_ASYNC,		/* nothing but the flush at the end */
	WORKLOAD_FDATASYNC,	/* one after each write */
	WORKLOAD_FDATASYNC_PART,	/* one in each repetition */
	WORKLOAD_DSYNC,		/* each write as if opened with O_DSYNC */
};

/* What of its shape only the device can tell. */
enum workload_device {
	WORKLOAD_FIXED,		/* nothing; or how far random writes spread */
	/* The length of each write: minimum_io_size or a block, the larger. */
	WORKLOAD_UNIT,
	/* How far apart repetitions are: evenly, all over it. */
	WORKLOAD_SPREAD,
};

/**
 * struct workload_part - one write of a repetition
 * @offset: bytes from the start of the repetition
 * @bytes: its length
 */
struct workload_part {
	uint32_t offset;
	uint32_t bytes;
};

/**
 * struct workload - a named series of writes, or of reads
 * @name: as alignctl replay knows it
 * @summary: one line for people
 * @origin: where it comes from
 * @wall_s: published time of the default count, seconds; 0: none
 * @mean_us: published mean latency of its writes, microseconds; 0: none
 * @published: what else was published, or NULL
 * @reads: reads in place of writes; what is said of writes here is then of them
 * @buffered: was published through the page cache, and so done unless asked to
 *	be direct
 * @device: what is left to the device
 * @order: how one write follows the other
 * @sync: what makes them durable
 * @sync_part: WORKLOAD_FDATASYNC_PART: after which of its writes
 * @start: byte at which the first repetition, or the first place, starts
 * @period: bytes from one repetition, or place, to the next
 * @default_count: repetitions of the published run
 * @places: WORKLOAD_ROUNDS: places of the published run; else: to choose from at
 *	random, 0: all of the device, or of WORKLOAD_BURSTS none
 * @first: length of one more write before all others, which ends at @start;
 *	0: there is none
 * @chunk: longest write: a longer repetition, of one part, is cut into writes of
 *	so many bytes; 0: it is not
 * @window: so many reads at a time are sorted by offset; 0: they are not
 * @think_writes: a pause after so many writes; 0: there is none
 * @think_s: its published length, seconds
 * @nr_parts: writes in a repetition; 1 for rounds, draws and pairs, 2 for bursts
 * @part: those writes, by rising offset
 */
struct workload {
	const char *name;
	const char *summary;
	const char *origin;
	double wall_s;
	double mean_us;
	const char *published;
	bool reads;
	bool buffered;
	enum workload_device device;
	enum workload_order order;
	enum workload_sync sync;
	uint32_t sync_part;
	uint64_t start;
	uint32_t period;
	uint32_t default_count;
	uint32_t places;
	uint32_t first;
	uint32_t chunk;
	uint32_t window;
	uint32_t think_writes;
	uint32_t think_s;
	uint32_t nr_parts;
	struct workload_part part[WORKLOAD_MAX_PARTS];
};

/* The workload of that name, or NULL. */
const struct workload *workload_find(const char *name);

/* The workload at @index in the table, or NULL after the last one. */
const struct workload *workload_at(size_t index);

/*
 * Must each write wait for the one before? So it is where they overlap, or are
 * made durable one by one; random ones with O_DSYNC have nothing to do with each
 * other.
 */
bool workload_one_at_a_time(const struct workload *w);

/* Does it take places in an order made from a seed? */
bool workload_random(const struct workload *w);

#endif
