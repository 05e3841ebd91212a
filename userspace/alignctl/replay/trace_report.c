// SPDX-License-Identifier: GPL-2.0
/* What replaying a trace took, for people and as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/message.h"
#include "base/units.h"
#include "replay/report.h"
#include "replay/trace.h"

/* 1: what it was before documents had a number; there format was what is now source_format. */
#define JSON_FORMAT	2
#define CRASH_JSON_FORMAT	1

static const struct { const char *name; unsigned int rank; } percentiles[] = {
	{ "p50", 5000 }, { "p90", 9000 }, { "p98", 9800 }, { "p99", 9900 },
	{ "p99_9", 9990 }, { "p99_99", 9999 },
};

#define NR_PERCENTILES	(sizeof(percentiles) / sizeof(percentiles[0]))

/*
 * How far the last request was from its time, in parts of the time that the
 * trace took until then.
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

static void text_head(const struct replay_trace *trace)
{
	printf("%s (%s) on %s: timing %s", trace->source.name,
	       source_facts(&trace->source).format, trace->device->path,
	       engine_timing_names[trace->timing]);
	if (trace->timing == ENGINE_OPEN)
		printf(", speed %g", trace->speed);
	if (trace->options->buffered)
		printf(", buffered");
	if (trace->source.plan.fdatasync)
		printf(", fdatasync after each write");
	if (trace->threads > 1)
		printf(", %u threads with at most %u in flight each\n",
		       trace->threads, trace->depth);
	else
		printf(", at most %u in flight\n", trace->depth);
	printf("  geometry    physical block %" PRIu32 ", alignment offset ",
	       trace->geometry->physical);
	if (trace->offset_known)
		printf("%" PRIu32 "\n", trace->geometry->offset);
	else
		puts("unknown (taken as 0)");
}

static void text_report(const struct replay_trace *trace)
{
	const struct measures *m = &trace->measures;
	const struct measures_samples *s = &m->samples;
	CLEANUP_FREE struct histogram *service = measures_service(m);

	text_head(trace);
	if (trace->options->warmup_ns)
		printf("  warm-up     %g s: %" PRIu64
		       " requests that are in no figure below\n",
		       ns_to_s(trace->options->warmup_ns), m->warmup_requests);
	printf("  requests    %" PRIu64 " in %.3f s, then flush %.3f s\n",
	       service->count, measures_wall_s(m), trace->done.flush_s);
	printf("  whole run   %.1f IOPS, %.2f MB/s\n",
	       per_second(service->count, measures_wall_s(m)),
	       per_second(m->bytes / MB, measures_wall_s(m)));
	if (s->busy)
		printf("  1-s samples %.1f IOPS, %.2f MB/s: mean of %" PRIu64
		       " seconds in which requests ended; sd %.1f, min %" PRIu64
		       ", max %" PRIu64 "; %" PRIu64 " seconds without\n",
		       samples_mean(s), s->sum_bytes / MB / s->busy, s->busy,
		       samples_sd(s), s->min, s->max, s->idle);
	if (m->pauses)
		printf("  pauses      %" PRIu64 ", %.3f s of the whole run\n",
		       m->pauses, ns_to_s(m->pause_ns));
	probes_text(trace->probes);
	text_times("service us", service);
	if (trace->timing == ENGINE_OPEN) {
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
		       m->unsupported, trace->device->path);
	if (trace->stopped)
		printf("  stopped     by %s after %" PRIu64 " requests\n",
		       trace->stopped, trace->done.issued);
	printf("  data check  %s", check_status(&trace->check));
	if (trace->check.done)
		printf(": %" PRIu64 " sectors compared, %" PRIu64 " differ",
		       trace->check.sectors, trace->check.mismatches);
	putchar('\n');
}

/* JSON */

static struct json_object *json_times(const struct histogram *h)
{
	struct json_object *object = json_new();
	size_t i;

	json_add_number(object, "count", h->count);
	json_add_real(object, "mean", ns_to_us(histogram_mean(h)));
	json_add_real(object, "sd", ns_to_us(histogram_sd(h)));
	json_add_real(object, "min", h->count ? ns_to_us(h->min) : 0);
	for (i = 0; i < NR_PERCENTILES; i++)
		json_add_real(object, percentiles[i].name,
			      ns_to_us(histogram_percentile(
					h, percentiles[i].rank)));
	json_add_real(object, "max", ns_to_us(h->max));
	return object;
}

