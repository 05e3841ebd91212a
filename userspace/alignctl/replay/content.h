/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a device must hold after a trace was replayed: a model made by reading
 * the trace again, and the comparison. The model covers as many blocks as fit
 * in fixed memory; the trace is read once for each such part of the device.
 * Requests may begin and end at any byte.
 */
#ifndef ALIGNCTL_CONTENT_H
#define ALIGNCTL_CONTENT_H

#include "engine/engine.h"

/**
 * struct content_check - what comparing found
 * @done: was everything compared?
 * @passes: how often the trace was read
 * @sectors: sectors compared, those written in part as far as that goes: those
 *	that the trace wrote or zeroed, or that were prepared, and that it did not
 *	discard later
 * @mismatches: those of them that hold something else
 * @first_mismatch: the first such sector, if there is any
 */
struct content_check {
	bool done;
	uint64_t passes;
	uint64_t sectors;
	uint64_t mismatches;
	uint64_t first_mismatch;
};

/*
 * What a crash left of a block, worst first. A sector holds a write that it may
 * hold if that is no older than the last one that was durable.
 */
enum content_verdict {
	CONTENT_LOST,		/* a sector holds something older than durable */
	CONTENT_TORN,		/* a write is in some of its sectors, not in all */
	CONTENT_OLD,		/* a later write was made and is not there */
	CONTENT_NEW,		/* all is as after the last request */
	CONTENT_NR_VERDICTS,
};

/* "lost", "torn", "old", "new". */
extern const char *const content_verdict_names[CONTENT_NR_VERDICTS];

/**
 * struct content_crash - what a crash left
 * @done: was everything looked at?
 * @blocks: blocks of 4096 bytes by what is there
 * @first: the first of each, as sector; not set if there is none
 */
struct content_crash {
	bool done;
	uint64_t blocks[CONTENT_NR_VERDICTS];
	uint64_t first[CONTENT_NR_VERDICTS];
};

/**
 * struct content - what is to be compared
 * @source: the trace
 * @placement: where its requests went
 * @run: their mark
 * @prepared: sectors that held sequence 0 of this run before the trace
 * @nr_prepared: how many such extents there are
 * @done: which of them were made; issued is UINT64_MAX if that is not known
 * @durable: requests from the start that were durable before a crash
 * @device: what to read
 * @fd: same, open with O_DIRECT if it can be
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
 * The same after a crash: what is there, block by block of 4096 bytes. For
 * requests that are whole sectors.
 */
int content_crash(const struct content *content, struct content_crash *crash);

#endif
