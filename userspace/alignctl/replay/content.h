/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a device must hold after a replay: a model made by reading the source
 * again, and the comparison. The model covers as many blocks as fit in fixed
 * memory; the source is read once for each such pass. Requests may begin and end
 * at any byte.
 */
#ifndef ALIGNCTL_CONTENT_H
#define ALIGNCTL_CONTENT_H

#include "engine/engine.h"

/**
 * struct content_check - what comparing found
 * @done: everything was compared
 * @passes: number of times that the source was read
 * @sectors: number of sectors compared, whole or in part: sectors that were
 *	written, zeroed or prepared, and not discarded later
 * @mismatches: number of compared sectors that hold anything else
 * @first_mismatch: first sector with a mismatch; not set if there is none
 */
struct content_check {
	bool done;
	uint64_t passes;
	uint64_t sectors;
	uint64_t mismatches;
	uint64_t first_mismatch;
};

/*
 * What a crash left of a block, worst first. A sector may hold any write to it
 * that is no older than the last durable one.
 */
enum content_verdict {
	CONTENT_LOST,		/* a sector holds older data than the durable,
				 * or what the run wrote to another sector
				 */
	CONTENT_TORN,		/* a write is in some of its sectors, not in all */
	CONTENT_OLD,		/* a later write was made and is not there */
	CONTENT_NEW,		/* all is as after the last request */
	CONTENT_NR_VERDICTS,
};

/* "lost", "torn", "old", "new". */
extern const char *const content_verdict_names[CONTENT_NR_VERDICTS];

/**
 * struct content_crash - what a crash left
 * @done: everything was judged
 * @blocks: number of blocks of 4096 bytes, by verdict
 * @first: first sector of the first block of each verdict, if there is one
 */
struct content_crash {
	bool done;
	uint64_t blocks[CONTENT_NR_VERDICTS];
	uint64_t first[CONTENT_NR_VERDICTS];
};

/**
 * struct content - parameters of a comparison
 * @source: source of the requests
 * @placement: placement of the requests on the device
 * @run: run number in the labels of the requests
 * @prepared: extents that held sequence 0 of this run before the first request
 * @nr_prepared: number of these extents
 * @done: requests that were made; issued is UINT64_MAX if that is not known
 * @durable: number of requests from the start that were durable before a crash
 * @device: the device to read
 * @fd: descriptor of the device, with O_DIRECT if possible
 * @max_blocks: blocks of 4096 bytes in the model at once, at least 2; 0: as fit
 *	in 16 MiB, and as much again where requests are not whole sectors
 */
struct content {
	struct source *source;
	const struct placement *placement;
	uint64_t run;
	const struct plan_extent *prepared;
	size_t nr_prepared;
	const struct engine_done *done;
	uint64_t durable;
	const struct device *device;
	int fd;
	uint32_t max_blocks;
};

/*
 * Compare the device with the model. A discard leaves nothing to rely on: its
 * sectors are not compared until they are written again. A sector that a failed
 * request covers may hold what was there before it, or what any failed request
 * wrote there; if the request covers a part of the sector only, it is not
 * compared. Stops early, with ALIGNCTL_FINE, when interrupt_seen().
 * Return: enum alignctl_exit; errors have been reported.
 */
int content_check(const struct content *content, struct content_check *check);

/*
 * Judge what a crash left, block by block of 4096 bytes. For requests of whole
 * sectors. Return: enum alignctl_exit; errors have been reported.
 */
int content_crash(const struct content *content, struct content_crash *crash);

#endif
