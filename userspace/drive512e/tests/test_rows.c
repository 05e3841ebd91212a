// SPDX-License-Identifier: GPL-2.0
/* The published figures, in virtual time: no noise, no transport. */
#include <string.h>

#include "../bench/player.h"
#include "../bench/rows.h"
#include "../bench/workloads.h"
#include "tap.h"

static void test_claims(void)
{
	unsigned int claimed = 0;

	for (const struct bench_row *row = bench_rows; row->profile; row++) {
		double measured;

		if (row->unclaimed)
			continue;
		claimed++;
		measured = row->measure(row);
		CHECK(bench_holds(row, measured), "%s, %s: %f %s, published %f",
		      row->profile, row->name, measured,
		      row->unit ? row->unit : "", row->published);
	}
	CHECK(claimed > 50, "%u", claimed);
}

static void test_rows_are_judged(void)
{
	struct bench_row row = { .published = 100 };

	CHECK(bench_holds(&row, 109) && bench_holds(&row, 91), "inside");
	CHECK(!bench_holds(&row, 111) && !bench_holds(&row, 89), "outside");
	CHECK(!bench_holds(&row, 0), "nothing measured");
	row.unclaimed = "for a reason";
	CHECK(bench_holds(&row, 0), "not claimed");
}

static void test_profiles_have_rows(void)
{
	for (const struct profile *const *at = profiles, *p; (p = *at); at++) {
		unsigned int rows = 0;

		for (const struct bench_row *row = bench_rows; row->profile;
		     row++)
			rows += strcmp(row->profile, p->name) == 0;
		CHECK((rows > 0) == (p->kind == PROFILE_MECHANICAL ||
				     p->kind == PROFILE_FLASH),
		      "%s: %u rows", p->name, rows);
	}
}

/* The counters after a workload of part A, with an empty cache. */
static struct media_counters after(const struct workload *w)
{
	struct media_counters media;
	struct player p;

	player_start(&p, "st1000dm003", true);
	for (unsigned int i = 0; i < w->count; i++) {
		uint64_t offset = w->first + i * w->stride;

		for (unsigned int part = 0; part < w->parts; part++) {
			player_send(&p, OP_WRITE, offset, w->bytes[part]);
			player_pause(&p, (int64_t)(workload_host_us(w) * 1e3));
			offset += w->bytes[part];
		}
	}
	player_send(&p, OP_FLUSH, 0, 0);
	media = model_counters(p.model, p.now);
	player_stop(&p);
	return media;
}

static void test_touches_balance(void)
{
	for (const struct workload *w = workloads; w < workloads + WORKLOADS; w++) {
		struct media_counters media = after(w);

		CHECK(media.rmws + media.rmws_saved_by_cache ==
		      (uint64_t)w->count * w->touches, "%s: %ju + %ju", w->name,
		      (uintmax_t)media.rmws,
		      (uintmax_t)media.rmws_saved_by_cache);
	}
}

static void test_streams_need_two_reads(void)
{
	struct media_counters media = after(&workloads[3]);

	CHECK(media.rmws == 2, "%ju", (uintmax_t)media.rmws);
	CHECK(media.blocks_written == 170001, "%ju",
	      (uintmax_t)media.blocks_written);
}

const struct tap_test rows_tests[] = {
	{ "each published figure that the model claims within 10 %",
	  test_claims },
	{ "a row is held to its tolerance unless it is not claimed",
	  test_rows_are_judged },
	{ "each profile with a model has published figures",
	  test_profiles_have_rows },
	{ "the touches of the published workloads are RMWs or saved",
	  test_touches_balance },
	{ "a misaligned stream of any length needs two RMWs",
	  test_streams_need_two_reads },
	{ 0 },
};
