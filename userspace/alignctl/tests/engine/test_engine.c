// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/message.h"
#include "base/pattern.h"
#include "base/units.h"
#include "engine/engine.h"
#include "replay/replay.h"
#include "tests/compare_content.h"
#include "tests/tap.h"
#include "tests/trace_file.h"

#define SECTORS		512
#define DISK_BYTES	(SECTORS * PATTERN_SECTOR)
#define RUN		pattern_run(7)
#define GONE		UINT64_MAX	/* discarded: a hole in a file */
#define MS		NS_PER_MS

/* What a sector holds: 0 nothing, GONE, or the number of its write from 1. */
static uint64_t model[SECTORS];

static char disk_path[64];
static struct device disk;
static struct align_geometry geometry;
static struct placement placement;
static struct measures measures;
static struct engine_done done;
/* Of the next runs. */
static unsigned int threads = 1;
static uint64_t warmup_ns;
static uint64_t pause_after;
static uint64_t pause_ns;
/* Of the last run: requests from the start that were durable. */
static uint64_t durable;

static void note_durable(void *context, uint64_t requests)
{
	(void)context;
	if (requests > durable)
		durable = requests;
}

static void append(char **text, const char *op, int sector, int sectors,
		   uint64_t time_ns, const char *flags)
{
	char *longer = message_format("%s%" PRIu64 ",%s,%d,%d,%s\n", *text,
				      time_ns, op, sector * 512, sectors * 512,
				      flags);

	free(*text);
	*text = longer;
}

static char *header(void)
{
	return message_format("time_ns,op,offset,bytes,flags\n");
}

/* Random requests that overlap a lot, and what they leave behind. */
static const char *make_trace(int requests, uint64_t gap_ns)
{
	static const char *const flags[32] = { "fua", "preflush" };
	CLEANUP_FREE char *text = header();
	int i, k;

	memset(model, 0, sizeof(model));
	srand48(4);
	for (i = 0; i < requests; i++) {
		enum trace_op op = lrand48() % 16;
		int sectors = 1 + lrand48() % (lrand48() % 16 ? 24 : 300);
		int sector = lrand48() % (SECTORS - sectors);
		const char *flag = "";

		if (op >= TRACE_NR_OPS)
			op = TRACE_WRITE;
		if (op == TRACE_FLUSH)
			sector = sectors = 0;
		if (op == TRACE_WRITE)
			flag = flags[lrand48() % 32];
		append(&text, trace_op_names[op], sector, sectors, i * gap_ns,
		       flag ? flag : "");
		for (k = sector; k < sector + sectors; k++)
			if (op != TRACE_READ)
				model[k] = op == TRACE_WRITE ? i + 1U : GONE;
	}
	return trace_text("trace.csv", text);
}

static void disk_open(void)
{
	int fd;

	/* where there is O_DIRECT */
	strcpy(disk_path, "/var/tmp/alignctl-engine-XXXXXX");
	fd = mkstemp(disk_path);
	if (fd < 0 || ftruncate(fd, DISK_BYTES))
		perror(disk_path);
	close(fd);
	device_open(&disk, disk_path);
	align_geometry_init(&geometry, 4096, 512, 0, 0, SECTORS);
	placement = (struct placement) {
		.bytes = DISK_BYTES, .logical = 512, .physical = 4096,
	};
}

static void disk_close(void)
{
	measures_free(&measures);
	device_close(&disk);
	unlink(disk_path);
}

static int go(const char *path, enum engine_timing timing, unsigned int depth,
	      double speed, int flags)
{
	CLEANUP_CLOSE int fd = open(disk.path, flags | O_DIRECT);
	struct source source;
	struct engine_setup setup = {
		.source = &source, .device = &disk, .fd = fd,
		.placement = &placement, .geometry = &geometry,
		.timing = timing, .speed = speed, .depth = depth,
		.threads = threads, .warmup_ns = warmup_ns, .run = RUN,
		.pause_after = pause_after, .pause_ns = pause_ns,
		.durable = note_durable,
	};
	int result = source_open(&source, path);

	durable = 0;
	if (result)
		return result;
	result = engine_run(&setup, &measures, &done);
	source_close(&source);
	return result;
}

