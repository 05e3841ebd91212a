// SPDX-License-Identifier: GPL-2.0
/* Print a replay: the plan, the run's times, samples and tables, and the check. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/message.h"
#include "base/units.h"
#include "replay/report.h"
#include "replay/times.h"

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

/* Fill a row of times. Return: whether there are any. */
typedef bool (*row_fn)(const struct measures *m, uint32_t index,
		       struct times_row *row);

static bool kind_row(const struct measures *m, uint32_t index,
		     struct times_row *row)
{
	*row = (struct times_row) {
		.name = trace_op_names[index], .times = m->service[index],
	};
	return row->times;
}

static bool size_row(const struct measures *m, uint32_t index,
		     struct times_row *row)
{
	*row = (struct times_row) {
		.name = index < MEASURES_SIZES ? NULL : "others",
		.number = m->by_size[index].bytes,
		.times = m->by_size[index].service,
	};
	return index < m->nr_sizes;
}

static bool class_row(const struct measures *m, uint32_t index,
		      struct times_row *row)
{
	*row = (struct times_row) {
		.name = measures_class_names[index],
		.times = m->by_class[index],
	};
	return row->times;
}

static bool phase_row(const struct measures *m, uint32_t index,
		      struct times_row *row)
{
	*row = (struct times_row) {
		.number = (uint64_t)index * align_phase_bin_bytes(m->geometry),
		.times = m->by_phase[index],
	};
	return row->times;
}

/* The tables of service times, in their order; @key: their array in the document. */
static const struct {
	const char *key;
	enum times_by by;
	row_fn row;
	uint32_t nr;
} tables[] = {
	{ "by_kind", TIMES_KIND, kind_row, TRACE_NR_OPS },
	{ "by_size", TIMES_SIZE, size_row, MEASURES_SIZES + 1 },
	{ "by_class", TIMES_CLASS, class_row, MEASURES_CLASSES },
	{ "by_phase", TIMES_PHASE, phase_row, ALIGN_PHASE_BINS },
};

#define NR_TABLES	(sizeof(tables) / sizeof(tables[0]))

static void add_times(struct table *table, const char *name,
		      const struct histogram *times)
{
	if (times)
		table_add(table, &(struct times_row) {
			  .name = name, .times = times });
}

/* Print the times of the whole run. */
static void text_times(const struct measures *m,
		       const struct histogram *service)
{
	struct table *table = table_new(&times_table[TIMES_WHOLE]);

	add_times(table, "service", service);
	add_times(table, "response", m->response);
	add_times(table, "lag", m->lag);
	add_times(table, "flush", m->added);
	table_print(table, 2);
}

