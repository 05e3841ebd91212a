// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/message.h"
#include "base/units.h"
#include "replay/report.h"

#define JSON_FORMAT	1

double per_second(double amount, double seconds)
{
	return seconds > 0 ? amount / seconds : 0;
}

static const char *check_status(const struct replay_check *check)
{
	if (!check || !check->done)
		return "skipped";
	return check->mismatches ? "mismatch" : "ok";
}

static void text_latency(const char *title, const struct latency_summary *l)
{
	printf("  %-10s  mean %.1f  sd %.1f  min %.1f  max %.1f\n", title,
	       l->mean_us, l->sd_us, l->min_us, l->max_us);
	printf("              p50 %.1f  p90 %.1f  p99 %.1f  p99.9 %.1f\n",
	       l->p50_us, l->p90_us, l->p99_us, l->p99_9_us);
}

static void text_run(const struct replay *replay, const struct replay_run *run)
{
	const struct measures *m = &run->measures;
	double wall_s = measures_wall_s(m);
	uint32_t i;

	if (replay->warmup_ns)
		printf("  warm-up     %g s: %" PRIu64
		       " writes that are in no figure below\n",
		       ns_to_s(replay->warmup_ns), run->warmup_requests);
	printf("  writes      %" PRIu64 " in %.3f s (%.1f IOPS, %.2f MB/s), then flush %.3f s\n",
	       run->requests, wall_s, per_second(run->requests, wall_s),
	       per_second(m->bytes / MB, wall_s), run->flush_s);
	if (m->pauses)
		printf("  pauses      %" PRIu64 ", %.3f s of that\n", m->pauses,
		       ns_to_s(m->pause_ns));
	probes_text(run->probes);
	text_latency("latency us", &run->latency);
	if (run->flush_latency.count) {
		printf("  flushes     %" PRIu64 ", one after each write\n",
		       run->flush_latency.count);
		text_latency("flush us", &run->flush_latency);
	}
	for (i = 0; i < m->nr_sizes; i++)
		printf("  by size     %" PRIu64 " bytes: %" PRIu64 " writes, mean %.1f us\n",
		       m->by_size[i].bytes, m->by_size[i].service->count,
		       ns_to_us(histogram_mean(m->by_size[i].service)));
}

/* Bytes that a plan writes; of the figures those are what the device gets. */
static uint64_t issued_bytes(const struct plan *plan)
{
	uint64_t requests = plan_requests(plan), sum = 0, i;
	uint32_t bytes;

	for (i = 0; i < requests; i++) {
		plan_request(plan, i, &bytes);
		sum += bytes;
	}
	return sum;
}

void replay_report_text(const struct replay_report *report)
{
	const struct replay *replay = report->replay;
	const struct plan *plan = &replay->state.plan;
	const struct plan_figures *f = &report->figures;

	printf("%s on %s: %" PRIu64 " writes, %.2f MB", plan->workload->name,
	       replay->device->path, plan_requests(plan),
	       issued_bytes(plan) / MB);
	if (replay->threads > 1)
		printf(", %u threads with at most %u in flight each",
		       replay->threads, replay->depth);
	else if (replay->depth > 1)
		printf(", at most %u in flight", replay->depth);
	putchar('\n');
	printf("  geometry    physical block %" PRIu32 ", alignment offset ",
	       replay->geometry.physical);
	if (report->offset_known)
		printf("%" PRIu32 "\n", replay->geometry.offset);
	else
		puts("unknown (taken as 0)");
	if (plan->buffered)
		printf("  buffered    the page cache reads %" PRIu64
		       " blocks and makes %" PRIu64 " writes of it\n",
		       f->reads, f->requests);
	printf("  expected    %" PRIu64 " partial touches; %" PRIu64
	       " block reads if all else is avoided; %" PRIu64
	       " distinct blocks\n", f->touches, f->rmin, f->distinct);
	if (report->run)
		text_run(replay, report->run);
	if (report->run && report->stopped)
		printf("  stopped     by %s after %" PRIu64 " of %" PRIu64
		       " writes\n", report->stopped,
		       report->run->requests + report->run->warmup_requests,
		       plan_requests(plan));
	printf("  data check  %s", check_status(report->check));
	if (report->check && report->check->done)
		printf(": %" PRIu64 " sectors compared, %" PRIu64 " differ",
		       report->check->sectors, report->check->mismatches);
	putchar('\n');
}

static struct json_object *json_latency(const struct latency_summary *l)
{
	struct json_object *object = json_new(), *bins = json_new_array();
	unsigned int i;

	json_add_real(object, "mean", l->mean_us);
	json_add_real(object, "sd", l->sd_us);
	json_add_real(object, "min", l->min_us);
	json_add_real(object, "p50", l->p50_us);
	json_add_real(object, "p90", l->p90_us);
	json_add_real(object, "p98", l->p98_us);
	json_add_real(object, "p99", l->p99_us);
	json_add_real(object, "p99_9", l->p99_9_us);
	json_add_real(object, "max", l->max_us);
	for (i = 0; i < ALIGN_LATENCY_BINS; i++) {
		double upper = ns_to_us(align_latency_bin_end(i));

		if (!l->histogram[i])
			continue;
		if (i == ALIGN_LATENCY_BINS - 1)	/* has no upper end */
			upper = l->max_us;
		json_append_bin(bins, upper, l->histogram[i]);
	}
	json_add(object, "histogram", bins);
	return object;
}