/* One row of a table: what it is about, and the service times. */
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

static struct json_object *json_head(const struct replay_trace *trace)
{
	struct json_object *object = json_new_document(JSON_FORMAT);

	json_add_text(object, "source", trace->source.name);
	json_add_text(object, "source_format",
		      source_facts(&trace->source).format);
	json_add_text(object, "device", trace->device->path);
	json_add_text(object, "timing", engine_timing_names[trace->timing]);
	if (trace->timing == ENGINE_OPEN)
		json_add_real(object, "speed", trace->speed);
	else
		json_add_null(object, "speed");
	json_add_bool(object, "buffered", trace->options->buffered);
	json_add_bool(object, "fdatasync", trace->source.plan.fdatasync);
	json_add_number(object, "depth", trace->depth);
	json_add_number(object, "threads", trace->threads);
	json_add_real(object, "warmup_s", ns_to_s(trace->options->warmup_ns));
	json_add_number(object, "physical_block_size",
			trace->geometry->physical);
	if (trace->offset_known)
		json_add_number(object, "alignment_offset",
				trace->geometry->offset);
	else
		json_add_text(object, "alignment_offset", "unknown");
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

static void json_report(const struct replay_trace *trace)
{
	const struct measures *m = &trace->measures;
	struct json_object *object = json_head(trace);
	CLEANUP_FREE struct histogram *service = measures_service(m);

	json_add_number(object, "depth_reached", m->most_in_flight);
	json_add_text(object, "method", trace->done.method);
	json_add_number(object, "warmup_requests", m->warmup_requests);
	json_add_number(object, "requests", service->count);
	json_add_number(object, "bytes", m->bytes);
	json_add_number(object, "issued", trace->done.issued);
	json_add_number(object, "failed", trace->done.nr_failed);
	json_add_number(object, "discards_unsupported", m->unsupported);
	json_add_number(object, "waited_for_overlap", m->waited);
	json_add_text(object, "stopped", trace->stopped);
	json_add_real(object, "wall_s", measures_wall_s(m));
	if (m->pauses) {
		json_add_number(object, "pauses", m->pauses);
		json_add_real(object, "pause_s", ns_to_s(m->pause_ns));
	}
	json_add_real(object, "flush_s", trace->done.flush_s);
	json_add_real(object, "iops", per_second(service->count, measures_wall_s(m)));
	json_add_real(object, "mb_per_s",
		      per_second(m->bytes / MB, measures_wall_s(m)));
	json_add(object, "samples_1s", json_samples(&m->samples));
	json_add(object, "service_us", json_times(service));
	if (trace->timing == ENGINE_OPEN) {
		json_add(object, "response_us", json_times(m->response));
		json_add(object, "lag_us", json_times(m->lag));
		json_add_real(object, "drift", drift(m));
	} else {
		json_add_null(object, "response_us");
		json_add_null(object, "lag_us");
		json_add_null(object, "drift");
	}
	json_add(object, "by_kind", json_table("kind", trace_op_names,
					       TRACE_NR_OPS, m->service));
	json_add(object, "by_size", json_sizes(m));
	json_add(object, "by_class", json_table("class", measures_class_names,
						MEASURES_CLASSES, m->by_class));
	json_add(object, "by_phase", json_phases(m));
	if (trace->probes)
		json_add(object, "probes", probes_json(trace->probes));
	json_add(object, "data_check", json_check(&trace->check));
	json_add(object, "device_facts", json_device_facts(trace->device));
	json_print(object, false);
}

void trace_report(const struct replay_trace *trace)
{
	if (trace->options->json)
		json_report(trace);
	else
		text_report(trace);
}

/* The plan of a run that is not made */

/* Where what the trace reaches lies on the device. */
static void text_placement(const struct replay_trace *trace)
{
	const struct placement *p = &trace->placement;

	switch (p->how) {
	case PLACEMENT_EXACT:
		return;
	case PLACEMENT_WRAP:
		printf("  wrap        byte %" PRIu64
		       " of the trace goes to byte 0 of %s, and so on after each %" PRIu64
		       " bytes;\n              a request that would cross the end goes to the start as a whole\n",
		       placement_period(p), trace->device->path,
		       placement_period(p));
		break;
	case PLACEMENT_SCALE:
		printf("  scale       bytes 0 to %" PRIu64
		       " of the trace go to bytes 0 to %" PRIu64
		       " of %s, by whole physical blocks\n", p->end, p->bytes,
		       trace->device->path);
		break;
	}
	printf("  moved       %" PRIu64 " requests\n", trace->scan.moved);
}

static void text_plan(const struct replay_trace *trace)
{
	const struct trace_scan *scan = &trace->scan;
	size_t i;

	text_head(trace);
	for (i = 0; i < TRACE_NR_OPS; i++)
		if (scan->requests[i])
			printf("  %-11s %" PRIu64 ", %.2f MB\n",
			       trace_op_names[i], scan->requests[i],
			       scan->bytes[i] / MB);
	printf("  reaches     to byte %" PRIu64 " of %" PRIu64 "\n", scan->end,
	       trace->placement.bytes);
	text_placement(trace);
	if (trace->timing == ENGINE_OPEN)
		printf("  takes       %.3f s\n",
		       ns_to_s(scan->last_ns / trace->speed));
	puts("  nothing was done: --dry-run");
}

static void json_plan(const struct replay_trace *trace)
{
	const struct trace_scan *scan = &trace->scan;
	struct json_object *object = json_head(trace), *kinds;
	size_t i;

	kinds = json_new_array();
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
	json_add_number(object, "device_bytes", trace->placement.bytes);
	json_add_text(object, "placement",
		      placement_names[trace->placement.how]);
	if (trace->placement.how == PLACEMENT_WRAP)
		json_add_number(object, "wrap_bytes",
				placement_period(&trace->placement));
	else
		json_add_null(object, "wrap_bytes");
	json_add_number(object, "moved", scan->moved);
	json_add_bool(object, "dry_run", true);
	json_print(object, false);
}

void trace_report_plan(const struct replay_trace *trace)
{
	if (trace->options->json)
		json_plan(trace);
	else
		text_plan(trace);
}

/* What a crash left */

static void text_crash(const struct trace_state *state,
		       const struct device *device,
		       const struct content_crash *crash)
{
	size_t i;

	printf("%s on %s: %" PRIu64 " requests were durable", state->trace,
	       device->path, state->durable);
	if (state->done.issued == TRACE_STATE_NOT_KNOWN)
		puts(", the run did not end");
	else
		printf(" of %" PRIu64 "\n", state->done.issued);
	for (i = 0; i < CONTENT_NR_VERDICTS; i++) {
		printf("  %-11s %" PRIu64 " blocks of 4096 bytes",
		       content_verdict_names[i], crash->blocks[i]);
		if (crash->blocks[i])
			printf(", the first at sector %" PRIu64,
			       crash->first[i]);
		putchar('\n');
	}
	if (!crash->done)
		puts("  stopped     not all was looked at");
}

void trace_report_crash(const struct trace_state *state,
			const struct device *device,
			const struct content_crash *crash, bool json)
{
	struct json_object *object;
	size_t i;

	if (!json) {
		text_crash(state, device, crash);
		return;
	}
	object = json_new_document(CRASH_JSON_FORMAT);
	json_add_text(object, "source", state->trace);
	json_add_text(object, "device", device->path);
	json_add_number(object, "durable", state->durable);
	if (state->done.issued == TRACE_STATE_NOT_KNOWN)
		json_add_null(object, "issued");
	else
		json_add_number(object, "issued", state->done.issued);
	json_add_bool(object, "done", crash->done);
	for (i = 0; i < CONTENT_NR_VERDICTS; i++) {
		struct json_object *verdict = json_new();

		json_add_number(verdict, "blocks", crash->blocks[i]);
		if (crash->blocks[i])
			json_add_number(verdict, "first_sector",
					crash->first[i]);
		else
			json_add_null(verdict, "first_sector");
		json_add(object, content_verdict_names[i], verdict);
	}
	json_print(object, false);
}
