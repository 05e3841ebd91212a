// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/message.h"
#include "base/units.h"
#include "replay/report.h"

/*
 * 1: workloads had latency_us and a name in "workload"; of traces "format" was
 * what is source_format; 2: traces had a number, and workloads their own keys
 */
#define JSON_FORMAT	3

/* JSON keys, headings, and ranks of 10000. */
static const struct {
	const char *key;
	const char *name;
	unsigned int rank;
} percentiles[] = {
	{ "p50", "p50", 5000 }, { "p90", "p90", 9000 }, { "p98", "p98", 9800 },
	{ "p99", "p99", 9900 }, { "p99_9", "p99.9", 9990 },
	{ "p99_99", "p99.99", 9999 },
};

#define NR_PERCENTILES	(sizeof(percentiles) / sizeof(percentiles[0]))

/* Return 0 where no time passed. */
static double per_second(double amount, double seconds)
{
	return seconds > 0 ? amount / seconds : 0;
}

/*
 * Return how far the last request was from its time, as a fraction of the time
 * that the trace took until then.
 */
static double drift(const struct measures *m)
{
	return m->last_intended_ns ?
	       (double)m->last_lag_ns / m->last_intended_ns : 0;
}

static double samples_mean(const struct measures_samples *s)
{
	return s->busy ? s->sum / s->busy : 0;
}

static double samples_sd(const struct measures_samples *s)
{
	double squares = s->squares - s->sum * samples_mean(s);

	return s->busy > 1 && squares > 0 ? sqrt(squares / (s->busy - 1)) : 0;
}

static const char *check_status(const struct content_check *check)
{
	if (!check->done)
		return "skipped";
	return check->mismatches ? "mismatch" : "ok";
}

/* Return the bytes that a workload's plan transfers. */
static uint64_t planned_bytes(const struct plan *plan)
{
	uint64_t requests = plan_requests(plan), sum = 0, i;
	uint32_t bytes;

	for (i = 0; i < requests; i++) {
		plan_request(plan, i, &bytes);
		sum += bytes;
	}
	return sum;
}

static uint64_t count_of(const struct histogram *h)
{
	return h ? h->count : 0;
}

/* Text */

static void text_times(const char *title, const struct histogram *h)
{
	size_t i;

	printf("  %-11s mean %.1f  sd %.1f  min %.1f  max %.1f\n", title,
	       ns_to_us(histogram_mean(h)), ns_to_us(histogram_sd(h)),
	       h->count ? ns_to_us(h->min) : 0, ns_to_us(h->max));
	printf("  %-11s", "");
	for (i = 0; i < NR_PERCENTILES; i++)
		printf(" %s %.1f%s", percentiles[i].name,
		       ns_to_us(histogram_percentile(h, percentiles[i].rank)),
		       i + 1 < NR_PERCENTILES ? " " : "\n");
}

static void text_row(const char *title, const char *name,
		     const struct histogram *h)
{
	if (h)
		printf("  %-11s %s: %" PRIu64 ", mean %.1f us, p99 %.1f us\n",
		       title, name, h->count, ns_to_us(histogram_mean(h)),
		       ns_to_us(histogram_percentile(h, 9900)));
}

static void text_rows(const struct measures *m)
{
	uint32_t logical = m->geometry->logical;
	uint32_t i;

	for (i = 0; i < TRACE_NR_OPS; i++)
		text_row("by kind", trace_op_names[i], m->service[i]);
	for (i = 0; i < m->nr_sizes; i++) {
		CLEANUP_FREE char *name = i < MEASURES_SIZES ?
			message_format("%" PRIu64 " bytes",
				       m->by_size[i].bytes) :
			message_format("other lengths");

		text_row("by size", name, m->by_size[i].service);
	}
	for (i = 0; i < MEASURES_CLASSES; i++)
		text_row("by class", measures_class_names[i], m->by_class[i]);
	for (i = 0; i < ALIGN_PHASE_BINS; i++) {
		CLEANUP_FREE char *name =
			message_format("start + %" PRIu32, i * logical);

		text_row("by phase", name, m->by_phase[i]);
	}
}