/* By the model that is made of the trace, in parts of @max_blocks. */
static struct content_check compare(const char *path, uint32_t max_blocks)
{
	return compare_content(path, (struct content) {
		.placement = &placement, .run = RUN, .done = &done,
		.device = &disk, .max_blocks = max_blocks,
	});
}

static void check_content(const char *what)
{
	size_t size;
	CLEANUP_FREE char *bytes = trace_read_all(disk.path, &size);
	static const char zeroes[PATTERN_SECTOR];
	struct pattern_label label;
	int i, wrong = 0;

	for (i = 0; i < SECTORS; i++) {
		const char *sector = bytes + i * PATTERN_SECTOR;

		if (!model[i] || model[i] == GONE)
			wrong += memcmp(sector, zeroes, PATTERN_SECTOR) != 0;
		else
			wrong += pattern_read(sector, &label) !=
				 PATTERN_WHOLE || label.sector != (uint64_t)i ||
				 label.sequence != model[i] || label.run != RUN;
	}
	CHECK(!wrong && size == DISK_BYTES, "%s: %d sectors are wrong", what,
	      wrong);
}

/* All timings, depths and threads leave what one after the other would. */
static void same_content(void)
{
	enum { REQUESTS = 400 };
	static const struct {
		enum engine_timing timing;
		unsigned int depth, threads;
	} runs[] = {
		{ ENGINE_CLOSED, 1, 1 }, { ENGINE_CLOSED, 16, 1 },
		{ ENGINE_CLOSED, 1, 4 }, { ENGINE_CLOSED, 4, 4 },
		{ ENGINE_FAST, 32, 1 }, { ENGINE_FAST, 256, 1 },
		{ ENGINE_FAST, 1, 8 }, { ENGINE_FAST, 2, 2 },
		{ ENGINE_FAST, 32, 8 },
		{ ENGINE_OPEN, 1, 1 }, { ENGINE_OPEN, 256, 1 },
		{ ENGINE_OPEN, 1, 8 }, { ENGINE_OPEN, 16, 16 },
	};
	size_t i, k;

	trace_folder_open();
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		CLEANUP_FREE char *path = strdup(make_trace(REQUESTS, 1000));
		CLEANUP_FREE char *what = message_format("%s, %u threads of depth %u",
			engine_timing_names[runs[i].timing], runs[i].threads,
			runs[i].depth);
		uint64_t counted = 0;

		disk_open();
		threads = runs[i].threads;
		CHECK(!go(path, runs[i].timing, runs[i].depth, 1, O_RDWR),
		      "%s fails", what);
		threads = 1;
		for (k = 0; k < TRACE_NR_OPS; k++)
			counted += measures.service[k] ?
				   measures.service[k]->count : 0;
		CHECK(durable == REQUESTS, "%s: %" PRIu64 " durable", what,
		      durable);
		CHECK(done.issued == REQUESTS && counted == REQUESTS &&
		      !measures.lag == (runs[i].timing != ENGINE_OPEN) &&
		      !measures.response == !measures.lag &&
		      (!measures.lag || measures.lag->count == REQUESTS),
		      "%s: %" PRIu64 " requests", what, counted);
		CHECK(measures.most_in_flight <= runs[i].depth *
		      runs[i].threads, "%s: %u at once", what,
		      measures.most_in_flight);
		check_content(what);
		disk_close();
	}
	trace_folder_close();
}

static void damage(int sector, const void *bytes)
{
	CLEANUP_CLOSE int fd = open(disk.path, O_WRONLY);

	if (pwrite(fd, bytes, PATTERN_SECTOR, sector * PATTERN_SECTOR) < 0)
		perror(disk.path);
}

