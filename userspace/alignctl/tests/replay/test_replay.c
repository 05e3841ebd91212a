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
#include "replay/run.h"
#include "tests/tap.h"
#include "tests/trace_file.h"

#define FILE_BYTES	(48 << 20)	/* 20 times 2 MiB, and some */

static char path[64];
static struct device device;

/* Fewer places or repetitions, so that it ends in the file. */
static void make_fit(struct plan *plan)
{
	uint64_t *nr = workload_random(plan->workload) ? &plan->places :
							 &plan->count;

	while (plan_end(plan) > FILE_BYTES)
		--*nr;
}

/* A replay of @count repetitions on a file. */
static struct replay start(const char *workload, uint64_t count,
			   uint32_t offset)
{
	struct replay replay = { .device = &device, .depth = 1, .threads = 1 };
	int fd;

	strcpy(path, "/var/tmp/alignctl-replay-XXXXXX");
	fd = mkstemp(path);
	if (ftruncate(fd, FILE_BYTES))
		perror(path);
	close(fd);
	device_open(&device, path);
	replay.fd = open(path, O_RDWR | O_DIRECT);
	replay.cached_fd = open(path, O_RDWR);
	align_geometry_init(&replay.geometry, 4096, 512, offset, 0,
			    device.sectors);
	plan_init(&replay.state.plan, workload_find(workload));
	replay.state.plan.count = count;
	if (workload_random(replay.state.plan.workload))
		replay.state.plan.places = 5000;
	if (replay.state.plan.workload->device == WORKLOAD_SPREAD)
		plan_spread(&replay.state.plan,
			    FILE_BYTES - 2 * WORKLOAD_INSIDE);
	else if (plan_end(&replay.state.plan) > FILE_BYTES)
		make_fit(&replay.state.plan);
	return replay;
}

static void finish(struct replay *replay)
{
	close(replay->cached_fd);
	close(replay->fd);
	device_close(&device);
	unlink(path);
}

/* Runs with standard error shut: the messages are the program's tests' job. */
static int quiet_check(struct replay *replay, struct replay_check *check)
{
	int saved = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);
	int result;

	dup2(null, STDERR_FILENO);
	result = replay_check(replay, check);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(null);
	return result;
}

