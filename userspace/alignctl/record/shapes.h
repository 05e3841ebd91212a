/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What became of writes: each is followed from its arrival to the requests that
 * it was issued to the driver in, and then counted by its shape, which says how
 * it lies on the physical blocks and how it was cut.
 */
#ifndef ALIGNCTL_SHAPES_H
#define ALIGNCTL_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "geometry.h"
#include "record/follow_events.h"

/* Limit of distinct shapes; writes of further ones are only counted. */
#define SHAPES_MAX	65536

/**
 * struct shape_piece - the part of a write that is in one request
 * @bytes: length
 * @merged: the request holds more than this part
 */
struct shape_piece {
	uint32_t bytes;
	bool merged;
};

/**
 * struct shape - writes that were cut in the same way
 * @zeroes: the writes are write-zeroes
 * @bytes: length of the write
 * @start: bytes from the start of its physical block to the write
 * @touches_before: partial touches of the write
 * @touches_after: partial touches of its requests; one of a merged request
 *	counts for the write whose edge it is
 * @count: number of writes
 * @nr: number of requests of each
 * @piece: the requests, by sector
 */
struct shape {
	bool zeroes;
	uint64_t bytes;
	uint32_t start;
	uint32_t touches_before;
	uint32_t touches_after;
	uint64_t count;
	size_t nr;
	struct shape_piece *piece;
};

/**
 * struct story_range - a range of the device
 * @sector: first sector
 * @sectors: length
 */
struct story_range {
	uint64_t sector;
	uint64_t sectors;
};

/**
 * struct story_request - a request with a part of a write
 * @part: the part of the write
 * @whole: all of the request
 * @number: number of the request
 * @first: the request was counted when this part was seen
 * @merged: the request holds more than the part
 */
struct story_request {
	struct story_range part;
	struct story_range whole;
	uint64_t number;
	bool first;
	bool merged;
};

/**
 * struct story - what became of one write
 * @number: number of the write
 * @time_ns: time of its arrival, of the monotonic clock
 * @zeroes: the write is a write-zeroes
 * @pid: number of the thread that sent it
 * @comm: name of that thread
 * @range: the write
 * @touches_after: as struct shape, of the requests so far
 * @nr_splits: number of parts that were split off
 * @split: these parts
 * @nr_requests: number of requests
 * @request: the requests; in a story that has ended by sector
 */
struct story {
	uint64_t number;
	uint64_t time_ns;
	bool zeroes;
	uint32_t pid;
	char comm[OBSERVED_COMM_BYTES];
	struct story_range range;
	uint32_t touches_after;
	size_t nr_splits;
	struct story_range *split;
	size_t nr_requests;
	struct story_request *request;
};

/**
 * struct shapes - the writes to a device
 * @geometry: physical blocks of the device
 * @range: place of the device on its disk
 * @live: tree of the stories of writes in flight
 * @tree: tree of the shapes
 * @nr: number of shapes
 * @shape: the shapes, by their touches, the most first; after shapes_finish()
 * @other_shapes: number of writes whose shapes found no room
 * @writes: number of writes that arrived and were not sent back
 * @requests: number of requests with a write to the device
 * @merged: number of requests that hold several bios
 * @touches_before: partial touches of the writes
 * @touches_after: partial touches of the requests
 * @write_starts: number of writes by start in their physical block
 * @request_starts: number of requests by start in their physical block
 * @sent_back: number of writes that the disk sent back (REQ_NOWAIT)
 * @again: number of parts that were issued again, as the driver gave them back
 * @untied: number of bios in requests whose write is not known
 * @untied_bytes: their total length
 * @in_flight: number of writes that had not been completed at the end
 * @unfinished: number of these that had not been issued whole
 * @incomplete: number of writes that ended and were not issued whole
 * @best: story of the write to which most touches were added; number 0: none
 */
struct shapes {
	struct align_geometry geometry;
	struct observed_range range;
	void *live;
	void *tree;
	size_t nr;
	struct shape **shape;
	uint64_t other_shapes;
	uint64_t writes;
	uint64_t requests;
	uint64_t merged;
	uint64_t touches_before;
	uint64_t touches_after;
	uint64_t write_starts[ALIGN_PHASE_BINS];
	uint64_t request_starts[ALIGN_PHASE_BINS];
	uint64_t sent_back;
	uint64_t again;
	uint64_t untied;
	uint64_t untied_bytes;
	uint64_t in_flight;
	uint64_t unfinished;
	uint64_t incomplete;
	struct story best;
};

/* Begin with @geometry and @range set and all else 0. */

/* Take an event, in the order in which the kernel sent them. */
void shapes_take(struct shapes *shapes, const struct follow_event *event);

/* End: count the writes in flight, too, and sort the shapes. */
void shapes_finish(struct shapes *shapes);

void shapes_free(struct shapes *shapes);

/* Return the partial touches of a range of the device. */
uint32_t shapes_touches(const struct shapes *shapes,
			const struct story_range *range);

#endif