/* The model knows what the test's own does, with parts of any length. */
static void sees_damage(void)
{
	static const uint32_t parts[] = { 0, 2, 5, 63, 64 };
	char stale[PATTERN_SECTOR] __attribute__((aligned(8)));
	struct pattern_label label = { .sequence = 1, .run = RUN };
	CLEANUP_FREE char *path = NULL;
	uint64_t wanted = 0;
	int sector, first = -1, hit = 0;
	size_t i;

	trace_folder_open();
	path = strdup(make_trace(300, 0));
	disk_open();
	CHECK(!go(path, ENGINE_FAST, 32, 1, O_RDWR), "fails");
	for (i = 0; i < SECTORS; i++)
		wanted += model[i] && model[i] != GONE;
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct content_check check = compare(path, parts[i]);

		CHECK(check.done && !check.mismatches &&
		      check.sectors >= wanted && check.sectors <= SECTORS,
		      "%" PRIu64 " of %" PRIu64 " differ, %" PRIu64 " written",
		      check.mismatches, check.sectors, wanted);
		CHECK(parts[i] && parts[i] < 63 ? check.passes > 2 :
						  check.passes < 3,
		      "%" PRIu64 " passes", check.passes);
	}
	/* a write of long ago in every tenth sector that holds another one */
	for (sector = 0; sector < SECTORS; sector++) {
		if (model[sector] < 2 || model[sector] == GONE ||
		    hit++ % 10)
			continue;
		label.sector = sector;
		pattern_fill(stale, 1);
		pattern_label(stale, &label, 1);
		damage(sector, stale);
		if (first < 0)
			first = sector;
	}
	hit = (hit + 9) / 10;
	trace_keep_messages();
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct content_check check = compare(path, parts[i]);

		CHECK(hit > 5 && check.mismatches == (uint64_t)hit &&
		      check.first_mismatch == (uint64_t)first,
		      "%" PRIu64 " of %d seen", check.mismatches, hit);
	}
	free(trace_kept_messages());
	disk_close();
	trace_folder_close();
}

/* Discarded sectors are not compared; those of a failed write are old or new. */
static void kinds_compared(void)
{
	CLEANUP_FREE char *text = header();
	CLEANUP_FREE char *path = NULL;
	char label[PATTERN_SECTOR] __attribute__((aligned(8)));
	char junk[PATTERN_SECTOR];
	int sector;

	memset(junk, 'x', sizeof(junk));
	trace_folder_open();
	append(&text, "write", 0, 32, 0, "");
	append(&text, "discard", 8, 8, 0, "");
	append(&text, "write-zeroes", 16, 8, 0, "");
	append(&text, "write", 24, 8, 0, "");
	append(&text, "write", 32, 1, 0, "");
	append(&text, "write", 32, 1, 0, "");
	append(&text, "write", 32, 1, 0, "");
	path = strdup(trace_text("trace.csv", text));
	disk_open();
	CHECK(!go(path, ENGINE_CLOSED, 1, 1, O_RDWR), "fails");
	done.failed[done.nr_failed++] = 3;
	done.failed[done.nr_failed++] = 5;
	for (sector = 0; sector < 32; sector++)
		damage(sector, junk);
	trace_keep_messages();
	CHECK(compare(path, 0).mismatches == 24,
	      "not 8 written, 8 zeroed and 8 neither old nor new");
	/* what the write that failed was to leave, and what it found */
	for (sector = 24; sector < 32; sector++) {
		pattern_fill(label, 1);
		pattern_label(label, &(struct pattern_label) {
			      sector, sector % 2 ? 4 : 1, RUN }, 1);
		damage(sector, label);
	}
	CHECK(compare(path, 0).mismatches == 16, "old or new is wrong");
	/* a write that succeeds ends the doubt about the one before it */
	pattern_fill(label, 1);
	pattern_label(label, &(struct pattern_label) { 32, 6, RUN }, 1);
	damage(32, label);
	CHECK(compare(path, 0).mismatches == 17, "an overwritten write is right");
	free(trace_kept_messages());
	disk_close();
	trace_folder_close();
}

