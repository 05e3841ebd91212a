// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/pattern.h"
#include "engine/io_queue.h"
#include "replay/phases.h"
#include "replay/replay.h"
#include "tests/tap.h"
#include "tests/trace_file.h"

#define FILE_BYTES	(48 << 20)	/* 20 times 2 MiB, and some */

static char path[64];
static struct device device;
static struct replay_options options;

/* Fewer places or repetitions, so that it ends in the file. */
static void make_fit(struct plan *plan)
{
	uint64_t *nr = workload_random(plan->workload) ? &plan->places :
							 &plan->count;

	while (plan_end(plan) > FILE_BYTES)
		--*nr;
}

/* Start a replay of @count repetitions on a file, for finish(). */
static struct replay start(const char *workload, uint64_t count,
			   uint32_t offset)
{
	struct replay replay = { .options = &options, .device = &device };
	struct plan *plan = &replay.source.plan;
	int fd;

	options = (struct replay_options) {
		.timing = ENGINE_NR_TIMINGS, .prepare = true,
	};
	strcpy(path, "/var/tmp/alignctl-replay-XXXXXX");
	fd = mkstemp(path);
	if (ftruncate(fd, FILE_BYTES))
		perror(path);
	close(fd);
	device_open(&device, path);
	replay.direct_fd = open(path, O_RDWR | O_DIRECT);
	replay.fd = replay.direct_fd;
	align_geometry_init(&replay.geometry, 4096, 512, offset, 0,
			    device.sectors);
	source_open(&replay.source, workload);
	plan->count = count;
	if (workload_random(plan->workload))
		plan->places = 5000;
	if (plan->workload->device == WORKLOAD_SPREAD)
		plan_spread(plan, FILE_BYTES - 2 * WORKLOAD_INSIDE);
	else if (plan_end(plan) > FILE_BYTES)
		make_fit(plan);
	return replay;
}

/* From here on its requests go through the page cache. */
static void buffer(struct replay *replay)
{
	replay->source.plan.buffered = true;
	replay->fd = open(path, O_RDWR);
}

static void finish(struct replay *replay)
{
	if (replay->fd != replay->direct_fd)
		close(replay->fd);
	close(replay->direct_fd);
	replay_close(replay);
	device_close(&device);
	unlink(path);
}

/* Settle, prepare and run. Return: enum alignctl_exit. */
static int prepare_and_run(struct replay *replay)
{
	int result = replay_fit(replay);

	if (!result)
		result = replay_prepare(replay);
	return result ? result : replay_run(replay);
}

/* Check with standard error shut: the messages are the program's tests' job. */
static int quiet_check(struct replay *replay)
{
	int saved = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);
	int result;

	dup2(null, STDERR_FILENO);
	result = replay_check(replay);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(null);
	return result;
}

static uint64_t extents_sectors(const struct replay *replay)
{
	size_t nr, i;
	CLEANUP_FREE struct plan_extent *extent =
		plan_extents(&replay->source.plan, &replay->blocks, &nr);
	uint64_t sectors = 0;

	for (i = 0; i < nr; i++)
		sectors += extent[i].end - extent[i].first;
	return sectors;
}

/* All as they were published, or all through the page cache. */
static void replay_all(unsigned int depth, unsigned int threads,
		       const char *method, bool buffered)
{
	const struct workload *w;
	size_t i;

	for (i = 0; (w = workload_at(i)); i++) {
		struct replay replay = start(w->name, 20, 3584);
		const struct measures *m = &replay.measures;
		uint64_t requests = plan_requests(&replay.source.plan);
		uint64_t sizes = 0, flushes;
		uint32_t k;

		if (w->reads ||
		    (depth * threads > 1 && workload_one_at_a_time(w))) {
			finish(&replay);
			continue;
		}
		options.depth = depth;
		options.threads = threads;
		if (buffered || w->buffered)
			buffer(&replay);
		CHECK(!prepare_and_run(&replay) && !replay_check(&replay),
		      "%s fails", w->name);
		CHECK(replay.check.done && !replay.check.mismatches &&
		      replay.check.sectors == extents_sectors(&replay),
		      "%s: %" PRIu64 " of %" PRIu64 " sectors differ", w->name,
		      replay.check.mismatches, replay.check.sectors);
		CHECK(m->requests == requests &&
		      m->service[TRACE_WRITE]->count == requests, "%s: %" PRIu64
		      " writes", w->name, m->requests);
		CHECK(!strcmp(replay.done.method, method), "%s: by %s", w->name,
		      replay.done.method);
		flushes = m->added ? m->added->count : 0;
		CHECK(flushes == (w->sync == WORKLOAD_FDATASYNC ? requests :
				  w->sync == WORKLOAD_FDATASYNC_PART ?
				  replay.source.plan.count : 0),
		      "%s: %" PRIu64 " flushes", w->name, flushes);
		/*
		 * memory is there for all, however long they are, and none waits
		 * but a place that was drawn before
		 */
		CHECK(threads > 1 || w->order == WORKLOAD_DRAWS ||
		      m->most_in_flight == (requests < depth ? requests : depth),
		      "%s: %" PRIu32 " in flight", w->name, m->most_in_flight);
		for (k = 0; k < m->nr_sizes; k++)
			sizes += m->by_size[k].service->count;
		CHECK(sizes == requests, "%s: %" PRIu64 " writes by size",
		      w->name, sizes);
		finish(&replay);
	}
}