static void text_head(const struct replay *replay)
{
	const struct plan *plan = &replay->source.plan;

	printf("%s (%s) on %s: timing %s", replay->source.name,
	       source_facts(&replay->source).format, replay->device->path,
	       engine_timing_names[replay->timing]);
	if (replay->timing == ENGINE_OPEN)
		printf(", speed %g", replay->speed);
	if (plan->buffered)
		printf(", buffered");
	if (plan->fdatasync)
		printf(", fdatasync after each write");
	if (replay->threads > 1)
		printf(", %u threads with at most %u in flight each\n",
		       replay->threads, replay->depth);
	else
		printf(", at most %u in flight\n", replay->depth);
	printf("  geometry    physical block %" PRIu32 ", alignment offset ",
	       replay->geometry.physical);
	if (replay->offset_known)
		printf("%" PRIu32 "\n", replay->geometry.offset);
	else
		puts("unknown (taken as 0)");
}

/* Print what a workload must cost, by arithmetic. */
static void text_figures(const struct replay *replay)
{
	const struct plan_figures *f = &replay->figures;

	if (!replay->counted)
		return;
	printf("  workload    %" PRIu64 " writes, %.2f MB\n",
	       plan_requests(&replay->source.plan),
	       planned_bytes(&replay->source.plan) / MB);
	if (replay->source.plan.buffered)
		printf("  buffered    the page cache reads %" PRIu64
		       " blocks and makes %" PRIu64 " writes of it\n",
		       f->reads, f->requests);
	printf("  expected    %" PRIu64 " partial touches in %" PRIu64
	       " blocks; %" PRIu64 " blocks must be read, whatever is held\n",
	       f->touches, f->distinct, f->rmin);
}

static void text_check(const struct content_check *check)
{
	printf("  data check  %s", check_status(check));
	if (check->done)
		printf(": %" PRIu64 " sectors compared, %" PRIu64 " differ",
		       check->sectors, check->mismatches);
	putchar('\n');
}

static void text_stopped(const struct replay *replay)
{
	const struct trace_facts facts = source_facts(&replay->source);
	const struct measures *m = &replay->measures;

	printf("  stopped     by %s after %" PRIu64, replay->stopped,
	       m->requests + m->warmup_requests);
	if (facts.nr_known)
		printf(" of %" PRIu64, facts.nr);
	puts(" requests");
}

static void text_run(const struct replay *replay)
{
	const struct measures *m = &replay->measures;
	const struct measures_samples *s = &m->samples;
	CLEANUP_FREE struct histogram *service = measures_service(m);
	double wall_s = measures_wall_s(m);

	if (replay->options->warmup_ns)
		printf("  warm-up     %g s: %" PRIu64
		       " requests that are in no figure below\n",
		       ns_to_s(replay->options->warmup_ns),
		       m->warmup_requests);
	printf("  requests    %" PRIu64 " in %.3f s, then flush %.3f s\n",
	       m->requests, wall_s, replay->done.flush_s);
	printf("  whole run   %.1f IOPS, %.2f MB/s\n",
	       per_second(m->requests, wall_s),
	       per_second(m->bytes / MB, wall_s));
	if (s->busy)
		printf("  1-s samples %.1f IOPS, %.2f MB/s: mean of %" PRIu64
		       " seconds in which requests ended; sd %.1f, min %" PRIu64
		       ", max %" PRIu64 "; %" PRIu64 " seconds without\n",
		       samples_mean(s), s->sum_bytes / MB / s->busy, s->busy,
		       samples_sd(s), s->min, s->max, s->idle);
	if (m->pauses)
		printf("  pauses      %" PRIu64 ", %.3f s of the whole run\n",
		       m->pauses, ns_to_s(m->pause_ns));
	probes_text(replay->probes);
	text_times("service us", service);
	if (m->added)
		text_times("flush us", m->added);
	if (replay->timing == ENGINE_OPEN) {
		text_times("response us", m->response);
		text_times("lag us", m->lag);
		printf("  drift       %.4f %% at the last request\n",
		       drift(m) * 100);
	}
	printf("  overlaps    %" PRIu64 " requests waited for one before them\n",
	       m->waited);
	text_rows(m);
	if (m->unsupported)
		printf("  discards    %" PRIu64 " left out: %s has none\n",
		       m->unsupported, replay->device->path);
	if (replay->stopped)
		text_stopped(replay);
}