static uint64_t extents_sectors(const struct replay_state *state)
{
	size_t nr, i;
	CLEANUP_FREE struct plan_extent *extent =
		plan_extents(&state->plan, &state->prepared, &nr);
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
		uint64_t requests = plan_requests(&replay.state.plan);
		struct replay_check check;
		struct replay_run run;
		uint64_t sizes = 0;
		uint32_t k;

		if (w->reads ||
		    (depth * threads > 1 && workload_one_at_a_time(w))) {
			finish(&replay);
			continue;
		}
		replay.depth = depth;
		replay.threads = threads;
		replay.state.plan.buffered |= buffered;
		CHECK(!replay_prepare(&replay) && !replay_run(&replay, &run) &&
		      !replay_check(&replay, &check), "%s fails", w->name);
		CHECK(check.done && !check.mismatches &&
		      check.sectors == extents_sectors(&replay.state),
		      "%s: %" PRIu64 " of %" PRIu64 " sectors differ", w->name,
		      check.mismatches, check.sectors);
		CHECK(run.requests == requests &&
		      run.latency.count == run.requests, "%s: %" PRIu64
		      " writes", w->name, run.requests);
		CHECK(!strcmp(run.method, method), "%s: by %s", w->name,
		      run.method);
		CHECK(run.flush_latency.count ==
		      (w->sync == WORKLOAD_FDATASYNC ? requests :
		       w->sync == WORKLOAD_FDATASYNC_PART ?
		       replay.state.plan.count : 0),
		      "%s: %" PRIu64 " flushes", w->name,
		      run.flush_latency.count);
		/*
		 * memory is there for all, however long they are, and none waits
		 * but a place that was drawn before
		 */
		CHECK(threads > 1 || w->order == WORKLOAD_DRAWS ||
		      run.measures.most_in_flight ==
		      (requests < depth ? requests : depth),
		      "%s: %" PRIu32 " in flight", w->name,
		      run.measures.most_in_flight);
		for (k = 0; k < run.measures.nr_sizes; k++)
			sizes += run.measures.by_size[k].service->count;
		CHECK(sizes == requests, "%s: %" PRIu64 " writes by size",
		      w->name, sizes);
		replay_run_free(&run);
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
	struct replay_run run;

	close(replay.fd);
	replay.fd = open("/dev/null", O_RDWR);
	trace_keep_messages();
	CHECK(replay_run(&replay, &run) == ALIGNCTL_IO, "goes on");
	free(trace_kept_messages());
	CHECK(replay.state.issued == 1 && run.requests == 1 &&
	      !run.flush_latency.count, "%" PRIu64 " writes of %" PRIu64,
	      run.requests, replay.state.issued);
	CHECK(!replay.state.nr_failed, "write %" PRIu64 " did not fail",
	      replay.state.failed[0]);
	replay_run_free(&run);
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
		uint64_t requests = plan_requests(&replay.state.plan);
		struct replay_check check;
		uint64_t slices = 0, part;
		struct replay_run run = { 0 };

		replay.threads = i ? 1 : 3;
		/* as long as the device takes for some of them */
		for (replay.warmup_ns = 1 << 25; !run.requests &&
		     replay.warmup_ns > 1000; replay.warmup_ns /= 2) {
			replay_run_free(&run);
			trace_keep_messages();
			CHECK(!replay_prepare(&replay) &&
			      !replay_run(&replay, &run), "%s fails",
			      workloads[i]);
			free(trace_kept_messages());
		}
		CHECK(!replay_check(&replay, &check), "%s fails", workloads[i]);
		CHECK(check.done && !check.mismatches, "%" PRIu64 " differ",
		      check.mismatches);
		CHECK(run.warmup_requests && run.requests &&
		      run.warmup_requests + run.requests == requests,
		      "%s: %" PRIu64 " and %" PRIu64 " writes", workloads[i],
		      run.warmup_requests, run.requests);
		for (part = 0; part < REPLAY_SLICES; part++)
			slices += run.slice[part].count;
		CHECK(run.measures.most_in_flight <= replay.threads &&
		      run.measures.most_in_flight > (i ? 0 : 1),
		      "%s: %" PRIu32 " in flight", workloads[i],
		      run.measures.most_in_flight);
		CHECK(run.latency.count == run.requests &&
		      run.measures.bytes == run.requests * 512 &&
		      slices == run.requests, "%s: %" PRIu64 " latencies",
		      workloads[i], run.latency.count);
		/* of the last write in the warm-up the flush may be after it */
		CHECK(!i || run.flush_latency.count - run.requests <= 1,
		      "%" PRIu64 " flushes", run.flush_latency.count);
		replay_run_free(&run);
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
	struct replay_check check;
	struct replay_run run;

	CHECK(!replay_prepare(&replay) && !replay_run(&replay, &run), "fails");
	replay_run_free(&run);
	label.run = replay.state.run;
	pattern_fill(sector, 1);
	/* sector 16 is of write 2: what was there before it is a lost write */
	label.sector = 16;
	pattern_label(sector, &label, 1);
	damage(&replay, 16, sector);
	/* sector 17 is nobody's: a neighbour written over */
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
	CHECK(!quiet_check(&replay, &check), "fails");
	CHECK(check.done && check.mismatches == 4 && check.first_mismatch == 16,
	      "%" PRIu64 " differ, the first is %" PRIu64, check.mismatches,
	      check.first_mismatch);
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
	struct replay_check check;
	struct replay_run run;
	size_t i;

	replay.state.plan.places = 1;
	CHECK(!replay_prepare(&replay) && !replay_run(&replay, &run), "fails");
	replay_run_free(&run);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t sector = rows[i].at / PATTERN_SECTOR;
		char good[PATTERN_SECTOR], bad[PATTERN_SECTOR];

		if (pread(replay.cached_fd, good, sizeof(good),
			  sector * PATTERN_SECTOR) != PATTERN_SECTOR)
			perror(path);
		memcpy(bad, good, sizeof(bad));
		bad[rows[i].at % PATTERN_SECTOR] ^= 1;
		damage(&replay, sector, bad);
		CHECK(!quiet_check(&replay, &check), "fails");
		CHECK(check.done && check.mismatches == rows[i].seen &&
		      (!rows[i].seen || check.first_mismatch == sector),
		      "byte %" PRIu64 ": %" PRIu64 " differ, the first is %"
		      PRIu64, rows[i].at, check.mismatches,
		      check.first_mismatch);
		damage(&replay, sector, good);
	}
	/* nothing is known of what a write that failed left, but all beside it */
	replay.state.nr_failed = 1;
	replay.state.failed[0] = 2;
	memset(&check, 0, sizeof(check));
	damage(&replay, WORKLOAD_INSIDE / PATTERN_SECTOR,
	       (char[PATTERN_SECTOR]) { 0 });
	CHECK(!quiet_check(&replay, &check) && check.mismatches == 1,
	      "%" PRIu64 " differ", check.mismatches);
	finish(&replay);
}

