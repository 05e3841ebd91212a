// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "message.h"
#include "probes.h"

#define MB_PER_S	1e3	/* a byte per nanosecond is a thousand of them */

struct probes *probes_new(const struct plan *plan)
{
	struct probes *probes;

	if (!plan->workload || plan->workload->device != WORKLOAD_SPREAD)
		return NULL;
	probes = memory_or_exit(malloc(sizeof(*probes)));
	probes->plan = plan;
	probes->probe = memory_or_exit(calloc(plan->count,
					      sizeof(*probes->probe)));
	return probes;
}

void probes_free(struct probes *probes)
{
	if (!probes)
		return;
	free(probes->probe);
	free(probes);
}

static uint64_t offset_of(const struct probes *probes, uint64_t nth)
{
	return probes->plan->start + nth * probes->plan->period;
}

void probes_add(struct probes *probes, uint64_t offset, uint64_t bytes,
		uint64_t issued_ns, uint64_t ended_ns)
{
	struct probe *probe;
	uint64_t nth;

	if (!probes || offset < probes->plan->start)
		return;
	nth = (offset - probes->plan->start) / probes->plan->period;
	if (nth >= probes->plan->count)
		return;
	probe = &probes->probe[nth];
	if (!probe->bytes || issued_ns < probe->begin_ns)
		probe->begin_ns = issued_ns;
	if (ended_ns > probe->end_ns)
		probe->end_ns = ended_ns;
	probe->bytes += bytes;
}

/* Is it complete? One that was cut short has no rate to compare. */
static bool rate_of(const struct probes *probes, uint64_t nth, double *rate)
{
	const struct probe *probe = &probes->probe[nth];

	if (probe->bytes != probes->plan->length ||
	    probe->end_ns == probe->begin_ns)
		return false;
	*rate = MB_PER_S * probe->bytes / (probe->end_ns - probe->begin_ns);
	return true;
}

/* Rates, MB/s, of those that are complete; and which are least and greatest. */
struct summary {
	uint64_t nr;
	double min;
	double mean;
	double max;
	uint64_t slowest;
	uint64_t fastest;
};

static struct summary summarize(const struct probes *probes)
{
	struct summary s = { 0 };
	double sum = 0, rate;
	uint64_t i;

	for (i = 0; i < probes->plan->count; i++) {
		if (!rate_of(probes, i, &rate))
			continue;
		if (!s.nr || rate < s.min) {
			s.min = rate;
			s.slowest = i;
		}
		if (!s.nr || rate > s.max) {
			s.max = rate;
			s.fastest = i;
		}
		sum += rate;
		s.nr++;
	}
	if (s.nr)
		s.mean = sum / s.nr;
	return s;
}

void probes_text(const struct probes *probes)
{
	struct summary s;

	if (!probes)
		return;
	s = summarize(probes);
	printf("  probes      %" PRIu64 " of %" PRIu64 " bytes", s.nr,
	       probes->plan->length);
	if (s.nr)
		printf(": mean %.2f MB/s, min %.2f at byte %" PRIu64
		       ", max %.2f at byte %" PRIu64, s.mean, s.min,
		       offset_of(probes, s.slowest), s.max,
		       offset_of(probes, s.fastest));
	putchar('\n');
}

struct json_object *probes_json(const struct probes *probes)
{
	struct json_object *object = json_new(), *each = json_new_array();
	struct summary s = summarize(probes);
	double rate;
	uint64_t i;

	json_add_number(object, "complete", s.nr);
	json_add_number(object, "probe_bytes", probes->plan->length);
	json_add_real(object, "mb_per_s_min", s.min);
	json_add_real(object, "mb_per_s_mean", s.mean);
	json_add_real(object, "mb_per_s_max", s.max);
	for (i = 0; i < probes->plan->count; i++) {
		struct json_object *one;

		if (!rate_of(probes, i, &rate))
			continue;
		one = json_new();
		json_add_number(one, "offset", offset_of(probes, i));
		json_add_real(one, "mb_per_s", rate);
		json_append(each, one);
	}
	json_add(object, "each", each);
	return object;
}