/* Print where the requests of the source lie on the device. */
static void text_placement(const struct replay *replay)
{
	const struct placement *p = &replay->placement;

	switch (p->how) {
	case PLACEMENT_EXACT:
		return;
	case PLACEMENT_WRAP:
		printf("  wrap        byte %" PRIu64
		       " of the trace goes to byte 0 of %s, and so on after each %" PRIu64
		       " bytes;\n              a request that would cross the end goes to the start as a whole\n",
		       placement_period(p), replay->device->path,
		       placement_period(p));
		break;
	case PLACEMENT_SCALE:
		printf("  scale       bytes 0 to %" PRIu64
		       " of the trace go to bytes 0 to %" PRIu64
		       " of %s, by whole physical blocks\n", p->end, p->bytes,
		       replay->device->path);
		break;
	}
	printf("  moved       %" PRIu64 " requests\n", replay->scan.moved);
}

static void text_scan(const struct replay *replay)
{
	const struct replay_scan *scan = &replay->scan;
	size_t i;

	for (i = 0; i < TRACE_NR_OPS; i++)
		if (scan->requests[i])
			printf("  %-11s %" PRIu64 ", %.2f MB\n",
			       trace_op_names[i], scan->requests[i],
			       scan->bytes[i] / MB);
	printf("  reaches     to byte %" PRIu64 " of %" PRIu64 "\n", scan->end,
	       replay->placement.bytes);
	text_placement(replay);
	if (replay->timing == ENGINE_OPEN)
		printf("  takes       %.3f s\n",
		       ns_to_s(scan->last_ns / replay->speed));
	puts("  nothing was done: --dry-run");
}

static void text_report(const struct replay *replay)
{
	text_head(replay);
	text_figures(replay);
	if (replay->options->dry_run) {
		text_scan(replay);
		return;
	}
	if (replay->ran)
		text_run(replay);
	text_check(&replay->check);
}

/* JSON */

/*
 * Return pairs of a bin's upper bound, microseconds, and its count, in the bins
 * of the target's own histograms: those of @h nest in them.
 */
static struct json_object *json_histogram(const struct histogram *h)
{
	struct json_object *bins = json_new_array();
	uint64_t count[ALIGN_LATENCY_BINS] = { 0 };
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BINS; i++)
		if (h->bin[i])
			count[align_latency_bin(histogram_low(i))] += h->bin[i];
	for (i = 0; i < ALIGN_LATENCY_BINS; i++) {
		/* the last bin has no upper bound */
		bool open = i == ALIGN_LATENCY_BINS - 1;

		if (count[i])
			json_append_bin(bins, ns_to_us(open ? h->max :
						align_latency_bin_end(i)),
					count[i]);
	}
	return bins;
}

static struct json_object *json_times(const struct histogram *h)
{
	struct json_object *object = json_new();
	size_t i;

	json_add_number(object, "count", h->count);
	json_add_real(object, "mean", ns_to_us(histogram_mean(h)));
	json_add_real(object, "sd", ns_to_us(histogram_sd(h)));
	json_add_real(object, "min", h->count ? ns_to_us(h->min) : 0);
	for (i = 0; i < NR_PERCENTILES; i++)
		json_add_real(object, percentiles[i].key,
			      ns_to_us(histogram_percentile(
					h, percentiles[i].rank)));
	json_add_real(object, "max", ns_to_us(h->max));
	return object;
}

