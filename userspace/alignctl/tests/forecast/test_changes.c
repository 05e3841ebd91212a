// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdbool.h>

#include "forecast/changes.h"
#include "tests/tap.h"

#define MODELS	3U

/* Make models: of two sizes of blocks, and one of the first in which no time passes. */
static void make_models(struct fixing *models[MODELS])
{
	static const uint32_t physical[MODELS] = { 4096, 65536, 4096 };
	struct align_geometry g;
	unsigned int i;

	for (i = 0; i < MODELS; i++) {
		align_geometry_init(&g, physical[i], 512, 512, 0, 1ULL << 40);
		models[i] = fixing_new(&g, i < 2, fixing_max_blocks(&g));
	}
}

static void free_models(struct fixing *models[MODELS])
{
	unsigned int i;

	for (i = 0; i < MODELS; i++)
		fixing_free(models[i]);
}

/* Return the request @n of a mixture of all operations, at its time. */
static struct trace_request request_of(uint64_t n)
{
	return (struct trace_request) {
		.time_ns = n * 20000000,
		.op = n % 7 == 3 ? TRACE_READ : n % 101 == 5 ? TRACE_FLUSH :
		      n % 53 == 6 ? TRACE_DISCARD :
		      n % 47 == 7 ? TRACE_WRITE_ZEROES : TRACE_WRITE,
		.preflush = n % 91 == 3, .fua = n % 31 == 8,
	};
}

static uint64_t first_of(uint64_t n)
{
	return n * n % 1999 + n / 1000 * 64;
}

static uint64_t end_of(uint64_t n)
{
	return first_of(n) + n % 150 + 1;
}

/* Do @nr requests in a model, one by one and without a list. */
static void do_alone(struct fixing *model, uint64_t nr)
{
	uint64_t n;

	for (n = 0; n < nr; n++) {
		const struct trace_request r = request_of(n);
		const struct fixing_request request = {
			.time_ns = r.time_ns, .first = first_of(n),
			.end = end_of(n), .op = r.op,
			.preflush = r.preflush, .fua = r.fua,
		};

		if (r.op != TRACE_READ || r.preflush)
			fixing_do(model, &request, 1);
	}
	fixing_flush(model);
}

static bool same(const struct fixing *one, const struct fixing *other,
		 enum fixing_mode mode)
{
	const struct fixing_figures a = fixing_figures(one, mode);
	const struct fixing_figures b = fixing_figures(other, mode);

	return a.host && a.host == b.host && a.written == b.written &&
	       a.avoided == b.avoided && a.expected == b.expected;
}

static void check_models(struct fixing *const models[MODELS], uint64_t nr)
{
	struct fixing *alone[MODELS];
	unsigned int i;

	make_models(alone);
	for (i = 0; i < MODELS; i++) {
		do_alone(alone[i], nr);
		CHECK(same(models[i], alone[i], FIXING_PAD) &&
		      same(models[i], alone[i], FIXING_COALESCE),
		      "model %u of %" PRIu64 " requests", i, nr);
	}
	CHECK(!same(alone[0], alone[2], FIXING_PAD), "times say nothing");
	free_models(alone);
}

/* Do @nr requests through a list. Return: the list, which has ended. */
static struct changes *do_listed(struct fixing *const models[], unsigned int nr,
				 bool keep, uint64_t requests, bool *kept)
{
	struct changes *changes = changes_new(models, nr, keep);
	uint64_t n;

	for (n = 0; n < requests; n++) {
		const struct trace_request request = request_of(n);

		changes_add(changes, &request, first_of(n), end_of(n));
	}
	*kept = changes_end(changes);
	return changes;
}

static void as_one_by_one(void)
{
	static const struct { bool keep, kept; uint64_t nr; } all[] = {
		{ true, true, 700 }, { true, true, 20000 },
		{ false, true, 700 }, { false, false, 20000 },
		{ true, false, CHANGES_MAX + CHANGES_MAX / 3 },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct fixing *models[MODELS];
		struct changes *changes;
		bool kept;

		make_models(models);
		changes = do_listed(models, MODELS, all[i].keep, all[i].nr,
				    &kept);
		CHECK(kept == all[i].kept, "%" PRIu64 " requests", all[i].nr);
		check_models(models, all[i].nr);
		changes_free(changes);
		free_models(models);
	}
}

static void repeated(void)
{
	struct fixing *models[MODELS];
	struct changes *changes;
	unsigned int i;
	bool kept;

	make_models(models);
	changes = do_listed(NULL, 0, true, 9000, &kept);
	CHECK(kept, "not kept");
	for (i = 0; i < MODELS; i++)
		changes_repeat(changes, models[i]);
	check_models(models, 9000);
	changes_free(changes);
	free_models(models);
}

const struct tap_test changes_tests[] = {
	{ "requests in a list are done as one by one, of any number of them",
	  as_one_by_one },
	{ "requests that are kept are the same when they are done again",
	  repeated },
	{ 0 },
};
