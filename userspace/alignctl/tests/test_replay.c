// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exit_codes.h"
#include "pattern.h"
#include "replay.h"
#include "tap.h"

#define FILE_BYTES	(8 << 20)

static char path[64];
static struct device device;

/* A replay of @count repetitions on a file. */
static struct replay start(const char *workload, uint64_t count,
			   uint32_t offset)
{
	struct replay replay = { .device = &device };
	int fd;

	strcpy(path, "/var/tmp/alignctl-replay-XXXXXX");
	fd = mkstemp(path);
	if (ftruncate(fd, FILE_BYTES))
		perror(path);
	close(fd);
	device_open(&device, path);
	replay.fd = open(path, O_RDWR | O_DIRECT);
	align_geometry_init(&replay.geometry, 4096, 512, offset, 0,
			    device.sectors);
	replay.state.workload = workload_find(workload);
	replay.state.count = count;
	return replay;
}

static void finish(struct replay *replay)
{
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

static void all_workloads(void)
{
	const struct workload *w;
	size_t i;

	for (i = 0; (w = workload_at(i)); i++) {
		struct replay replay = start(w->name, 20, 3584);
		struct replay_check check;
		struct replay_run run;

		CHECK(!replay_prepare(&replay) && !replay_run(&replay, &run) &&
		      !replay_check(&replay, &check), "%s fails", w->name);
		CHECK(check.done && !check.mismatches &&
		      check.sectors == replay.state.end_sector -
				       replay.state.first_sector,
		      "%s: %" PRIu64 " of %" PRIu64 " sectors differ", w->name,
		      check.mismatches, check.sectors);
		CHECK(run.requests == workload_requests(w, 20) &&
		      run.latency.count == run.requests, "%s: %" PRIu64
		      " writes", w->name, run.requests);
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
	label.run = replay.state.run;
	pattern_fill(sector, 1);
	/* sector 16 is of write 2: what was there before it is a lost write */
	label.sector = 16;
	pattern_label(sector, &label);
	damage(&replay, 16, sector);
	/* sector 17 is nobody's: a neighbour written over */
	label.sector = 17;
	label.sequence = 3;
	pattern_label(sector, &label);
	damage(&replay, 17, sector);
	/* sector 33 with the content of another place */
	label.sector = 25;
	label.sequence = 0;
	pattern_label(sector, &label);
	damage(&replay, 33, sector);
	/* an earlier run's */
	label.sector = 40;
	label.sequence = 6;
	label.run = pattern_run(1);
	pattern_label(sector, &label);
	damage(&replay, 40, sector);
	CHECK(!quiet_check(&replay, &check), "fails");
	CHECK(check.done && check.mismatches == 4 && check.first_mismatch == 16,
	      "%" PRIu64 " differ, the first is %" PRIu64, check.mismatches,
	      check.first_mismatch);
	finish(&replay);
}

static void failed_write(void)
{
	struct replay_state state = {
		.workload = workload_find("w512"), .count = 9, .done = 2,
		.uncertain = true,
	};

	CHECK(replay_expects(&state, 8, 2), "write 1 was done");
	CHECK(!replay_expects(&state, 8, 0), "and is not old");
	CHECK(replay_expects(&state, 16, 0) && replay_expects(&state, 16, 3),
	      "write 2 failed: old or new");
	CHECK(!replay_expects(&state, 16, 2), "but nothing else");
	CHECK(replay_expects(&state, 24, 0) && !replay_expects(&state, 24, 4),
	      "write 3 was never issued");
	CHECK(replay_expects(&state, 9, 0) && !replay_expects(&state, 9, 1),
	      "sector 9 is nobody's");
}

static void range(void)
{
	const struct workload *w = workload_find("w4096_512");
	struct align_geometry g;
	uint64_t first, end;

	align_geometry_init(&g, 4096, 512, 0, 0, 1000000);
	replay_range(w, 1, &g, &first, &end);
	/* sectors 1 to 8: blocks 0 and 1, and block 2 as a neighbour */
	CHECK(first == 0 && end == 24, "%" PRIu64 " to %" PRIu64, first, end);
	align_geometry_init(&g, 4096, 512, 0, 0, 12);
	replay_range(w, 1, &g, &first, &end);
	CHECK(end == 12, "the device ends at 12, not at %" PRIu64, end);
	/* boundaries at 3584 + n * 4096, so sector 1 is in block 0 of 7 */
	align_geometry_init(&g, 4096, 512, 3584, 0, 1000000);
	replay_range(w, 1, &g, &first, &end);
	CHECK(first == 0 && end == 23, "%" PRIu64 " to %" PRIu64, first, end);
}

static void state_file(void)
{
	char name[] = "/var/tmp/alignctl-state-XXXXXX";
	struct replay_state saved = {
		.workload = workload_find("w136k"), .count = 7,
		.run = pattern_run(99), .first_sector = 1, .end_sector = 99,
		.done = 3, .uncertain = true,
	}, loaded;

	close(mkstemp(name));
	CHECK(!replay_state_save(&saved, name), "cannot be saved");
	CHECK(!replay_state_load(&loaded, name), "cannot be loaded");
	CHECK(loaded.workload == saved.workload && loaded.count == 7 &&
	      loaded.run == saved.run && loaded.first_sector == 1 &&
	      loaded.end_sector == 99 && loaded.done == 3 && loaded.uncertain,
	      "run %" PRIx64 " for %" PRIx64, loaded.run, saved.run);
	unlink(name);
}

const struct tap_test replay_tests[] = {
	{ "each workload is written and found again, around an offset too",
	  all_workloads },
	{ "lost, strayed, misplaced and stale sectors are seen", sees_damage },
	{ "after a failed write its sectors may be old or new", failed_write },
	{ "the blocks around the workload are prepared and checked", range },
	{ "what one phase leaves is what the next one finds", state_file },
	{ 0 },
};