static void all_workloads(void)
{
	replay_all(1, 1, "pread/pwrite", false);
}

static void through_the_cache(void)
{
	replay_all(1, 1, "pread/pwrite", true);
}

static void in_parallel(void)
{
	struct io_queue *queue = io_queue_open(-1, 2);
	bool parallel = io_queue_parallel(queue);

	io_queue_close(queue);
	if (parallel) {
		replay_all(32, 1, "io_uring", false);
		replay_all(8, 4, "io_uring", false);
	} else {
		tap_skipped = "this kernel or container forbids io_uring";
	}
}

static void in_threads(void)
{
	replay_all(1, 4, "pread/pwrite", false);
}

/* /dev/null takes writes, and has no flush. */
static void failed_flush(void)
{
	struct replay replay = start("areasync-512", 5, 0);

	replay.fd = open("/dev/null", O_RDWR);
	trace_keep_messages();
	CHECK(!replay_fit(&replay) && replay_run(&replay) == ALIGNCTL_IO,
	      "goes on");
	free(trace_kept_messages());
	CHECK(replay.done.issued == 1 && replay.measures.requests == 1 &&
	      !replay.measures.added, "%" PRIu64 " writes of %" PRIu64,
	      replay.measures.requests, replay.done.issued);
	CHECK(!replay.done.nr_failed, "write %" PRIu64 " did not fail",
	      replay.done.failed[0]);
	finish(&replay);
}

/* With threads, and with flushes. */
static void warms_up(void)
{
	static const char *const workloads[] = { "rand512", "areasync-512" };
	static const uint64_t counts[] = { 2000, 25 };
	size_t i;

	for (i = 0; i < 2; i++) {
		struct replay replay = start(workloads[i], counts[i], 0);
		const struct measures *m = &replay.measures;
		uint64_t requests = plan_requests(&replay.source.plan);
		uint64_t slices = 0, part;
		uint32_t in_flight = i ? 0 : 1;
		unsigned int tries;

		options.threads = i ? 1 : 3;
		/* as long as the device takes for some of them */
		for (tries = 0, options.warmup_ns = 1 << 25; tries < 100 &&
		     !(m->warmup_requests && m->requests &&
		       m->most_in_flight > in_flight); tries++) {
			if (replay.ran) {
				options.warmup_ns = m->requests ?
					options.warmup_ns * 3 / 2 :
					options.warmup_ns / 2;
				measures_free(&replay.measures);
			}
			source_rewind(&replay.source);
			trace_keep_messages();
			CHECK(!prepare_and_run(&replay), "%s fails",
			      workloads[i]);
			free(trace_kept_messages());
		}
		CHECK(!replay_check(&replay), "%s fails", workloads[i]);
		CHECK(replay.check.done && !replay.check.mismatches,
		      "%" PRIu64 " differ", replay.check.mismatches);
		CHECK(m->warmup_requests && m->requests &&
		      m->warmup_requests + m->requests == requests,
		      "%s: %" PRIu64 " and %" PRIu64 " writes", workloads[i],
		      m->warmup_requests, m->requests);
		for (part = 0; part < m->nr_slices; part++)
			slices += m->slice[part].count;
		CHECK(m->most_in_flight <= replay.threads &&
		      m->most_in_flight > in_flight, "%s: %" PRIu32
		      " in flight", workloads[i], m->most_in_flight);
		CHECK(m->service[TRACE_WRITE]->count == m->requests &&
		      m->bytes == m->requests * 512 && slices == m->requests,
		      "%s: %" PRIu64 " times", workloads[i], slices);
		/* of the last write in the warm-up the flush may be after it */
		CHECK(!i || m->added->count - m->requests <= 1,
		      "%" PRIu64 " flushes", m->added ? m->added->count : 0);
		finish(&replay);
	}
}

