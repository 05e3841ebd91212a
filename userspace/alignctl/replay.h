/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Doing a workload on a device in three phases. Prepare writes every sector
 * around the workload, in whole physical blocks, and run does the workload's
 * writes one at a time; check reads all of it back and knows what each sector
 * must hold, the untouched ones included.
 */
#ifndef ALIGNCTL_REPLAY_H
#define ALIGNCTL_REPLAY_H

#include "device.h"
#include "geometry.h"
#include "latency.h"
#include "replay_state.h"

/**
 * struct replay - one replay under way
 * @device: where
 * @fd: the device, open with O_DIRECT
 * @geometry: its blocks
 * @state: what is known about its sectors
 */
struct replay {
	const struct device *device;
	int fd;
	struct align_geometry geometry;
	struct replay_state state;
};

/**
 * struct replay_size - the writes of one length
 * @bytes: that length
 * @count: how many there were
 * @mean_us: their mean latency, microseconds
 */
struct replay_size {
	uint32_t bytes;
	uint64_t count;
	double mean_us;
};

/**
 * struct replay_run - what running took
 * @method: how writes were issued
 * @requests: writes acknowledged
 * @bytes: their bytes
 * @wall_s: from the first issue to the last acknowledgement, seconds
 * @flush_s: the fdatasync() after it, seconds
 * @latency: of the writes
 * @nr_sizes: lengths that occur
 * @by_size: figures for each of them, as the workload lists them
 */
struct replay_run {
	const char *method;
	uint64_t requests;
	uint64_t bytes;
	double wall_s;
	double flush_s;
	struct latency_summary latency;
	uint32_t nr_sizes;
	struct replay_size by_size[WORKLOAD_MAX_PARTS];
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

/*
 * The sectors that prepare writes and check reads: all blocks that the
 * workload touches and one more on either side, as far as the device goes.
 */
void replay_range(const struct workload *w, uint64_t count,
		  const struct align_geometry *g, uint64_t *first,
		  uint64_t *end);

/* May @sector hold @sequence, with the writes that @state says were done? */
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
 * Each returns enum alignctl_exit; errors have been reported. All stop early,
 * with ALIGNCTL_FINE, when interrupt_seen().
 */
int replay_prepare(struct replay *replay);
int replay_run(struct replay *replay, struct replay_run *run);
int replay_check(struct replay *replay, struct replay_check *check);

#endif
