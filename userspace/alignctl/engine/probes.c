// SPDX-License-Identifier: GPL-2.0
/*
 * Rates of the series of a run and the times of its pairs, from what each probe
 * took.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/histogram.h"
#include "base/message.h"
#include "base/units.h"
#include "engine/probes.h"

#define MB_PER_S	1e3	/* MB/s in a byte per nanosecond */

struct probes *probes_new(const struct plan *plan)
{
	struct probes *probes;

	if (!plan->workload || (plan->workload->device != WORKLOAD_SPREAD &&
				plan->workload->order != WORKLOAD_PAIRS))
		return NULL;
	probes = memory_or_exit(calloc(1, sizeof(*probes)));
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

static bool in_pairs(const struct probes *probes)
{
	return probes->plan->workload->order == WORKLOAD_PAIRS;
}

static uint64_t offset_of(const struct probes *probes, uint64_t nth)
{
	return probes->plan->start + nth * probes->plan->period;
}

void probes_add(struct probes *probes, uint64_t number, uint64_t offset,
		uint64_t bytes, uint64_t issued_ns, uint64_t ended_ns)
{
	struct probe *probe;
	uint64_t nth;

	if (!probes || offset < probes->plan->start)
		return;
	if (in_pairs(probes)) {
		if (number % 2)
			probes->probe[number / 2] = (struct probe) {
				issued_ns, ended_ns, bytes,
			};
		return;
	}
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

/* Compute a probe's rate, MB/s; false if the probe was cut short. */
static bool rate_of(const struct probes *probes, uint64_t nth, double *rate)
{
	const struct probe *probe = &probes->probe[nth];

	if (probe->bytes != probes->plan->length ||
	    probe->end_ns == probe->begin_ns)
		return false;
	*rate = MB_PER_S * probe->bytes / (probe->end_ns - probe->begin_ns);
	return true;
}

/* Rates of the complete probes, MB/s, and the slowest and fastest of them. */
struct summary {
	uint64_t nr;
	double min;
	double mean;
	double max;
	uint64_t slowest;
	uint64_t fastest;
};

static struct summary summarize_probes(const struct probes *probes)
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

static uint64_t pair_ns(const struct probes *probes, uint64_t pair)
{
	return probes->probe[pair].end_ns - probes->probe[pair].begin_ns;
}

/*
 * Return the service times of the second requests of pairs, and set @first and
 * @nr: the pairs before @first are of a warm-up. For free().
 */
static struct histogram *pair_times(const struct probes *probes,
				    uint64_t *first, uint64_t *nr)
{
	struct histogram *times = memory_or_exit(calloc(1, sizeof(*times)));
	uint64_t count = probes->plan->count, i;

	for (i = 0; i < count && !probes->probe[i].bytes; i++)
		;
	*first = i;
	for (; i < count && probes->probe[i].bytes; i++)
		histogram_add(times, pair_ns(probes, i));
	*nr = i - *first;
	return times;
}

static uint64_t distance_of(const struct probes *probes, uint64_t pair)
{
	uint32_t bytes;

	return plan_request(probes->plan, 2 * pair + 1, &bytes) -
	       plan_request(probes->plan, 2 * pair, &bytes);
}

static double percentile_us(const struct histogram *times, unsigned int rank)
{
	return ns_to_us(histogram_percentile(times, rank));
}

static void pairs_text(const struct probes *probes)
{
	uint64_t first, nr;
	CLEANUP_FREE struct histogram *times = pair_times(probes, &first, &nr);

	printf("  second us   mean %.1f  sd %.1f  min %.1f  max %.1f, of %" PRIu64
	       " pairs\n"
	       "              p50 %.1f  p90 %.1f  p99 %.1f  p99.9 %.1f\n",
	       ns_to_us(histogram_mean(times)), ns_to_us(histogram_sd(times)),
	       nr ? ns_to_us(times->min) : 0, ns_to_us(times->max), nr,
	       percentile_us(times, 5000), percentile_us(times, 9000),
	       percentile_us(times, 9900), percentile_us(times, 9990));
}

static struct json_object *pairs_json(const struct probes *probes)
{
	struct json_object *object = json_new(), *each = json_new_array();
	uint64_t first, nr, i;
	CLEANUP_FREE struct histogram *times = pair_times(probes, &first, &nr);

	for (i = first; i < first + nr; i++) {
		struct json_object *pair = json_new();

		json_add_number(pair, "distance", distance_of(probes, i));
		json_add_real(pair, "us", ns_to_us(pair_ns(probes, i)));
		json_append(each, pair);
	}
	json_add_number(object, "complete", nr);
	json_add_real(object, "mean_us", ns_to_us(histogram_mean(times)));
	json_add_real(object, "sd_us", ns_to_us(histogram_sd(times)));
	json_add_real(object, "p50_us", percentile_us(times, 5000));
	json_add_real(object, "p90_us", percentile_us(times, 9000));
	json_add_real(object, "max_us", ns_to_us(times->max));
	json_add(object, "each", each);
	return object;
}

void probes_text(const struct probes *probes)
{
	struct summary s;

	if (!probes)
		return;
	if (in_pairs(probes)) {
		pairs_text(probes);
		return;
	}
	s = summarize_probes(probes);
	printf("  probes      %" PRIu64 " of %" PRIu64 " bytes", s.nr,
	       probes->plan->length);
	if (s.nr)
		printf(": mean %.2f MB/s, min %.2f at byte %" PRIu64
		       ", max %.2f at byte %" PRIu64, s.mean, s.min,
		       offset_of(probes, s.slowest), s.max,
		       offset_of(probes, s.fastest));
	putchar('\n');
}

static const struct schema_row each_rows[] = {
	MEMBER("offset", JSON_NUMBER | JSON_ABSENT, "bytes",
	       "Of seqwrite and seqread: where the probe begins, and its rate in 10^6 bytes per second"),
	MEMBER("mb_per_s", JSON_REAL | JSON_ABSENT, NULL, AS_ABOVE),
	MEMBER("distance", JSON_NUMBER | JSON_ABSENT, "bytes",
	       "Of rnddeltaread: from the start of the first request to that of the second, and the time of the second in microseconds"),
	MEMBER("us", JSON_REAL | JSON_ABSENT, NULL, AS_ABOVE),
	{ 0 },
};

const struct schema_row probes_members[] = {
	MEMBER("complete", JSON_NUMBER, NULL,
	       "Number of complete probes, of rnddeltaread of complete pairs"),
	MEMBER("probe_bytes", JSON_NUMBER | JSON_ABSENT, "bytes",
	       "Of seqwrite and seqread: length of a probe"),
	MEMBER("mb_per_s_min", JSON_REAL | JSON_ABSENT, NULL,
	       "Of seqwrite and seqread: rates of the complete probes, in 10^6 bytes per second"),
	MEMBER("mb_per_s_mean", JSON_REAL | JSON_ABSENT, NULL, AS_ABOVE),
	MEMBER("mb_per_s_max", JSON_REAL | JSON_ABSENT, NULL, AS_ABOVE),
	MEMBER("mean_us", JSON_REAL | JSON_ABSENT, NULL,
	       "Of rnddeltaread: times of the second requests of the pairs"),
	MEMBER("sd_us", JSON_REAL | JSON_ABSENT, NULL, AS_ABOVE),
	MEMBER("p50_us", JSON_REAL | JSON_ABSENT, NULL, AS_ABOVE),
	MEMBER("p90_us", JSON_REAL | JSON_ABSENT, NULL, AS_ABOVE),
	MEMBER("max_us", JSON_REAL | JSON_ABSENT, NULL, AS_ABOVE),
	MEMBER("each", JSON_ARRAY | JSON_OBJECT, NULL,
	       "For each probe or pair", .rows = each_rows),
	{ 0 },
};

struct json_object *probes_json(const struct probes *probes)
{
	struct json_object *object, *each;
	struct summary s;
	double rate;
	uint64_t i;

	if (in_pairs(probes))
		return pairs_json(probes);
	object = json_new();
	each = json_new_array();
	s = summarize_probes(probes);
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