/* Twenty requests, 2 ms apart, none before its time; at double speed too. */
static void on_time_with(unsigned int nr_threads, unsigned int depth)
{
	CLEANUP_FREE char *text = header();
	CLEANUP_FREE char *path = NULL;
	uint64_t took;
	int i, speed;

	trace_folder_open();
	for (i = 0; i < 20; i++)
		append(&text, "write", i * 8, 8, i * 2 * MS, "");
	path = strdup(trace_text("trace.csv", text));
	for (speed = 1; speed <= 2; speed++) {
		disk_open();
		threads = nr_threads;
		CHECK(!go(path, ENGINE_OPEN, depth, speed, O_RDWR), "fails");
		threads = 1;
		took = measures.end_ns - measures.begin_ns;
		CHECK(measures.last_intended_ns == 38 * MS / speed, "last at %"
		      PRIu64, measures.last_intended_ns);
		/* nothing came early, or the lag would be past all bounds */
		CHECK(took >= 38 * MS / speed && measures.lag->max < took,
		      "%" PRIu64 " ns", took);
		CHECK(measures.response->min >= measures.service[TRACE_WRITE]->
		      min, "response is the longer one");
		disk_close();
	}
	trace_folder_close();
}

static void on_time(void)
{
	on_time_with(1, 32);
	on_time_with(4, 8);
	on_time_with(4, 1);
}

/*
 * Whichever thread keeps the time, half of the requests are not late. A machine
 * that is busy makes any run late, and none early: one of many has to be on time.
 */
static void not_late(void)
{
	CLEANUP_FREE char *text = header();
	CLEANUP_FREE char *path = NULL;
	double lag = 10 * MS;
	int i;

	trace_folder_open();
	for (i = 0; i < 200; i++)
		append(&text, "read", i % 64 * 8, 8, i * MS / 2, "");
	path = strdup(trace_text("trace.csv", text));
	threads = 4;
	for (i = 0; i < 50 && lag >= 10 * MS; i++) {
		disk_open();
		CHECK(!go(path, ENGINE_OPEN, 4, 1, O_RDONLY), "fails");
		CHECK(done.issued == 200 && measures.lag->count == 200,
		      "%" PRIu64 " issued", done.issued);
		lag = histogram_percentile(measures.lag, 5000);
		disk_close();
	}
	threads = 1;
	CHECK(lag < 10 * MS,
	      "half of the requests are %.0f ns late or more, in each of %d runs",
	      lag, i);
	trace_folder_close();
}

/* What starts in the warm-up is written, compared, and in no figure. */
static void warms_up(void)
{
	CLEANUP_FREE char *text = header();
	CLEANUP_FREE char *path = NULL;
	int i;

	trace_folder_open();
	memset(model, 0, sizeof(model));
	for (i = 0; i < 40; i++) {
		append(&text, "write", i, 1, i * MS, "");
		model[i] = i + 1;
	}
	path = strdup(trace_text("trace.csv", text));
	disk_open();
	warmup_ns = 15 * MS;
	CHECK(!go(path, ENGINE_OPEN, 32, 1, O_RDWR), "fails");
	CHECK(measures.warmup_requests == 15 && done.issued == 40,
	      "%" PRIu64 " of %" PRIu64 " left out", measures.warmup_requests,
	      done.issued);
	CHECK(measures.lag->count == 25 && measures.response->count == 25 &&
	      measures.service[TRACE_WRITE]->count == 25 &&
	      measures.by_size[0].service->count == 25 &&
	      measures.bytes == 25 * 512, "%" PRIu64 " bytes are counted",
	      measures.bytes);
	CHECK(measures.last_intended_ns == 24 * MS, "the last was to start at %"
	      PRIu64 " ns of what is measured", measures.last_intended_ns);
	CHECK(compare(path, 0).sectors == 40, "not all is compared");
	check_content("with a warm-up");
	warmup_ns = 0;
	disk_close();
	trace_folder_close();
}

