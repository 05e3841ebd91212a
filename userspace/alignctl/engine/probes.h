/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measure the probes of workloads that consist of probes: series of requests at
 * some places, of which each has a rate; or pairs of requests, of which the
 * second one is timed.
 */
#ifndef ALIGNCTL_PROBES_H
#define ALIGNCTL_PROBES_H

#include "base/json.h"
#include "base/schema.h"
#include "workload/plan.h"

/**
 * struct probe - the measures of a probe
 * @begin_ns: time of issue of the first request
 * @end_ns: time at which the last request ended
 * @bytes: total length of the requests that have ended, bytes
 */
struct probe {
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t bytes;
};

/**
 * struct probes - the probes of a run
 * @plan: plan that the probes are of
 * @probe: plan->count probes, by rising offset; of pairs, the second requests
 */
struct probes {
	const struct plan *plan;
	struct probe *probe;
};

/* Create the probes of a plan, which is not copied; NULL if it has none. */
struct probes *probes_new(const struct plan *plan);
void probes_free(struct probes *probes);

/*
 * Add an ended request to its probe; @number is the workload's, from 0. Do
 * nothing if @probes is NULL.
 */
void probes_add(struct probes *probes, uint64_t number, uint64_t offset,
		uint64_t bytes, uint64_t issued_ns, uint64_t ended_ns);

/* Print a line or two, or nothing if @probes is NULL. */
void probes_text(const struct probes *probes);

/* Return a JSON object of the probes; @probes is not NULL. */
struct json_object *probes_json(const struct probes *probes);

/* The members of probes_json(). */
extern const struct schema_row probes_members[];

#endif
