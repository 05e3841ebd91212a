// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/units.h"
#include "conform/rounds.h"
#include "tests/no_io_uring.h"
#include "tests/tap.h"

#define ROUNDS	(2 * KIND_NR)

/* Open a new file without a name, for direct I/O; or -1. */
static int open_file(uint64_t bytes)
{
	char path[] = "alignctl-rounds-XXXXXX";
	int fd = mkostemp(path, O_DIRECT | O_CLOEXEC);

	if (fd >= 0) {
		unlink(path);
		if (ftruncate(fd, (off_t)bytes)) {
			close(fd);
			return -1;
		}
	}
	return fd;
}

/* Check that as many rounds of each kind on a file find nothing. */
static void check_clean(enum round_method method, struct rounds_result *found)
{
	struct rounds_options options = {
		.path = "a file", .bytes = MIB, .logical = 512,
		.block = PAGE_BYTES, .memory = 512, .cells = 4, .seed = 1,
		.rounds = ROUNDS, .kind = KIND_NR, .method = method,
	};
	struct rounds_result result = { 0 };
	size_t i;

	*found = result;
	options.fd = open_file(MIB);
	if (options.fd < 0) {
		tap_skipped = "the file system of this folder has no O_DIRECT";
		return;
	}
	CHECK(!rounds_run(&options, &result), "it fails");
	CHECK(rounds_sum(&result) == ROUNDS, "%" PRIu64 " rounds",
	      rounds_sum(&result));
	for (i = 0; i < KIND_NR; i++)
		CHECK(result.rounds[i] == 2 && !result.faulty[i],
		      "kind %zu: %" PRIu64 " rounds, %" PRIu64 " faulty", i,
		      result.rounds[i], result.faulty[i]);
	for (i = 0; i < FAULT_NR; i++)
		CHECK(!result.faults[i], "%s", fault_names[i]);
	*found = result;
	rounds_free(&result);
	close(options.fd);
}

static void a_file_is_clean_by_both_methods(void)
{
	struct rounds_result found;

	check_clean(METHOD_NR, &found);
	if (tap_skipped)
		return;
	CHECK(found.method[METHOD_SYNC].rounds == ROUNDS ||
	      (found.method[METHOD_SYNC].rounds == ROUNDS / 2 &&
	       found.method[METHOD_URING].rounds == ROUNDS / 2),
	      "%" PRIu64 " and %" PRIu64 " rounds",
	      found.method[METHOD_URING].rounds,
	      found.method[METHOD_SYNC].rounds);
}

static void a_file_is_clean_by_one_method(void)
{
	struct rounds_result found;

	check_clean(METHOD_SYNC, &found);
	CHECK(tap_skipped || found.method[METHOD_SYNC].rounds == ROUNDS,
	      "%" PRIu64 " rounds", found.method[METHOD_SYNC].rounds);
}

/* Check that rounds are made if they may be by threads, and only then. */
static bool threads_stand_in(void)
{
	struct rounds_options options = {
		.path = "a file", .bytes = MIB, .logical = 512,
		.block = PAGE_BYTES, .memory = 512, .cells = 4, .seed = 1,
		.rounds = 10, .kind = KIND_NR, .method = METHOD_NR,
		.fd = open_file(MIB),
	};
	struct rounds_result result;
	bool good;

	good = !rounds_run(&options, &result) &&
	       result.method[METHOD_SYNC].rounds == 10;
	rounds_free(&result);
	options.method = METHOD_URING;
	good &= rounds_run(&options, &result) == ALIGNCTL_IO &&
		!rounds_sum(&result);
	close(options.fd);
	return good;
}

static void threads_stand_in_for_io_uring(void)
{
	int fd = open_file(MIB);

	if (fd < 0) {
		tap_skipped = "the file system of this folder has no O_DIRECT";
		return;
	}
	close(fd);
	CHECK(without_io_uring(threads_stand_in), "see threads_stand_in()");
}

const struct tap_test rounds_tests[] = {
	{ "rounds of every kind on a file find nothing, by io_uring and by threads in turn",
	  a_file_is_clean_by_both_methods },
	{ "rounds of every kind on a file find nothing, by threads alone",
	  a_file_is_clean_by_one_method },
	{ "where io_uring is forbidden, threads make all rounds, unless it is asked for",
	  threads_stand_in_for_io_uring },
	{ 0 }
};
