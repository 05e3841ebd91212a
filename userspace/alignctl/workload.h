/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The built-in workloads: which bytes each write covers. Pure arithmetic.
 *
 * A workload is a pattern of at most WORKLOAD_MAX_PARTS writes that repeats
 * every period bytes. Its writes rise through the device and never overlap, so
 * the owner of a sector is known without a table.
 */
#ifndef ALIGNCTL_WORKLOAD_H
#define ALIGNCTL_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "geometry.h"

#define WORKLOAD_MAX_PARTS	2

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
 * struct workload - a named series of writes
 * @name: as alignctl replay knows it
 * @summary: one line for people
 * @start: byte at which the first repetition starts
 * @period: bytes from one repetition to the next
 * @default_count: repetitions of the published run
 * @nr_parts: writes in a repetition
 * @part: those writes, by rising offset
 */
struct workload {
	const char *name;
	const char *summary;
	uint64_t start;
	uint32_t period;
	uint32_t default_count;
	uint32_t nr_parts;
	struct workload_part part[WORKLOAD_MAX_PARTS];
};

/**
 * struct workload_figures - what a workload must cost, by arithmetic alone
 * @requests: writes
 * @bytes: bytes of those writes
 * @touches: partial touches, so the RMWs of a drive without cache
 * @rmin: blocks whose rest no write of the workload covers, edge blocks left
 *	out: the block reads that no order-preserving fix avoids
 * @distinct: blocks written at least once
 */
struct workload_figures {
	uint64_t requests;
	uint64_t bytes;
	uint64_t touches;
	uint64_t rmin;
	uint64_t distinct;
};

/* The workload of that name, or NULL. */
const struct workload *workload_find(const char *name);

/* The workload at @index in the table, or NULL after the last one. */
const struct workload *workload_at(size_t index);

/* Writes of @count repetitions. */
uint64_t workload_requests(const struct workload *w, uint64_t count);

/* Where write number @request (from 0) starts, in bytes; sets its length. */
uint64_t workload_request(const struct workload *w, uint64_t request,
			  uint32_t *bytes);

/* Byte after the last one that @count repetitions write; at most UINT64_MAX. */
uint64_t workload_end(const struct workload *w, uint64_t count);

/* The longest write, in bytes. */
uint32_t workload_max_bytes(const struct workload *w);

/* The largest power of two that divides every offset and every length. */
uint32_t workload_granularity(const struct workload *w);

/* Which of @requests writes covers @sector: sets @request, or says none. */
bool workload_owner(const struct workload *w, uint64_t requests,
		    uint64_t sector, uint64_t *request);

/* Fills @figures for @count repetitions on blocks as @g has them. */
void workload_figures(const struct workload *w, uint64_t count,
		      const struct align_geometry *g,
		      struct workload_figures *figures);

#endif
