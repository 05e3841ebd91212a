/* SPDX-License-Identifier: GPL-2.0 */
/* The built-in workloads: their names and the shapes of their requests. */
#ifndef ALIGNCTL_WORKLOAD_H
#define ALIGNCTL_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "geometry.h"

#define WORKLOAD_MAX_PARTS	10
#define WORKLOAD_MAX_WINDOW	1024

/*
 * Start of workloads that were published on a file, to which their offset in
 * the file is added: inside the device by one physical block of 64 KiB, so that they
 * touch no edge block. A multiple of every block of that size or less.
 */
#define WORKLOAD_INSIDE		65536U

enum workload_order {
	/*
	 * A pattern that repeats every period bytes. Offsets rise, and a write
	 * may begin before the end of the previous one.
	 */
	WORKLOAD_STREAM,
	/* Rounds: a write at each of some places, which are a period apart. */
	WORKLOAD_ROUNDS,
	/*
	 * Each write at a place of its own, in an order made from a seed. The
	 * lengths are those of the parts in turn.
	 */
	WORKLOAD_RANDOM,
	/*
	 * Each write at a place drawn independently of the others: some places
	 * are drawn more than once, and most never.
	 */
	WORKLOAD_DRAWS,
	/*
	 * Pairs of requests, at random places and so a random distance apart.
	 */
	WORKLOAD_PAIRS,
	/*
	 * In turn, a write of the first part to a journal, sequentially, and
	 * one of the second part to the data beyond the journal: sequentially,
	 * or, if there are places, each at a place of its own.
	 */
	WORKLOAD_BURSTS,
};

enum workload_sync {
	WORKLOAD_ASYNC,		/* no sync but the flush at the end */
	WORKLOAD_FDATASYNC,	/* fdatasync after each write */
	WORKLOAD_FDATASYNC_PART,	/* fdatasync once in each repetition */
	WORKLOAD_DSYNC,		/* each write as if opened with O_DSYNC */
};

/* The part of the shape that depends on the device. */
enum workload_device {
	WORKLOAD_FIXED,		/* none, or the span of random writes */
	/* The length of each write: minimum_io_size or a block, the larger. */
	WORKLOAD_UNIT,
	/*
	 * The distance of repetitions, which are spread evenly over the device.
	 */
	WORKLOAD_SPREAD,
};

/**
 * struct workload_part - one write of a repetition
 * @offset: bytes from the start of the repetition
 * @bytes: length of the write, bytes
 */
struct workload_part {
	uint32_t offset;
	uint32_t bytes;
};

/**
 * struct workload - a named series of writes, or of reads
 * @name: the workload's name for alignctl replay
 * @summary: one line for people
 * @origin: publication of the workload
 * @wall_s: published time of the default count, seconds; 0: none
 * @mean_us: published mean latency of the writes, microseconds; 0: none
 * @published: other published results, or NULL
 * @reads: the requests are reads; "write" in the rows below then means read
 * @buffered: published through the page cache, and done so unless the user asks
 *	for direct I/O
 * @device: the part of the shape that depends on the device
 * @order: order of the writes
 * @sync: way of making writes durable
 * @sync_part: WORKLOAD_FDATASYNC_PART: number of the write, in its repetition,
 *	that fdatasync follows
 * @start: byte at which the first repetition, or the first place, starts
 * @period: bytes from one repetition, or place, to the next
 * @default_count: number of repetitions of the published run
 * @places: WORKLOAD_ROUNDS: number of places of the published run; else number
 *	of places to choose from at random, 0: as many as the device has, or,
 *	of WORKLOAD_BURSTS, sequential data
 * @first: length of an extra write before all others, which ends at @start,
 *	bytes; 0: none
 * @chunk: longest write, bytes: a longer repetition, of one part, is cut into
 *	writes of this length; 0: no limit
 * @window: number of reads that are sorted by offset together; 0: not sorted
 * @think_writes: number of writes after which there is a pause; 0: no pauses
 * @think_s: published length of a pause, seconds
 * @nr_parts: number of writes in a repetition; 1 for rounds, draws and pairs, 2
 *	for bursts
 * @part: the writes of a repetition, by rising offset
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

/* Find the workload named @name, or NULL. */
const struct workload *workload_find(const char *name);

/* Return the workload at @index in the table, or NULL after the last one. */
const struct workload *workload_at(size_t index);

/*
 * Check whether each write must wait for the previous one: writes overlap, or
 * are made durable one by one. Random writes with O_DSYNC are independent.
 */
bool workload_one_at_a_time(const struct workload *w);

/* Check whether a workload's places are random. */
bool workload_random(const struct workload *w);

#endif
