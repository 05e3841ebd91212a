// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "conform/rounds.h"
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

static void a_file_is_clean(void)
{
	struct rounds_options options = {
		.path = "a file", .bytes = MIB, .logical = 512,
		.block = PAGE_BYTES, .memory = 512, .cells = 4, .seed = 1,
		.rounds = ROUNDS, .kind = KIND_NR,
	};
	struct rounds_result result;
	size_t i;

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
		CHECK(!result.faults[i], "%s", fault_name(i));
	rounds_free(&result);
	close(options.fd);
}

const struct tap_test rounds_tests[] = {
	{ "rounds of every kind on a file find nothing, also where a thread discards",
	  a_file_is_clean },
	{ 0 }
};