static struct json_object *json_time_line(const struct measures *m)
{
	struct json_object *array = json_new_array();
	uint32_t i;

	for (i = 0; i < m->nr_slices; i++) {
		const struct measures_slice *slice = &m->slice[i];
		struct json_object *object = json_new();

		json_add_real(object, "end_s", ns_to_s(slice->end_ns));
		json_add_number(object, "count", slice->count);
		json_add_real(object, "mean_us",
			      ns_to_us(slice->sum_ns) / slice->count);
		json_add_real(object, "max_us", ns_to_us(slice->max_ns));
		json_append(array, object);
	}
	return array;
}

/* Return the times with their histogram. */
static struct json_object *json_all_times(const struct histogram *h)
{
	struct json_object *object = json_times(h);

	json_add(object, "histogram", json_histogram(h));
	return object;
}

/* Append a row of a table: what it is about, and the service times. */
static void json_add_row(struct json_object *array, const char *key,
			 struct json_object *value, const struct histogram *h)
{
	struct json_object *object = json_new();

	json_add(object, key, value);
	json_add(object, "service_us", json_times(h));
	json_append(array, object);
}

static struct json_object *json_table(const char *key,
				      const char *const *names, size_t nr,
				      struct histogram *const *h)
{
	struct json_object *array = json_new_array();
	size_t i;

	for (i = 0; i < nr; i++)
		if (h[i])
			json_add_row(array, key,
				     json_object_new_string(names[i]), h[i]);
	return array;
}

static struct json_object *json_sizes(const struct measures *m)
{
	struct json_object *array = json_new_array();
	uint32_t i;

	for (i = 0; i < m->nr_sizes; i++)
		json_add_row(array, "bytes", i < MEASURES_SIZES ?
			     json_object_new_uint64(m->by_size[i].bytes) : NULL,
			     m->by_size[i].service);
	return array;
}

static struct json_object *json_phases(const struct measures *m)
{
	struct json_object *array = json_new_array();
	uint32_t i;

	for (i = 0; i < ALIGN_PHASE_BINS; i++)
		if (m->by_phase[i])
			json_add_row(array, "phase",
				     json_object_new_uint64(i *
						m->geometry->logical),
				     m->by_phase[i]);
	return array;
}

static struct json_object *json_samples(const struct measures_samples *s)
{
	struct json_object *object;

	if (!s->busy)
		return NULL;
	object = json_new();
	json_add_number(object, "seconds", s->busy);
	json_add_number(object, "seconds_idle", s->idle);
	json_add_real(object, "iops", samples_mean(s));
	json_add_real(object, "iops_sd", samples_sd(s));
	json_add_number(object, "iops_min", s->min);
	json_add_number(object, "iops_max", s->max);
	json_add_real(object, "mb_per_s", s->sum_bytes / MB / s->busy);
	return object;
}

/* Add the parameters of a workload; null where it has no such thing. */
static void json_add_plan(struct json_object *object, const struct plan *plan)
{
	const struct workload *w = plan->workload;
	const struct { const char *key; bool has; uint64_t n; } rows[] = {
		{ "count", true, plan->count },
		{ "start", true, plan->start },
		{ "span", workload_random(w) ||
			  w->device == WORKLOAD_SPREAD,
		  workload_random(w) ? plan->places * plan->period :
						plan_end(plan) - plan->start },
		{ "areas", w->order == WORKLOAD_ROUNDS, plan->places },
		{ "seed", workload_random(w), plan->seed },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].has)
			json_add_number(object, rows[i].key, rows[i].n);
		else
			json_add_null(object, rows[i].key);
	}
}