static void failed_write(void)
{
	struct replay_state state = {
		.issued = 4, .nr_failed = 1, .failed = { 2 },
	};

	plan_init(&state.plan, workload_find("w512"));
	CHECK(replay_expects(&state, 8, 2), "write 1 was done");
	CHECK(!replay_expects(&state, 8, 0), "and is not old");
	CHECK(replay_expects(&state, 16, 0) && replay_expects(&state, 16, 3),
	      "write 2 failed: old or new");
	CHECK(!replay_expects(&state, 16, 2), "but nothing else");
	CHECK(replay_expects(&state, 24, 4) && !replay_expects(&state, 24, 0),
	      "write 3, in flight with it, was done");
	CHECK(replay_expects(&state, 32, 0) && !replay_expects(&state, 32, 5),
	      "write 4 was never issued");
	CHECK(replay_expects(&state, 9, 0) && !replay_expects(&state, 9, 1),
	      "sector 9 is nobody's");
}

static void failed_rewrite(void)
{
	struct replay_state state = {
		.issued = 7, .nr_failed = 1, .failed = { 6 },
	};
	uint64_t sector;

	/* write 5 ends with the 512 bytes that write 6 is */
	plan_init(&state.plan, workload_find("diskbenchi-fresh"));
	sector = (state.plan.start + state.plan.workload->period) / 512;
	CHECK(replay_expects(&state, sector, 6) &&
	      replay_expects(&state, sector, 7), "old or new");
	CHECK(!replay_expects(&state, sector, 0), "but not as prepared");
	state.nr_failed = 0;
	CHECK(replay_expects(&state, sector, 7) &&
	      !replay_expects(&state, sector, 6), "the later write owns it");
}

static void state_file(void)
{
	char name[] = "/var/tmp/alignctl-state-XXXXXX";
	struct replay_state saved = {
		.run = pattern_run(99), .issued = 9, .nr_failed = 2,
		.failed = { 3, 5 },
	}, loaded;

	plan_init(&saved.plan, workload_find("rand512"));
	saved.plan.buffered = true;
	saved.plan.count = 70;
	saved.plan.start = 131072;
	saved.plan.places = 80;
	saved.plan.seed = UINT64_MAX;
	align_geometry_init(&saved.prepared, 16384, 512, 3584, 0, 5000);
	close(mkstemp(name));
	CHECK(!replay_state_save(&saved, name), "cannot be saved");
	CHECK(!replay_state_load(&loaded, name), "cannot be loaded");
	CHECK(!memcmp(&loaded.plan, &saved.plan, sizeof(saved.plan)),
	      "the plan differs");
	CHECK(!memcmp(&loaded.prepared, &saved.prepared,
		      sizeof(saved.prepared)), "the blocks differ");
	CHECK(loaded.run == saved.run && loaded.issued == 9 &&
	      loaded.nr_failed == 2 && loaded.failed[0] == 3 &&
	      loaded.failed[1] == 5,
	      "run %" PRIx64 " for %" PRIx64, loaded.run, saved.run);
	unlink(name);
}

const struct tap_test replay_tests[] = {
	{ "each workload is written and found again, around an offset too",
	  all_workloads },
	{ "so it is through the page cache", through_the_cache },
	{ "so it is with many writes in flight", in_parallel },
	{ "so it is with several threads", in_threads },
	{ "a flush that fails ends the run, and is no write", failed_flush },
	{ "what starts in a warm-up is checked and not measured", warms_up },
	{ "lost, strayed, misplaced and stale sectors are seen", sees_damage },
	{ "each byte beside a buffered write is looked at",
	  sees_damage_beside_buffered_writes },
	{ "after a failed write its sectors may be old or new", failed_write },
	{ "old is what the write before put there", failed_rewrite },
	{ "what one phase leaves is what the next one finds", state_file },
	{ 0 },
};
