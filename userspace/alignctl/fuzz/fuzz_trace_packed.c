// SPDX-License-Identifier: GPL-2.0
/*
 * Compressed traces: they grow within the bound, which fuzz targets have much
 * lower, and are read as any trace.
 */
#include "fuzz_trace.h"
#include "trace/input.h"

#define CAPACITY	65536U

/* Read all of the file as bytes. */
static void check_bound(const char *path, size_t size)
{
	struct trace_input input;
	uint64_t total = 0;
	ssize_t got;

	FUZZ_CHECK(trace_input_open(&input, path, CAPACITY) == ALIGNCTL_FINE);
	while ((got = trace_input_peek(&input, CAPACITY)) > 0) {
		total += (uint64_t)got;
		trace_input_take(&input, (size_t)got);
	}
	FUZZ_CHECK(got >= 0 || trace_input_failure(&input) == TRACE_BROKEN);
	FUZZ_CHECK(total <= TRACE_UNPACK_FREE + CAPACITY +
		   (uint64_t)TRACE_UNPACK_FACTOR * (size + 1));
	trace_input_close(&input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_bound(fuzz_given(data, size), size);
	fuzz_trace(data, size);
	return 0;
}