/* Add what a workload that writes must cost. */
static void json_add_figures(struct json_object *object,
			     const struct plan_figures *figures)
{
	json_add_number(object, "writes_expected", figures->requests);
	json_add_number(object, "reads_expected", figures->reads);
	json_add_number(object, "touches_expected", figures->touches);
	json_add_number(object, "rmin", figures->rmin);
	json_add_number(object, "distinct_blocks", figures->distinct);
}

/* Begin the document with what was asked for. */
static struct json_object *json_head(const struct replay *replay)
{
	const struct plan *plan = &replay->source.plan;
	struct json_object *object = json_new_document(JSON_FORMAT);

	json_add_text(object, "source", replay->source.name);
	json_add_text(object, "source_format",
		      source_facts(&replay->source).format);
	json_add_text(object, "device", replay->device->path);
	if (plan->workload)
		json_add_plan(object, plan);
	json_add_text(object, "timing", engine_timing_names[replay->timing]);
	if (replay->timing == ENGINE_OPEN)
		json_add_real(object, "speed", replay->speed);
	else
		json_add_null(object, "speed");
	json_add_bool(object, "buffered", plan->buffered);
	json_add_bool(object, "fdatasync", plan->fdatasync);
	json_add_number(object, "depth", replay->depth);
	json_add_number(object, "threads", replay->threads);
	json_add_real(object, "warmup_s", ns_to_s(replay->options->warmup_ns));
	json_add_number(object, "physical_block_size",
			replay->geometry.physical);
	if (replay->offset_known)
		json_add_number(object, "alignment_offset",
				replay->geometry.offset);
	else
		json_add_text(object, "alignment_offset", "unknown");
	if (replay->counted)
		json_add_figures(object, &replay->figures);
	return object;
}

static struct json_object *json_check(const struct content_check *check)
{
	struct json_object *object = json_new();

	json_add_text(object, "status", check_status(check));
	json_add_number(object, "sectors", check->sectors);
	json_add_number(object, "mismatches", check->mismatches);
	if (check->mismatches)
		json_add_number(object, "first_mismatch_sector",
				check->first_mismatch);
	else
		json_add_null(object, "first_mismatch_sector");
	json_add_number(object, "passes", check->passes);
	return object;
}

/* Return what sysfs says of the device: it tells set-ups from each other. */
static struct json_object *json_device_facts(const struct device *device)
{
	static const char *const queue[] = {
		"scheduler", "nomerges", "max_sectors_kb", "max_segments",
		"write_cache",
	};
	struct json_object *object = json_new();
	size_t i;

	json_add_text(object, "kind", device->block ?
		      (device->sys.partition ? "partition" : "disk") : "file");
	json_add_number(object, "size_bytes",
			device->sectors << ALIGN_SECTOR_SHIFT);
	json_add_number(object, "logical_block_size", device->logical);
	json_add_number(object, "physical_block_size", device->physical);
	if (!device->block)
		return object;
	if (device->alignment_offset < 0)
		json_add_text(object, "alignment_offset", "unknown");
	else
		json_add_number(object, "alignment_offset",
				device->alignment_offset);
	json_add_number(object, "io_min", device->io_min);
	json_add_number(object, "io_opt", device->io_opt);
	json_add_bool(object, "rotational", device->rotational);
	for (i = 0; i < sizeof(queue) / sizeof(queue[0]); i++) {
		CLEANUP_FREE char *file = message_format("queue/%s", queue[i]);
		CLEANUP_FREE char *text = sysfs_text(device->sys.disk_dir,
						     file);

		json_add_text(object, queue[i], text);
	}
	return object;
}

