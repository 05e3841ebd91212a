// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/placement.h"
#include "tests/tap.h"

#define DEVICE	(1000 * 4096ULL + 512)

static struct placement device(enum placement_how how)
{
	return (struct placement) {
		.how = how, .bytes = DEVICE, .logical = 512, .physical = 4096,
		.end = 10 * DEVICE, .longest = 65536,
	};
}

/* Is it refused, with @word in the reason? */
static bool refused(enum placement_how how, enum trace_op op, uint64_t offset,
		    uint64_t bytes, const char *word)
{
	struct trace_request request = {
		.op = op, .offset = offset, .bytes = bytes,
	};
	struct placement placement = device(how);
	CLEANUP_FREE char *wrong = placement_apply(&placement, &request);

	return wrong && strstr(wrong, word);
}

static void exact(void)
{
	struct placement placement = device(PLACEMENT_EXACT);
	struct trace_request request = {
		.op = TRACE_WRITE, .offset = DEVICE - 512, .bytes = 512,
	};

	CHECK(!placement_apply(&placement, &request) &&
	      request.offset == DEVICE - 512, "the last sector");
	request.op = TRACE_FLUSH;
	request.offset = UINT64_MAX;
	CHECK(!placement_apply(&placement, &request), "a flush has no place");
	CHECK(refused(PLACEMENT_EXACT, TRACE_READ, DEVICE, 512, "--wrap"),
	      "behind the end");
	CHECK(refused(PLACEMENT_EXACT, TRACE_DISCARD, 0, DEVICE + 512,
		      "beyond"), "too long");
	CHECK(refused(PLACEMENT_EXACT, TRACE_WRITE, UINT64_MAX - 511, 512,
		      "beyond"), "the sum wraps");
	CHECK(refused(PLACEMENT_EXACT, TRACE_DISCARD, 512, UINT64_MAX - 511,
		      "beyond"), "the sum wraps to the start");
	CHECK(refused(PLACEMENT_EXACT, TRACE_WRITE, 100, 512, "multiple"),
	      "no sector");
	CHECK(refused(PLACEMENT_EXACT, TRACE_WRITE, 0,
		      PLACEMENT_MAX_BYTES + 512,
		      "longer than 33554432, the limit; split the request, or let 'alignctl plan'"),
	      "no memory");
	CHECK(!refused(PLACEMENT_EXACT, TRACE_READ, 0, PLACEMENT_MAX_BYTES,
		       "longer"), "memory enough");
	CHECK(refused(PLACEMENT_WRAP, TRACE_WRITE_ZEROES, 0, 2 * DEVICE / 512 *
		      512, "too few even for --wrap or --scale"),
	      "longer than the device");
}

/* Inside the device, as long as it was, and as it lay on the blocks. */
static void moved(enum placement_how how)
{
	struct placement placement = device(how);
	uint64_t last = 0, most = 0;
	int i;

	srand48(3);
	for (i = 0; i < 100000; i++) {
		uint64_t bytes = 512 * (1 + lrand48() % 128);
		uint64_t offset = lrand48() % (10 * DEVICE - bytes) / 512 * 512;
		struct trace_request request = {
			.op = TRACE_WRITE, .offset = offset, .bytes = bytes,
		};
		CLEANUP_FREE char *wrong = placement_apply(&placement,
							   &request);

		CHECK(!wrong && request.bytes == bytes &&
		      request.offset + bytes <= DEVICE &&
		      request.offset % 4096 == offset % 4096,
		      "%" PRIu64 " bytes at %" PRIu64 " to %" PRIu64, bytes,
		      offset, request.offset);
		if (how == PLACEMENT_WRAP && offset + bytes <= DEVICE)
			CHECK(request.offset == offset, "was inside");
		last += request.offset / 10;
		most = request.offset > most ? request.offset : most;
	}
	/* spread over all of it */
	CHECK(most > DEVICE * 9 / 10 && last / 10000 > DEVICE * 4 / 10 &&
	      last / 10000 < DEVICE * 6 / 10, "mean %" PRIu64, last / 10000);
}

static void wrapped(void)
{
	struct placement placement = device(PLACEMENT_WRAP);
	struct trace_request discard = {
		.op = TRACE_DISCARD, .offset = 999 * 4096, .bytes = 1 << 30,
	};

	struct trace_request tail = {
		.op = TRACE_READ, .offset = 1000 * 4096, .bytes = 512,
	}, behind = {
		.op = TRACE_READ, .offset = 2001 * 4096 + 512, .bytes = 512,
	};

	moved(PLACEMENT_WRAP);
	CHECK(!placement_apply(&placement, &tail) && tail.offset == 1000 * 4096,
	      "what fits stays: %" PRIu64, tail.offset);
	CHECK(!placement_apply(&placement, &behind) &&
	      behind.offset == 4096 + 512, "second time around: %" PRIu64,
	      behind.offset);
	CHECK(!placement_apply(&placement, &discard) &&
	      discard.offset == 999 * 4096 && discard.bytes == 4096 + 512,
	      "%" PRIu64, discard.bytes);
}

static void scaled(void)
{
	struct placement placement = device(PLACEMENT_SCALE);
	struct trace_request a = { .op = TRACE_READ, .bytes = 4096 }, b = a;

	struct trace_request last = {
		.op = TRACE_READ, .offset = 10 * DEVICE - 65536,
		.bytes = 65536,
	};

	moved(PLACEMENT_SCALE);
	CHECK(!placement_apply(&placement, &last) &&
	      last.offset > DEVICE - 4 * 65536, "the last one goes to %" PRIu64,
	      last.offset);
	a.offset = 100 * 4096;
	b.offset = 9000 * 4096;
	CHECK(!placement_apply(&placement, &a) &&
	      !placement_apply(&placement, &b) && a.offset < b.offset,
	      "in order");
}

const struct tap_test placement_tests[] = {
	{ "what does not fit is refused, with the reason", exact },
	{ "wrapped requests keep length, phase and, inside, place", wrapped },
	{ "scaled requests keep length, phase and order", scaled },
	{ 0 },
};