/* Puts bytes into the file behind the replay's back. */
static void damage(const struct replay *replay, uint64_t sector,
		   const void *bytes)
{
	int fd = open(path, O_WRONLY);

	(void)replay;
	if (pwrite(fd, bytes, PATTERN_SECTOR, sector * PATTERN_SECTOR) < 0)
		perror(path);
	close(fd);
}

static void sees_damage(void)
{
	char sector[PATTERN_SECTOR] __attribute__((aligned(8)));
	struct replay replay = start("w512", 100, 0);
	struct pattern_label label = { 0 };

	CHECK(!prepare_and_run(&replay), "fails");
	label.run = replay.mark;
	pattern_fill(sector, 1);
	/* sector 16 is of write 2: what was there before it is a lost write */
	label.sector = 16;
	pattern_label(sector, &label, 1);
	damage(&replay, 16, sector);
	/* sector 17 was not written: a neighbour written over */
	label.sector = 17;
	label.sequence = 3;
	pattern_label(sector, &label, 1);
	damage(&replay, 17, sector);
	/* sector 33 with the content of another place */
	label.sector = 25;
	label.sequence = 0;
	pattern_label(sector, &label, 1);
	damage(&replay, 33, sector);
	/* an earlier run's */
	label.sector = 40;
	label.sequence = 6;
	label.run = pattern_run(1);
	pattern_label(sector, &label, 1);
	damage(&replay, 40, sector);
	CHECK(quiet_check(&replay) == ALIGNCTL_FINDINGS, "fails");
	CHECK(replay.check.done && replay.check.mismatches == 4 && replay.check.first_mismatch == 16,
	      "%" PRIu64 " differ, the first is %" PRIu64, replay.check.mismatches,
	      replay.check.first_mismatch);
	finish(&replay);
}

/* Each byte that is not of a write, in its sector, its page and beside that. */
static void sees_damage_beside_buffered_writes(void)
{
	const uint64_t start_byte = WORKLOAD_INSIDE;
	const struct { uint64_t at; bool seen; } rows[] = {
		/* the four bytes; the rest of their sector, and of their page */
		{ start_byte, true }, { start_byte + 3, true },
		{ start_byte + 4, true }, { start_byte + 511, true },
		{ start_byte + 512, true }, { start_byte + 4095, true },
		/* the page is in two blocks, that start 1536 off, and beside them */
		{ start_byte - 1, true }, { start_byte - 4096 - 2560, true },
		{ start_byte - 4096 - 2561, false },
		{ start_byte + 4096, true }, { start_byte + 9727, true },
		{ start_byte + 9728, false },
	};
	struct replay replay = start("areasync", 3, 1536);
	size_t i;

	replay.source.plan.places = 1;
	buffer(&replay);
	CHECK(!prepare_and_run(&replay), "fails");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t sector = rows[i].at / PATTERN_SECTOR;
		char good[PATTERN_SECTOR], bad[PATTERN_SECTOR];

		if (pread(replay.fd, good, sizeof(good),
			  sector * PATTERN_SECTOR) != PATTERN_SECTOR)
			perror(path);
		memcpy(bad, good, sizeof(bad));
		bad[rows[i].at % PATTERN_SECTOR] ^= 1;
		damage(&replay, sector, bad);
		CHECK(quiet_check(&replay) == (rows[i].seen ? ALIGNCTL_FINDINGS :
							      ALIGNCTL_FINE),
		      "fails");
		CHECK(replay.check.done && replay.check.mismatches == rows[i].seen &&
		      (!rows[i].seen || replay.check.first_mismatch == sector),
		      "byte %" PRIu64 ": %" PRIu64 " differ, the first is %"
		      PRIu64, rows[i].at, replay.check.mismatches,
		      replay.check.first_mismatch);
		damage(&replay, sector, good);
	}
	/* nothing is known of what a write that failed left, but all beside it */
	replay.done.nr_failed = 1;
	replay.done.failed[0] = 2;
	damage(&replay, WORKLOAD_INSIDE / PATTERN_SECTOR,
	       (char[PATTERN_SECTOR]) { 0 });
	CHECK(quiet_check(&replay) == ALIGNCTL_FINDINGS && replay.check.mismatches == 1,
	      "%" PRIu64 " differ", replay.check.mismatches);
	finish(&replay);
}

