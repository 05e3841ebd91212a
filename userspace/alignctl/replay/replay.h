/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Doing a workload on a device in three phases. Prepare writes every sector
 * around the workload, in whole physical blocks, and run (run.h) does
 * the workload's writes; check reads all of it back and knows what each sector
 * must hold, the untouched ones included. Only run goes through the page cache,
 * if the plan is buffered.
 */
#ifndef ALIGNCTL_REPLAY_H
#define ALIGNCTL_REPLAY_H

#include "device/device.h"
#include "engine/placement.h"
#include "geometry.h"
#include "replay/state.h"

/**
 * struct replay - one replay under way
 * @device: where
 * @fd: the device, open with O_DIRECT
 * @cached_fd: the same, open without that, if the plan is buffered
 * @geometry: its blocks, which the figures are for
 * @depth: most writes in flight of each thread
 * @threads: how many make writes
 * @warmup_ns: what starts before it is over is not measured
 * @think_s: pause after each think_writes of the workload, seconds; 0: none
 * @state: what is known about its sectors
 */
struct replay {
	const struct device *device;
	int fd;
	int cached_fd;
	struct align_geometry geometry;
	unsigned int depth;
	unsigned int threads;
	uint64_t warmup_ns;
	double think_s;
	struct replay_state state;
};

/**
 * struct replay_check - what reading back found
 * @done: was everything read?
 * @sectors: sectors compared
 * @mismatches: those that hold something else
 * @first_mismatch: the first such sector, if there is any
 */
struct replay_check {
	bool done;
	uint64_t sectors;
	uint64_t mismatches;
	uint64_t first_mismatch;
};

/* May @sector hold @sequence, after the writes that @state says were issued? */
bool replay_expects(const struct replay_state *state, uint64_t sector,
		    uint64_t sequence);

/*
 * Is the range still the one that prepare wrote? Looks at its last logical
 * block only, which no write of the workload touches: reading more, or near
 * the first write, would fill the drive's buffers and change what is measured.
 * Return: enum alignctl_exit, ALIGNCTL_BUSY if it is not; reported.
 */
int replay_still_prepared(const struct replay *replay);

/*
 * Each returns enum alignctl_exit; errors have been reported. Both stop early,
 * with ALIGNCTL_FINE, when interrupt_seen().
 */
int replay_prepare(struct replay *replay);
int replay_check(struct replay *replay, struct replay_check *check);

/* Where on the device its writes go. */
struct placement replay_placement(const struct replay *replay);

#endif
