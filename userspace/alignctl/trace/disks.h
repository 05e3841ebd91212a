/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The requests to each disk of a trace, for the message that refuses a trace of
 * several disks where one is wanted.
 */
#ifndef ALIGNCTL_TRACE_DISKS_H
#define ALIGNCTL_TRACE_DISKS_H

#include <stdbool.h>
#include <stdint.h>

#include "geometry.h"
#include "trace/names.h"
#include "trace/trace.h"

/**
 * struct trace_disk - counts of one disk
 * @requests: number of requests
 * @writes: number of writes
 * @touches: number of partial touches of writes and write-zeroes
 */
struct trace_disk {
	uint64_t requests;
	uint64_t writes;
	uint64_t touches;
};

/**
 * struct trace_disks - counts of the disks of a trace
 * @blocks: physical blocks whose touches are counted
 * @unknown: why no touches are counted; NULL: they are
 * @nr: number of elements of @disk in use
 * @room: number of elements of @disk
 * @disk: counts by the trace's number of the disk, or file
 * @beyond: requests went to further disks, whose names are not kept
 */
struct trace_disks {
	struct align_geometry blocks;
	const char *unknown;
	uint32_t nr;
	uint32_t room;
	struct trace_disk *disk;
	bool beyond;
};

/* Count touches of blocks of @physical bytes with a boundary at byte @offset. */
void trace_disks_set_blocks(struct trace_disks *disks, uint32_t physical,
			    uint32_t offset);

/* Count a valid request, by its file. */
void trace_disks_add(struct trace_disks *disks,
		     const struct trace_request *request);

/* Forget the counts. */
void trace_disks_clear(struct trace_disks *disks);

void trace_disks_free(struct trace_disks *disks);

/*
 * Print the disks that have requests on standard error, those with most touches
 * first.
 */
void trace_disks_print(const struct trace_disks *disks,
		       const struct trace_names *names);

#endif