static struct json_object *json_time_line(const struct replay_run *run)
{
	struct json_object *array = json_new_array();
	uint32_t i;

	for (i = 0; i < REPLAY_SLICES; i++) {
		const struct replay_slice *slice = &run->slice[i];
		struct json_object *object;

		if (!slice->count)
			continue;
		object = json_new();
		json_add_real(object, "end_s", ns_to_s(slice->end_ns));
		json_add_number(object, "count", slice->count);
		json_add_real(object, "mean_us",
			      ns_to_us(slice->sum_ns) / slice->count);
		json_add_real(object, "max_us", ns_to_us(slice->max_ns));
		json_append(array, object);
	}
	return array;
}

static struct json_object *json_sizes(const struct measures *m)
{
	struct json_object *array = json_new_array();
	uint32_t i;

	for (i = 0; i < m->nr_sizes; i++) {
		const struct histogram *service = m->by_size[i].service;
		struct json_object *size = json_new();

		json_add_number(size, "bytes", m->by_size[i].bytes);
		json_add_number(size, "count", service->count);
		json_add_real(size, "mean_us",
			      ns_to_us(histogram_mean(service)));
		json_append(array, size);
	}
	return array;
}

static struct json_object *json_check(const struct replay_check *check)
{
	struct json_object *object = json_new();

	json_add_text(object, "status", check_status(check));
	json_add_number(object, "sectors", check ? check->sectors : 0);
	json_add_number(object, "mismatches", check ? check->mismatches : 0);
	if (check && check->mismatches)
		json_add_number(object, "first_mismatch_sector",
				check->first_mismatch);
	else
		json_add_null(object, "first_mismatch_sector");
	return object;
}

/* What sysfs says of the device: tells one measurement's set-up from another. */
struct json_object *json_device_facts(const struct device *device)
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

/* What was asked for; null where the workload has no such thing. */
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

static void json_add_run(struct json_object *object,
			 const struct replay *replay,
			 const struct replay_run *run)
{
	const struct measures *m = &run->measures;
	double wall_s = measures_wall_s(m);

	if (replay->warmup_ns) {
		json_add_real(object, "warmup_s", ns_to_s(replay->warmup_ns));
		json_add_number(object, "warmup_requests",
				run->warmup_requests);
	}
	json_add_real(object, "wall_s", wall_s);
	if (m->pauses) {
		json_add_number(object, "pauses", m->pauses);
		json_add_real(object, "pause_s", ns_to_s(m->pause_ns));
	}
	json_add_real(object, "flush_s", run->flush_s);
	json_add_number(object, "flushes", run->flush_latency.count);
	json_add_real(object, "iops", per_second(run->requests, wall_s));
	json_add_real(object, "mb_per_s", per_second(m->bytes / MB, wall_s));
	json_add(object, "latency_us", json_latency(&run->latency));
	json_add(object, "flush_latency_us", run->flush_latency.count ?
		 json_latency(&run->flush_latency) : NULL);
	json_add(object, "by_size", json_sizes(m));
	if (run->probes)
		json_add(object, "probes", probes_json(run->probes));
	json_add(object, "time_line", json_time_line(run));
	json_add_text(object, "method", run->method);
}

void replay_report_json(const struct replay_report *report)
{
	const struct replay *replay = report->replay;
	const struct replay_run *run = report->run;
	const struct plan *plan = &replay->state.plan;
	struct json_object *object = json_new_document(JSON_FORMAT);

	json_add_text(object, "workload", plan->workload->name);
	json_add_text(object, "device", replay->device->path);
	json_add_plan(object, plan);
	json_add_bool(object, "buffered", plan->buffered);
	json_add_number(object, "depth", replay->depth);
	if (replay->threads > 1)
		json_add_number(object, "threads", replay->threads);
	json_add_number(object, "requests",
			run ? run->requests : plan_requests(plan));
	json_add_number(object, "bytes",
			run ? run->measures.bytes : issued_bytes(plan));
	json_add_text(object, "stopped", report->stopped);
	if (run)
		json_add_run(object, replay, run);
	json_add_number(object, "writes_expected", report->figures.requests);
	json_add_number(object, "reads_expected", report->figures.reads);
	json_add_number(object, "touches_expected", report->figures.touches);
	json_add_number(object, "rmin", report->figures.rmin);
	json_add_number(object, "distinct_blocks", report->figures.distinct);
	json_add_number(object, "physical_block_size",
			replay->geometry.physical);
	if (report->offset_known)
		json_add_number(object, "alignment_offset",
				replay->geometry.offset);
	else
		json_add_text(object, "alignment_offset", "unknown");
	json_add(object, "data_check", json_check(report->check));
	json_add(object, "device_facts", json_device_facts(replay->device));
	json_print(object, false);
}
