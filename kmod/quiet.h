/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes of whole blocks where no block is in memory: they are counted, and not
 * registered.
 */
#ifndef DM_ALIGN_QUIET_H
#define DM_ALIGN_QUIET_H

#include <linux/cache.h>
#include <linux/types.h>

/* Areas of one target; see shard.h. */
#define ALIGN_AREAS		64

/**
 * struct quiet_counts - the share of one CPU
 * @writes: counted writes that began here, less those that ended here, by area
 */
struct quiet_counts {
	unsigned int writes[ALIGN_AREAS];
};

/**
 * struct align_quiet - the counted writes of a target
 * @cpu: the shares; a write may begin on one CPU and end on another, so that only
 *	the sum of all means something
 * @busy: areas with blocks in memory, where no write is counted any more; changes
 *	under the lock of the area's shard, read without it
 */
struct align_quiet {
	struct quiet_counts __percpu *cpu;
	bool busy[ALIGN_AREAS] ____cacheline_aligned_in_smp;
};

int quiet_init(struct align_quiet *quiet);
void quiet_exit(struct align_quiet *quiet);
bool quiet_enter(struct align_quiet *quiet, unsigned int area, bool *left);
bool quiet_leave(struct align_quiet *quiet, unsigned int area);
bool quiet_end(struct align_quiet *quiet, unsigned int area);
bool quiet_is_empty(const struct align_quiet *quiet, unsigned int area);
void quiet_begin(struct align_quiet *quiet, unsigned int area);

/* Tell whether an area has blocks in memory, or had some a moment ago. */
static inline bool quiet_is_over(const struct align_quiet *quiet,
				 unsigned int area)
{
	return READ_ONCE(quiet->busy[area]);
}

#endif