/*
 * Put into @sector what write @sequence, from 1, or for 0 prepare, leaves there,
 * and compare. Return: mismatches.
 */
static uint64_t differ_with(struct replay *replay, uint64_t sector,
			    uint64_t sequence)
{
	char bytes[PATTERN_SECTOR] __attribute__((aligned(8)));

	pattern_fill(bytes, 1);
	pattern_label(bytes, &(struct pattern_label) {
		      sector, sequence, replay->mark }, 1);
	damage(replay, sector, bytes);
	CHECK(quiet_check(replay) == (replay->check.mismatches ?
				      ALIGNCTL_FINDINGS : ALIGNCTL_FINE),
	      "fails");
	return replay->check.mismatches;
}

/* Of five writes the third failed, and the last was never made. */
static void failed_write(void)
{
	/* what the sector holds at first, and what else it may hold or not */
	static const struct {
		uint64_t sector, good, other;
		bool right;
	} rows[] = {
		{ 8, 2, 0, false }, { 16, 3, 0, true }, { 16, 3, 2, false },
		{ 24, 4, 0, false }, { 32, 0, 5, false }, { 9, 0, 1, false },
		{ 9, 0, 3, false },
	};
	struct replay replay = start("w512", 5, 0);
	size_t i;

	CHECK(!prepare_and_run(&replay), "fails");
	replay.done.issued = 4;
	replay.done.nr_failed = 1;
	replay.done.failed[0] = 2;
	CHECK(!differ_with(&replay, 32, 0), "not all is right at first");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t sector = rows[i].sector;

		CHECK(differ_with(&replay, sector, rows[i].other) ==
		      !rows[i].right, "sector %" PRIu64 " with %" PRIu64,
		      sector, rows[i].other);
		CHECK(!differ_with(&replay, sector, rows[i].good),
		      "sector %" PRIu64, sector);
	}
	finish(&replay);
}

/* Write 5 ends with the 512 bytes that write 6, which failed, is. */
static void failed_rewrite(void)
{
	struct replay replay = start("diskbenchi-fresh", 3, 0);
	const struct plan *plan = &replay.source.plan;
	uint64_t sector = (plan->start + plan->workload->period) / 512;

	CHECK(!prepare_and_run(&replay), "fails");
	replay.done.nr_failed = 1;
	replay.done.failed[0] = 6;
	CHECK(!differ_with(&replay, sector, 6) &&
	      !differ_with(&replay, sector, 7), "old or new");
	CHECK(differ_with(&replay, sector, 0) == 1, "but not as prepared");
	replay.done.nr_failed = 0;
	CHECK(!differ_with(&replay, sector, 7), "the later write");
	CHECK(differ_with(&replay, sector, 6) == 1, "owns it");
	finish(&replay);
}

static void state_file(void)
{
	char name[] = "/var/tmp/alignctl-state-XXXXXX";
	char source[] = "rand512", where[] = "/dev/sdz";
	struct replay_state saved = {
		.path = name, .source = source, .device = where,
		.prepared = true, .mark = pattern_run(99), .fd = -1,
		.placement = { .bytes = 5000 * 512, .logical = 512,
			       .physical = 16384, .buffered = true },
		.done = { .issued = 9, .nr_failed = 2, .failed = { 3, 5 } },
	}, loaded;

	plan_init(&saved.plan, workload_find(source));
	saved.plan.buffered = true;
	saved.plan.count = 70;
	saved.plan.start = 131072;
	saved.plan.places = 80;
	saved.plan.seed = UINT64_MAX;
	align_geometry_init(&saved.blocks, 16384, 512, 3584, 0, 5000);
	close(mkstemp(name));
	CHECK(!replay_state_save(&saved), "cannot be saved");
	CHECK(!replay_state_load(&loaded, name), "cannot be loaded");
	CHECK(!memcmp(&loaded.plan, &saved.plan, sizeof(saved.plan)),
	      "the plan differs");
	CHECK(!memcmp(&loaded.blocks, &saved.blocks, sizeof(saved.blocks)) &&
	      !memcmp(&loaded.placement, &saved.placement,
		      sizeof(saved.placement)), "the blocks differ");
	CHECK(loaded.prepared && loaded.mark == saved.mark &&
	      loaded.done.issued == 9 && loaded.done.nr_failed == 2 &&
	      loaded.done.failed[0] == 3 && loaded.done.failed[1] == 5 &&
	      !strcmp(loaded.device, where),
	      "run %" PRIx64 " for %" PRIx64, loaded.mark, saved.mark);
	replay_state_free(&loaded);
	unlink(name);
}

