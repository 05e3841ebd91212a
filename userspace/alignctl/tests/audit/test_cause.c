// SPDX-License-Identifier: GPL-2.0
/* Recordings with extreme requests; test_cause.py has loads of known cause. */
#include <inttypes.h>
#include <string.h>

#include "audit/cause.h"
#include "tests/tap.h"

static const struct cause_place place = { .block = 4096 };

static void write_of(struct cause_search *search, uint64_t offset,
		     uint64_t bytes, const char *comm)
{
	struct trace_request request = {
		.op = TRACE_WRITE, .offset = offset, .bytes = bytes,
	};

	memcpy(request.comm, comm, strlen(comm) + 1);
	cause_add(search, &request);
}

static void touches(void)
{
	static const struct {
		uint64_t offset, bytes, touches;
	} writes[] = {
		{ 0, 4096, 0 }, { 0, 8192, 0 }, { 512, 512, 1 },
		{ 0, 512, 1 }, { 3584, 512, 1 }, { 3584, 1024, 2 },
		{ 512, 4096, 2 }, { 512, 3584, 1 }, { 4096, 4608, 1 },
		{ 512, 8192, 2 },
	};
	struct cause cause;
	size_t i;

	for (i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
		struct cause_search *search = cause_new(&place);

		write_of(search, writes[i].offset, writes[i].bytes, "x");
		cause_end(search, &cause);
		CHECK(cause.writes == 1 && cause.touches == writes[i].touches &&
		      cause.misaligned == !!writes[i].touches,
		      "write %zu: %" PRIu64 " touches", i, cause.touches);
	}
}

static void extremes(void)
{
	const struct cause_place far = {
		.block = 65536, .shift = 65024, .max_io = UINT64_MAX,
		.fs_unit = 512,
	};
	static const uint64_t numbers[] = {
		0, 1, 511, 512, 65535, 65536, INT64_MAX, UINT64_MAX,
		(uint64_t)INT64_MAX + 1, INT64_MAX - 511,
	};
	const size_t nr = sizeof(numbers) / sizeof(numbers[0]);
	struct cause_search *search = cause_new(&far);
	struct cause cause;
	size_t i, k;

	for (i = 0; i < nr; i++)
		for (k = 0; k < nr; k++)
			write_of(search, numbers[i], numbers[k], "kworker/0");
	cause_end(search, &cause);
	CHECK(cause.kind <= CAUSE_UNKNOWN && cause.writes <= nr * nr &&
	      cause.explained <= cause.touches, "%s", cause_name(cause.kind));
}

static void names(void)
{
	struct cause_search *search = cause_new(&place);
	struct cause cause;
	char comm[TRACE_COMM_BYTES];
	uint64_t i;

	for (i = 0; i < 1000; i++) {
		snprintf(comm, sizeof(comm), "p%" PRIu64, i);
		write_of(search, i * 8192 + 512, 512, comm);
	}
	cause_end(search, &cause);
	CHECK(cause.kind == CAUSE_RANDOM && !*cause.comm,
	      "%s by '%s', which made one of 1000 writes",
	      cause_name(cause.kind), cause.comm);
}

/* A process does not rewrite what another one wrote. */
static void two_processes(void)
{
	struct cause_search *search = cause_new(&place);
	struct cause cause;
	unsigned int i;

	for (i = 0; i < 1000; i++)
		write_of(search, 512, 512, i % 2 ? "one" : "two");
	cause_end(search, &cause);
	CHECK(cause.kind != CAUSE_REWRITE, "a block of two processes");
}

/* Sectors of a large block, of which several are one unit. */
static void large_block(void)
{
	static const struct cause_place large = { .block = 1 << 20 };
	struct cause_search *search = cause_new(&large);
	struct cause cause;
	uint64_t i;

	for (i = 0; i < 3000; i++)
		write_of(search, i * 512, 512, "x");
	cause_end(search, &cause);
	CHECK(cause.kind == CAUSE_STREAM, "%s", cause_name(cause.kind));
}

/* What makes the write before a rewrite durable. */
static void durable(void)
{
	static const struct {
		bool flush, preflush, fua;
		uint64_t durable;
	} how[] = {
		{ .durable = 0 }, { .flush = true, .durable = 199 },
		{ .preflush = true, .durable = 199 },
		{ .fua = true, .durable = 199 },
	};
	struct cause cause;
	size_t i, k;

	for (i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		struct cause_search *search = cause_new(&place);
		const struct trace_request write = {
			.op = TRACE_WRITE, .offset = 512, .bytes = 512,
			.preflush = how[i].preflush, .fua = how[i].fua,
		}, flush = { .op = TRACE_FLUSH };

		for (k = 0; k < 200; k++) {
			cause_add(search, &write);
			if (how[i].flush)
				cause_add(search, &flush);
		}
		cause_end(search, &cause);
		CHECK(cause.kind == CAUSE_REWRITE && cause.rewrites == 199 &&
		      cause.durable == how[i].durable,
		      "%zu: %s, %" PRIu64 " of %" PRIu64 " durable", i,
		      cause_name(cause.kind), cause.durable, cause.rewrites);
	}
}

static enum cause_kind says(const struct cause_ledger *ledger, uint32_t into)
{
	struct cause cause;

	cause_of_ledger(ledger, into, &cause);
	return cause.kind;
}

static void counters(void)
{
	struct cause_ledger ledger = {
		.bin_bytes = 512, .writes = 1000, .misaligned = 900,
		.touches = 1800, .phase = { [3] = 800, [5] = 100 },
	};

	CHECK(says(&ledger, 1536) == CAUSE_SHIFT, "a shift that is known");
	CHECK(says(&ledger, 2560) == CAUSE_UNKNOWN, "a shift by something else");
	CHECK(says(&ledger, 0) == CAUSE_UNKNOWN, "one bar may be a stream's");
	CHECK(says(&ledger, UINT32_MAX) == CAUSE_UNKNOWN, "a shift of 4 GiB");
	ledger.bin_bytes = 2048;
	CHECK(says(&ledger, 7680) == CAUSE_SHIFT, "a shift inside a bin");
	CHECK(says(&ledger, 1536) == CAUSE_UNKNOWN,
	      "the first bin has what starts at boundaries, too");
	ledger.bin_bytes = 512;
	ledger.completed = 1500;
	CHECK(says(&ledger, 0) == CAUSE_UNKNOWN, "in pad");
	ledger.coalesce = true;
	CHECK(says(&ledger, 0) == CAUSE_STREAM, "completed by what follows");
	ledger.completed = 500;
	CHECK(says(&ledger, 0) == CAUSE_UNKNOWN, "completed in part");
	ledger.misaligned = 5;
	CHECK(says(&ledger, 0) == CAUSE_NONE, "5 of 1000 writes");
	ledger.misaligned = 900;
	ledger.touches = 99;
	CHECK(says(&ledger, 1536) == CAUSE_UNKNOWN, "too few touches");
}

const struct tap_test cause_tests[] = {
	{ "touches are counted as the target counts them", touches },
	{ "requests at the ends of all numbers are no overflow", extremes },
	{ "counters name a shift that is known, and a stream in coalesce",
	  counters },
	{ "of too many processes none is named", names },
	{ "a process does not rewrite what another one wrote", two_processes },
	{ "a stream in a block of 1 MiB is no rewrite", large_block },
	{ "flush, preflush and FUA make a rewrite durable", durable },
	{ 0 },
};