/* Print the service times by kind, size, class and phase. */
static void text_tables(const struct measures *m)
{
	struct times_row row;
	uint32_t t, i;

	for (t = 0; t < NR_TABLES; t++) {
		struct table *table = table_new(&times_table[tables[t].by]);

		for (i = 0; i < tables[t].nr; i++)
			if (tables[t].row(m, i, &row))
				table_add(table, &row);
		table_print(table, 2);
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
	printf("  geometry    physical block %s, alignment offset %s\n",
	       figure(FIGURE_LENGTH, replay->geometry.physical).text,
	       replay->offset_known ?
	       figure(FIGURE_LENGTH, replay->geometry.offset).text :
	       "unknown (taken as 0)");
}

/* Print what a workload must cost, by arithmetic. */
static void text_figures(const struct replay *replay)
{
	const struct plan_figures *f = &replay->figures;

	if (!replay->counted)
		return;
	printf("  workload    %s writes, %s\n",
	       FIGURE_OF(plan_requests(&replay->source.plan)),
	       figure(FIGURE_BYTES, planned_bytes(&replay->source.plan)).text);
	if (replay->source.plan.buffered)
		printf("  buffered    the page cache reads %s blocks and makes %s writes of it\n",
		       FIGURE_OF(f->reads), FIGURE_OF(f->requests));
	printf("  expected    %s partial touches in %s blocks; %s blocks must be read, even with all touches held\n",
	       FIGURE_OF(f->touches), FIGURE_OF(f->distinct),
	       FIGURE_OF(f->rmin));
}

static void text_check(const struct content_check *check)
{
	printf("  data check  %s", check_status(check));
	if (check->done)
		printf(": %s sectors compared, %s differ",
		       FIGURE_OF(check->sectors),
		       FIGURE_OF(check->mismatches));
	putchar('\n');
}

static void text_stopped(const struct replay *replay)
{
	const struct trace_facts facts = source_facts(&replay->source);
	const struct measures *m = &replay->measures;

	printf("  stopped     by %s after %s", replay->stopped,
	       FIGURE_OF(m->requests + m->warmup_requests));
	if (facts.nr_known)
		printf(" of %s", FIGURE_OF(facts.nr));
	puts(" requests");
}

static void text_run(const struct replay *replay)
{
	const struct measures *m = &replay->measures;
	const struct measures_samples *s = &m->samples;
	CLEANUP_FREE struct histogram *service = measures_service(m);
	double wall_s = measures_wall_s(m);

	if (replay->options->warmup_ns)
		printf("  warm-up     %s: %s requests that are in no figure below\n",
		       figure(FIGURE_NS, replay->options->warmup_ns).text,
		       FIGURE_OF(m->warmup_requests));
	printf("  requests    %s in %s, then flush %s\n",
	       FIGURE_OF(m->requests), figure(FIGURE_S, wall_s).text,
	       figure(FIGURE_S, replay->done.flush_s).text);
	printf("  whole run   %s IOPS, %s/s\n",
	       FIGURE_OF(per_second(m->requests, wall_s)),
	       figure(FIGURE_BYTES, per_second(m->bytes, wall_s)).text);
	if (s->busy)
		printf("  1-s samples %s IOPS, %s/s: mean of %s seconds in which requests ended; sd %s, min %s, max %s; %s seconds without\n",
		       FIGURE_OF(samples_mean(s)),
		       figure(FIGURE_BYTES, s->sum_bytes / s->busy).text,
		       FIGURE_OF(s->busy), FIGURE_OF(samples_sd(s)),
		       FIGURE_OF(s->min), FIGURE_OF(s->max),
		       FIGURE_OF(s->idle));
	if (m->pauses)
		printf("  pauses      %s, %s of the whole run\n",
		       FIGURE_OF(m->pauses),
		       figure(FIGURE_NS, m->pause_ns).text);
	probes_text(replay->probes);
	text_times(m, service);
	if (replay->timing == ENGINE_OPEN)
		printf("  drift       %s at the last request\n",
		       figure(FIGURE_PER_CENT, drift(m) * 100).text);
	printf("  overlaps    %s requests waited for an earlier one\n",
	       FIGURE_OF(m->waited));
	text_tables(m);
	if (m->unsupported)
		printf("  discards    %s left out: %s has none\n",
		       FIGURE_OF(m->unsupported), replay->device->path);
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
	printf("  moved       %s requests\n", FIGURE_OF(replay->scan.moved));
}

static void text_scan(const struct replay *replay)
{
	const struct replay_scan *scan = &replay->scan;
	size_t i;

	for (i = 0; i < TRACE_NR_OPS; i++)
		if (scan->requests[i])
			printf("  %-11s %s, %s\n", trace_op_names[i],
			       FIGURE_OF(scan->requests[i]),
			       figure(FIGURE_BYTES, scan->bytes[i]).text);
	printf("  reaches     to byte %" PRIu64 " of %" PRIu64 "\n", scan->end,
	       replay->placement.bytes);
	text_placement(replay);
	if (replay->timing == ENGINE_OPEN)
		printf("  takes       %s\n",
		       figure(FIGURE_NS, (scan->last_ns - scan->first_ns) /
			      replay->speed).text);
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
	const struct times_row row = { .times = h };
	struct json_object *object = table_json(&times_table[TIMES_WHOLE],
						&row);

	json_add(object, "histogram", json_histogram(h));
	return object;
}

/* Add the arrays of service times by kind, size, class and phase. */
static void json_add_tables(struct json_object *object,
			    const struct measures *m)
{
	struct times_row row;
	uint32_t t, i;

	for (t = 0; t < NR_TABLES; t++) {
		struct json_object *array = json_new_array();

		for (i = 0; i < tables[t].nr; i++)
			if (tables[t].row(m, i, &row))
				json_append(array, table_json(
					&times_table[tables[t].by], &row));
		json_add(object, tables[t].key, array);
	}
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

/* Begin the document with the options of the run. */
static struct json_object *json_head(const struct replay *replay)
{
	const struct plan *plan = &replay->source.plan;
	struct json_object *object = json_new_document(REPLAY_FORMAT);

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
	int64_t offset;
	size_t i;

	json_add_text(object, "kind", device->block ?
		      (device->sys.partition ? "partition" : "disk") : "file");
	json_add_number(object, "size_bytes",
			device->sectors << ALIGN_SECTOR_SHIFT);
	json_add_number(object, "logical_block_size", device->logical);
	json_add_number(object, "physical_block_size", device->physical);
	if (!device->block)
		return object;
	if (maybe_get(device->alignment_offset, &offset))
		json_add_number(object, "alignment_offset", (uint64_t)offset);
	else
		json_add_text(object, "alignment_offset", "unknown");
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
	json_add_tables(object, m);
	if (replay->probes)
		json_add(object, "probes", probes_json(replay->probes));
	if (replay->options->each)
		json_add(object, "each_us", each_json(&replay->each));
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