/*
 * Set when the first request of the fourth @four began and the last one ended,
 * nanoseconds. Each request has a slice of its own, in the order of their ends:
 * so those of one four follow those of the four before.
 */
static void see_four(uint64_t four, int64_t *began_ns, int64_t *ended_ns)
{
	uint64_t i;

	*began_ns = INT64_MAX;
	*ended_ns = 0;
	for (i = 4 * four; i < 4 * four + 4 && i < measures.nr_slices; i++) {
		const struct measures_slice *slice = &measures.slice[i];
		int64_t began = slice->end_ns - slice->sum_ns;

		if (began < *began_ns)
			*began_ns = began;
		*ended_ns = slice->end_ns;
	}
}

/* After each four all have ended, and nothing starts; but for the last four. */
static void pauses_with(unsigned int nr_threads, unsigned int depth,
			int requests)
{
	CLEANUP_FREE char *text = header();
	CLEANUP_FREE char *path = NULL;
	uint64_t wanted = (requests - 1) / 4, four;
	int64_t began_ns, ended_ns, last_ns;
	int i;

	for (i = 0; i < requests; i++)
		append(&text, "write", i * 8, 8, 0, "");
	path = strdup(trace_text("trace.csv", text));
	disk_open();
	threads = nr_threads;
	CHECK(!go(path, ENGINE_CLOSED, depth, 1, O_RDWR), "fails");
	threads = 1;
	CHECK(measures.requests == (uint64_t)requests &&
	      measures.nr_slices == measures.requests, "%" PRIu64
	      " of %d measured, %u slices", measures.requests, requests,
	      measures.nr_slices);
	CHECK(measures.pauses == wanted &&
	      measures.pause_ns >= wanted * pause_ns &&
	      measures.pause_ns < measures.end_ns - measures.begin_ns,
	      "%" PRIu64 " pauses of %" PRIu64 ", %" PRIu64 " ns",
	      measures.pauses, wanted, measures.pause_ns);
	see_four(0, &began_ns, &last_ns);
	for (four = 1; four <= wanted; four++, last_ns = ended_ns) {
		see_four(four, &began_ns, &ended_ns);
		CHECK(began_ns - last_ns >= (int64_t)pause_ns,
		      "%u threads of depth %u: %" PRId64 " ns after the %"
		      PRIu64 "th four", nr_threads, depth, began_ns - last_ns,
		      four);
	}
	disk_close();
}

static void pauses(void)
{
	trace_folder_open();
	pause_after = 4;
	pause_ns = 10 * MS;
	pauses_with(1, 1, 10);
	pauses_with(1, 1, 8);
	pauses_with(1, 3, 10);
	pauses_with(1, 8, 12);
	pauses_with(4, 1, 10);
	pauses_with(3, 2, 16);
	pause_after = pause_ns = 0;
	trace_folder_close();
}

/* What of a pause lies in the warm-up is no part of the time that is measured. */
static void pauses_warm_up(void)
{
	uint64_t at;

	measures_begin(&measures, &geometry, MS, false);
	at = measures.begin_ns;
	measures_pause(&measures, at - 20, at - 10);
	CHECK(!measures.pauses, "one of the warm-up counts");
	measures_pause(&measures, at - 10, at + 5);
	measures_pause(&measures, at + 10, at + 30);
	CHECK(measures.pauses == 2 && measures.pause_ns == 25, "%" PRIu64
	      " pauses, %" PRIu64 " ns", measures.pauses, measures.pause_ns);
	measures_free(&measures);
}

