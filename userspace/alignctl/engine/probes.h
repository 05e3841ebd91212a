/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What each probe took, of workloads that are probes: many requests one after
 * the other at each of some places, and the rate of each is what is wanted; or
 * pairs of requests, and the time of the second is.
 */
#ifndef ALIGNCTL_PROBES_H
#define ALIGNCTL_PROBES_H

#include "base/json.h"
#include "workload/plan.h"

/**
 * struct probe - one of them
 * @begin_ns: when its first request was issued
 * @end_ns: when its last one ended
 * @bytes: of those that ended
 */
struct probe {
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t bytes;
};

/**
 * struct probes - all of a run
 * @plan: what they are of
 * @probe: plan->count of them, by rising offset; of pairs the second requests
 */
struct probes {
	const struct plan *plan;
	struct probe *probe;
};

/* For a plan that stays; NULL if its workload is no probes. */
struct probes *probes_new(const struct plan *plan);
void probes_free(struct probes *probes);

/*
 * Request @number of the workload, from 0, at byte @offset, has ended; nothing
 * if @probes is NULL.
 */
void probes_add(struct probes *probes, uint64_t number, uint64_t offset,
		uint64_t bytes, uint64_t issued_ns, uint64_t ended_ns);

/* A line or two, or nothing if @probes is NULL; and an object, if it is not. */
void probes_text(const struct probes *probes);
struct json_object *probes_json(const struct probes *probes);

#endif