static void json_add_run(struct json_object *object,
			 const struct replay *replay)
{
	const struct measures *m = &replay->measures;
	CLEANUP_FREE struct histogram *service = measures_service(m);
	double wall_s = measures_wall_s(m);

	json_add_number(object, "depth_reached", m->most_in_flight);
	json_add_text(object, "method", replay->done.method);
	json_add_number(object, "warmup_requests", m->warmup_requests);
	json_add_number(object, "requests", m->requests);
	json_add_number(object, "flushes",
			count_of(m->service[TRACE_FLUSH]) + count_of(m->added));
	json_add_number(object, "bytes", m->bytes);
	json_add_number(object, "issued", replay->done.issued);
	json_add_number(object, "failed", replay->done.nr_failed);
	json_add_number(object, "discards_unsupported", m->unsupported);
	json_add_number(object, "waited_for_overlap", m->waited);
	json_add_text(object, "stopped", replay->stopped);
	json_add_real(object, "wall_s", wall_s);
	if (m->pauses) {
		json_add_number(object, "pauses", m->pauses);
		json_add_real(object, "pause_s", ns_to_s(m->pause_ns));
	}
	json_add_real(object, "flush_s", replay->done.flush_s);
	json_add_real(object, "iops", per_second(m->requests, wall_s));
	json_add_real(object, "mb_per_s", per_second(m->bytes / MB, wall_s));
	json_add(object, "samples_1s", json_samples(&m->samples));
	json_add(object, "service_us", json_all_times(service));
	json_add(object, "flush_us",
		 m->added ? json_all_times(m->added) : NULL);
	if (replay->timing == ENGINE_OPEN) {
		json_add(object, "response_us", json_all_times(m->response));
		json_add(object, "lag_us", json_all_times(m->lag));
		json_add_real(object, "drift", drift(m));
	} else {
		json_add_null(object, "response_us");
		json_add_null(object, "lag_us");
		json_add_null(object, "drift");
	}
	json_add(object, "time_line", json_time_line(m));
	json_add(object, "by_kind", json_table("kind", trace_op_names,
					       TRACE_NR_OPS, m->service));
	json_add(object, "by_size", json_sizes(m));
	json_add(object, "by_class", json_table("class", measures_class_names,
						MEASURES_CLASSES, m->by_class));
	json_add(object, "by_phase", json_phases(m));
	if (replay->probes)
		json_add(object, "probes", probes_json(replay->probes));
}

/* Add what would be done. */
static void json_add_scan(struct json_object *object,
			  const struct replay *replay)
{
	const struct replay_scan *scan = &replay->scan;
	struct json_object *kinds = json_new_array();
	size_t i;

	for (i = 0; i < TRACE_NR_OPS; i++) {
		struct json_object *kind;

		if (!scan->requests[i])
			continue;
		kind = json_new();
		json_add_text(kind, "kind", trace_op_names[i]);
		json_add_number(kind, "requests", scan->requests[i]);
		json_add_number(kind, "bytes", scan->bytes[i]);
		json_append(kinds, kind);
	}
	json_add(object, "by_kind", kinds);
	json_add_number(object, "end", scan->end);
	json_add_number(object, "device_bytes", replay->placement.bytes);
	json_add_text(object, "placement",
		      placement_names[replay->placement.how]);
	if (replay->placement.how == PLACEMENT_WRAP)
		json_add_number(object, "wrap_bytes",
				placement_period(&replay->placement));
	else
		json_add_null(object, "wrap_bytes");
	json_add_number(object, "moved", scan->moved);
	json_add_bool(object, "dry_run", true);
}

static void json_report(const struct replay *replay)
{
	const struct plan *plan = &replay->source.plan;
	struct json_object *object = json_head(replay);

	if (replay->options->dry_run) {
		json_add_scan(object, replay);
	} else {
		if (replay->ran) {
			json_add_run(object, replay);
		} else {
			json_add_number(object, "requests",
					plan_requests(plan));
			json_add_number(object, "bytes", planned_bytes(plan));
		}
		json_add(object, "data_check", json_check(&replay->check));
		json_add(object, "device_facts",
			 json_device_facts(replay->device));
	}
	json_print(object, false);
}

void replay_report(const struct replay *replay)
{
	if (replay->options->json)
		json_report(replay);
	else
		text_report(replay);
}