/* A long write holds up the one over it, and no other. */
static void waits_alone(void)
{
	CLEANUP_FREE char *text = header();
	CLEANUP_FREE char *path = NULL;
	int i;

	trace_folder_open();
	append(&text, "write", 0, 400, 0, "");
	for (i = 0; i < 10; i++)
		append(&text, "write", 0, 8, 0, "");
	for (i = 0; i < 10; i++)
		append(&text, "write", 400 + i * 8, 8, 0, "");
	path = strdup(trace_text("trace.csv", text));
	disk_open();
	CHECK(!go(path, ENGINE_FAST, 2, 1, O_RDWR), "fails");
	CHECK(measures.waited == 10 && measures.most_in_flight == 2,
	      "%" PRIu64 " waited, %u at once", measures.waited,
	      measures.most_in_flight);
	disk_close();
	trace_folder_close();
}

static void counted(void)
{
	CLEANUP_FREE char *text = header();
	CLEANUP_FREE char *path = NULL;

	trace_folder_open();
	append(&text, "write", 0, 8, 0, "");
	append(&text, "write", 9, 1, 0, "");
	append(&text, "write", 17, 8, 0, "");
	append(&text, "read", 17, 8, 0, "");
	append(&text, "flush", 0, 0, 0, "");
	path = strdup(trace_text("trace.csv", text));
	disk_open();
	CHECK(!go(path, ENGINE_CLOSED, 1, 1, O_RDWR), "fails");
	CHECK(measures.by_class[ALIGN_WHOLE]->count == 1 &&
	      measures.by_class[ALIGN_SUB_BLOCK]->count == 1 &&
	      measures.by_class[ALIGN_BOTH]->count == 1 &&
	      !measures.by_class[ALIGN_HEAD], "by class");
	CHECK(measures.by_phase[0]->count == 1 &&
	      measures.by_phase[1]->count == 2 && !measures.by_phase[2],
	      "by phase");
	CHECK(measures.nr_sizes == 2 && measures.by_size[0].bytes == 4096 &&
	      measures.by_size[0].service->count == 3 &&
	      measures.by_size[1].bytes == 512, "by size");
	CHECK(measures.bytes == 3 * 4096 + 512, "%" PRIu64 " bytes",
	      measures.bytes);
	disk_close();
	trace_folder_close();
}

/* By hand: 10, 0, 30 and then half a second. */
static void samples(void)
{
	const struct trace_request read = { .op = TRACE_READ, .bytes = 512 };
	static const struct { int second, requests; } parts[] = {
		{ 0, 10 }, { 2, 30 }, { 3, 7 },
	};
	struct measures_samples *s = &measures.samples;
	size_t i;
	int k;

	measures_begin(&measures, &geometry, 0, false);
	for (i = 0; i < 3; i++) {
		uint64_t at = measures.begin_ns +
			      (parts[i].second * 1000 + 500) * MS;
		const struct measures_times times = { at, at, at };

		for (k = 0; k < parts[i].requests; k++)
			measures_add(&measures, &read, &times, false);
	}
	measures_end(&measures);
	CHECK(s->busy == 2 && s->idle == 1 && s->sum == 40 && s->min == 10 &&
	      s->max == 30 && s->sum_bytes == 40 * 512, "%" PRIu64
	      " busy, %" PRIu64 " idle, %f requests", s->busy, s->idle, s->sum);
	measures_free(&measures);
}