/* Judge a crash, with what it prints shut. Return: enum alignctl_exit. */
static int quiet_crash(const char *state)
{
	int saved = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY);
	int result;

	fflush(stdout);
	dup2(null, STDOUT_FILENO);
	result = replay_crash(state, NULL, true);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(null);
	return result;
}

/* After a crash in a prepared workload each sector tells whether it lost anything. */
static void crashed_workload(void)
{
	char stale[PATTERN_SECTOR] __attribute__((aligned(8)));
	char name[] = "/var/tmp/alignctl-state-XXXXXX";
	struct replay replay = start("w512", 5, 0);
	struct replay_state state;

	close(mkstemp(name));
	options.state = name;
	CHECK(!replay_fit(&replay) && !replay_prepare(&replay) &&
	      !replay_run(&replay), "fails");
	CHECK(!replay_state_load(&state, name) && state.durable == 5,
	      "%" PRIu64 " durable", state.durable);
	/* as if the run had been cut after its third write was durable */
	state.durable = 3;
	CHECK(!replay_state_begin(&state) && state.fd >= 0, "cannot be written");
	close(state.fd);
	state.fd = -1;
	trace_keep_messages();
	CHECK(replay_resume(&replay, name, true) == ALIGNCTL_USAGE &&
	      replay_resume(&replay, name, false) == ALIGNCTL_USAGE,
	      "a phase follows a run that did not end");
	free(trace_kept_messages());
	CHECK(quiet_crash(name) == ALIGNCTL_FINE, "as it was left");
	/* write 4 was not durable, and write 3 was */
	CHECK(quiet_crash(name) == ALIGNCTL_FINE &&
	      differ_with(&replay, 24, 0) == 1 &&
	      quiet_crash(name) == ALIGNCTL_FINE, "old is fine");
	CHECK(differ_with(&replay, 16, 0) == 2 &&
	      quiet_crash(name) == ALIGNCTL_FINDINGS, "lost");
	CHECK(differ_with(&replay, 16, 3) == 1 &&
	      quiet_crash(name) == ALIGNCTL_FINE, "found again");
	/* what was prepared beside the writes was durable before them */
	pattern_fill(stale, 1);
	pattern_label(stale, &(struct pattern_label) {
		      17, 0, pattern_run(1) }, 1);
	damage(&replay, 17, stale);
	CHECK(quiet_crash(name) == ALIGNCTL_FINDINGS, "a neighbour is lost");
	replay_state_free(&state);
	finish(&replay);
	unlink(name);
}

const struct tap_test replay_tests[] = {
	{ "each workload is written and found again, around an offset too",
	  all_workloads },
	{ "so it is through the page cache", through_the_cache },
	{ "so it is with many writes in flight, of several threads too", in_parallel },
	{ "so it is with several threads", in_threads },
	{ "a flush that fails ends the run, and is no write", failed_flush },
	{ "what starts in a warm-up is checked and not measured, in any thread",
	  warms_up },
	{ "lost, strayed, misplaced and stale sectors are seen", sees_damage },
	{ "each byte beside a buffered write is looked at",
	  sees_damage_beside_buffered_writes },
	{ "after a failed write its sectors may be old or new", failed_write },
	{ "old is what the write before put there", failed_rewrite },
	{ "what one phase leaves is what the next one finds", state_file },
	{ "a crash in a workload is told from its state", crashed_workload },
	{ 0 },
};