/* Slices are joined as there are more requests, and have each request once. */
static void slices(void)
{
	const struct trace_request read = { .op = TRACE_READ, .bytes = 512 };
	const struct trace_request flush = { .op = TRACE_FLUSH };
	static const struct { uint64_t nr, slices, per_slice; } rows[] = {
		{ 1, 1, 1 }, { 200, 200, 1 }, { 201, 101, 2 }, { 400, 200, 2 },
		{ 401, 101, 4 }, { 12345, 193, 64 },
	};
	size_t i, k;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t count = 0, sum = 0, end = 0, n, max = 0;

		measures_begin(&measures, &geometry, 0, false);
		for (n = 1; n <= rows[i].nr; n++) {
			uint64_t at = measures.begin_ns + 1000 * n;
			const struct measures_times times = { at, at, at + n };

			measures_add(&measures, &read, &times, false);
			measures_add(&measures, &flush, &times, true);
		}
		CHECK(measures.nr_slices == rows[i].slices &&
		      measures.per_slice == rows[i].per_slice,
		      "%" PRIu64 " requests: %u slices of %" PRIu64,
		      rows[i].nr, measures.nr_slices, measures.per_slice);
		for (k = 0; k < measures.nr_slices; k++) {
			const struct measures_slice *s = &measures.slice[k];

			CHECK(s->end_ns > end, "slice %zu ends before", k);
			CHECK(s->count == measures.per_slice ||
			      k == measures.nr_slices - 1, "slice %zu has %"
			      PRIu64, k, s->count);
			end = s->end_ns;
			count += s->count;
			sum += s->sum_ns;
			if (s->max_ns > max)
				max = s->max_ns;
		}
		CHECK(count == rows[i].nr && measures.requests == count &&
		      sum == count * (count + 1) / 2 && max == count &&
		      end == measures.end_ns - measures.begin_ns,
		      "%" PRIu64 " requests of %" PRIu64 ", %" PRIu64 " ns",
		      count, rows[i].nr, sum);
		CHECK(measures.added->count == count &&
		      !measures.service[TRACE_FLUSH], "flushes are requests");
		measures_free(&measures);
	}
}

/* What is too far is refused there; what came before has been done. */
static void beyond(void)
{
	CLEANUP_FREE char *text = header();
	CLEANUP_FREE char *path = NULL;
	CLEANUP_FREE char *said = NULL;

	trace_folder_open();
	append(&text, "write", 0, 8, 0, "");
	append(&text, "write", SECTORS, 8, 0, "");
	append(&text, "write", 8, 8, 0, "");
	path = strdup(trace_text("trace.csv", text));
	memset(model, 0, sizeof(model));
	for (int i = 0; i < 8; i++)
		model[i] = 1;
	disk_open();
	trace_keep_messages();
	CHECK(go(path, ENGINE_FAST, 8, 1, O_RDWR) == ALIGNCTL_USAGE, "is done");
	said = trace_kept_messages();
	CHECK(strstr(said, "line 3") && strstr(said, "beyond the device"),
	      "%s", said);
	CHECK(done.issued == 1 && !done.nr_failed, "%" PRIu64 " issued",
	      done.issued);
	check_content("beyond the end");
	disk_close();
	trace_folder_close();
}

/* A failure in one thread ends all of them. */
static void failing_together(void)
{
	CLEANUP_FREE char *text = header();
	CLEANUP_FREE char *path = NULL;
	CLEANUP_FREE char *said = NULL;
	int i;

	trace_folder_open();
	for (i = 0; i < 100; i++)
		append(&text, "read", i, 1, 0, "");
	append(&text, "write", 0, 8, 0, "");
	for (i = 0; i < 100; i++)
		append(&text, "read", i, 1, i * 300000 * MS, "");
	path = strdup(trace_text("trace.csv", text));
	for (i = 1; i <= 8; i *= 8) {
		disk_open();
		trace_keep_messages();
		threads = 4;
		CHECK(go(path, ENGINE_OPEN, i, 1, O_RDONLY) == ALIGNCTL_IO,
		      "works");
		threads = 1;
		said = trace_kept_messages();
		CHECK(strstr(said, "request 101"), "%s", said);
		CHECK(done.nr_failed == 1 && done.failed[0] == 100 &&
		      done.issued < 110, "%" PRIu64 " issued", done.issued);
		free(said);
		said = NULL;
		disk_close();
	}
	trace_folder_close();
}

/* The first failure ends the run; what failed is named and kept apart. */
static void failing(void)
{
	CLEANUP_FREE char *text = header();
	CLEANUP_FREE char *path = NULL;
	CLEANUP_FREE char *said = NULL;
	int i;

	trace_folder_open();
	append(&text, "read", 0, 8, 0, "");
	for (i = 0; i < 100; i++)
		append(&text, "write", i, 1, 0, "");
	path = strdup(trace_text("trace.csv", text));
	disk_open();
	trace_keep_messages();
	CHECK(go(path, ENGINE_CLOSED, 1, 1, O_RDONLY) == ALIGNCTL_IO, "works");
	said = trace_kept_messages();
	CHECK(strstr(said, "write of 512 bytes at byte 0: Bad file descriptor")
	      && strstr(said, "request 2"), "%s", said);
	CHECK(done.issued == 2 && done.nr_failed == 1 && done.failed[0] == 1,
	      "%" PRIu64 " issued, %u failed", done.issued, done.nr_failed);
	/* though the flush at the end succeeds */
	CHECK(!durable, "%" PRIu64 " durable behind a failure", durable);
	disk_close();
	trace_folder_close();
}

/* Pages of the file that the page cache holds. */
static int cached_pages(void)
{
	CLEANUP_CLOSE int fd = open(disk.path, O_RDONLY);
	unsigned char held[DISK_BYTES / 4096] = { 0 };
	void *memory = mmap(NULL, DISK_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	int pages = 0;
	size_t i;

	mincore(memory, DISK_BYTES, held);
	munmap(memory, DISK_BYTES);
	for (i = 0; i < sizeof(held); i++)
		pages += held[i] & 1;
	return pages;
}

/* What the guards read would make requests slow that are over it. */
static void drops_cache(void)
{
	CLEANUP_FREE char *text = header();
	CLEANUP_FREE char *path = NULL;
	struct statfs where;
	size_t size;

	trace_folder_open();
	append(&text, "read", 0, 8, 0, "");
	path = strdup(trace_text("trace.csv", text));
	disk_open();
	if (!statfs(disk.path, &where) && where.f_type == TMPFS_MAGIC) {
		tap_skipped = "/var/tmp is nothing but page cache";
	} else {
		free(trace_read_all(disk.path, &size));
		CHECK(cached_pages(), "nothing to drop");
		CHECK(!go(path, ENGINE_CLOSED, 1, 1, O_RDONLY), "fails");
		CHECK(!cached_pages(), "%d pages are still there",
		      cached_pages());
		measures_free(&measures);
	}
	device_close(&disk);
	unlink(disk_path);
	trace_folder_close();
}

const struct tap_test engine_tests[] = {
	{ "at any timing, depth and number of threads the content is that of one after the other",
	  same_content },
	{ "the model of the content sees stale sectors in any number of passes",
	  sees_damage },
	{ "what was discarded is not compared, and what failed is old or new",
	  kinds_compared },
	{ "an open loop starts each request at its time, in any thread", on_time },
	{ "an open loop of several threads is not late", not_late },
	{ "a warm-up is done and compared, and not measured", warms_up },
	{ "a pause begins when all threads are idle, and nothing starts in it",
	  pauses },
	{ "what of a pause is in the warm-up is not measured", pauses_warm_up },
	{ "requests that wait for an overlap stop no others", waits_alone },
	{ "times are kept by class, phase and size", counted },
	{ "a second without requests is no sample of a rate", samples },
	{ "a run is shown in time in slices, however long it is", slices },
	{ "a request beyond the device ends the run before it", beyond },
	{ "a request that fails ends the run after it", failing },
	{ "a request that fails in one thread ends all threads",
	  failing_together },
	{ "a run starts without what was read of the file before", drops_cache },
	{ 0 },
};
