// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "forecast/forecast.h"
#include "tests/tap.h"
#include "workload/page_cache.h"

#define DISK_SECTORS	1953525168ULL	/* of the measured disk */

/* A plan of @count repetitions; random writes get @places. */
static struct plan plan_of(const char *name, uint64_t count, uint64_t places)
{
	struct plan plan;

	plan_init(&plan, workload_find(name));
	if (count)
		plan.count = count;
	if (places)
		plan.places = places;
	/* else so long that looking at each sector takes too long */
	if (count && plan.workload->device == WORKLOAD_SPREAD) {
		plan.length = (1 << 20) + 131072;
		plan.period = 2 << 20;
	}
	return plan;
}

static void check_figures(const struct plan *plan,
			  const struct align_geometry *g,
			  const struct plan_figures *want)
{
	static const struct plan_figures none;
	struct plan_figures got;

	/* they are of writes */
	if (plan->workload->reads)
		want = &none;
	CHECK(!plan_figures(plan, g, plan->buffered ? PAGE_CACHE_BLOCK : 0,
			    &got), "%s", plan->workload->name);
	CHECK(!memcmp(&got, want, sizeof(got)),
	      "%s P %u offset %u: requests %" PRIu64 " bytes %" PRIu64
	      " touches %" PRIu64 " for %" PRIu64 ", rmin %" PRIu64 " for %"
	      PRIu64 ", distinct %" PRIu64 " for %" PRIu64,
	      plan->workload->name, g->physical, g->offset, got.requests,
	      got.bytes, got.touches, want->touches, got.rmin, want->rmin,
	      got.distinct, want->distinct);
}

static void published(void)
{
	const uint64_t mib = 1 << 20;
	const struct { const char *name; struct plan_figures f; } rows[] = {
		/* requests, bytes, touches, rmin, distinct, reads */
		{ "w512", { 20000, 20000 * 512, 20000, 20000, 20000, 0 } },
		{ "w4096", { 20000, 20000 * 4096, 0, 0, 20000, 0 } },
		{ "w4096_512", { 20000, 20000 * 4096, 40000, 40000, 40000, 0 } },
		{ "w136k", { 5000, 5000 * 139264, 10000, 2, 170001, 0 } },
		{ "w4k_132k", { 10000, 5000 * 139264, 20000, 2, 170001, 0 } },
		{ "diskbenchi-0", { 16000, 8000 * mib, 0, 0, 2048000, 0 } },
		{ "diskbenchi-existing",
		  { 16000, 8000 * mib, 32000, 2, 2048001, 0 } },
		{ "diskbenchi", { 16000, 8000 * mib, 32000, 2, 2048001, 0 } },
		{ "diskbenchi-fresh",
		  { 20001, 8000 * mib + 3584 + 4000 * 512, 28001, 0,
		    2048001, 0 } },
		{ "seq8k-shifted",
		  { 131072, 1024 * mib, 262144, 2, 262145, 0 } },
		/* 100 rounds over 4 areas: one block in each needs its rest */
		{ "areasync-512", { 400, 400 * 512, 400, 4, 4, 0 } },
		{ "areasync-512-128k", { 400, 400 * 512, 400, 4, 4, 0 } },
		/* pages that the cache writes; of areas it reads each once */
		{ "areasync", { 400, 400 * 4096, 0, 0, 4, 4 } },
		{ "areasync-128k", { 400, 400 * 4096, 0, 0, 4, 4 } },
		{ "areasync-4k", { 400, 400 * 4096, 0, 0, 4, 0 } },
		{ "areasync-4k-shifted", { 400, 400 * 4096, 800, 8, 8, 0 } },
		{ "append-512-dsync", { 2048, mib, 2048, 0, 256, 0 } },
		{ "db-write", { 131072, 1024 * mib, 0, 0, 262144, 0 } },
		{ "db-randwrite", { 131072, 1024 * mib, 0, 0, 262144, 0 } },
		/* 100 probes of 128 requests */
		{ "db-randwrite-shifted",
		  { 131072, 1024 * mib, 262144, 2, 262145, 0 } },
		/* of ten: 2 x 8, 16, 32 and 6 x 512 KiB */
		{ "db-daemon", { 2000, 200 * 3136 * 1024, 0, 0, 156800, 0 } },
		{ "dd-512-sync", { 16384, 64 * mib, 0, 0, 2048, 0 } },
		{ "dd-4m-sync", { 560, 64 * mib, 0, 0, 16384, 0 } },
		{ "journal-252k-seq", { 2000, 764000 * 1024, 0, 0, 191000, 0 } },
		{ "journal-252k-rand", { 2000, 260000 * 1024, 0, 0, 65000, 0 } },
		{ "journal-64k-seq", { 2000, 576000 * 1024, 0, 0, 144000, 0 } },
		{ "journal-64k-rand", { 2000, 72000 * 1024, 0, 0, 18000, 0 } },
		/* the ends of journal and data, which meet only in the second */
		{ "journal-252k-seq-shifted",
		  { 2000, 764000 * 1024, 4000, 4, 191002, 0 } },
		{ "journal-64k-seq-shifted",
		  { 2000, 576000 * 1024, 4000, 2, 144001, 0 } },
		{ "seqwrite", { 12800, 12800 * mib, 0, 0, 3276800, 0 } },
	};
	struct align_geometry g;
	size_t i;

	align_geometry_init(&g, 4096, 512, 0, 0, DISK_SECTORS);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct plan plan = plan_of(rows[i].name, 0, 0);

		check_figures(&plan, &g, &rows[i].f);
	}
}

/* Start and length of requests, as the driver got them. */
static void published_requests(void)
{
	static const struct { const char *name; uint32_t bytes[9]; } rows[] = {
		{ "diskbenchi-0", { 688128, 688128, 688128, 32768, 688128 } },
		{ "diskbenchi-existing",
		  { 688128, 688128, 688128, 32768, 688128 } },
		{ "diskbenchi-fresh", { 3584, 512, 687616, 688128, 688128,
					33280, 512, 687616, 688128 } },
	};
	/* sectors modulo 8 at which those of a new file start */
	static const unsigned int phase[] = { 0, 7, 0, 7, 7, 7, 7, 0, 7 };
	struct plan fresh = plan_of("diskbenchi-fresh", 2, 0);
	uint32_t bytes;
	size_t i, n;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct plan plan = plan_of(rows[i].name, 2, 0);

		for (n = 0; n < 9 && rows[i].bytes[n]; n++) {
			plan_request(&plan, n, &bytes);
			CHECK(bytes == rows[i].bytes[n],
			      "%s: request %zu has %u bytes", rows[i].name, n,
			      bytes);
		}
	}
	for (n = 0; n < 9; n++) {
		uint64_t start = plan_request(&fresh, n, &bytes) / 512;

		CHECK(start % 8 == phase[n], "request %zu: sector %" PRIu64, n,
		      start);
	}
}

/* Every block's fate, looked up sector by sector. */
static void brute_force(const struct plan *plan,
			const struct align_geometry *g, struct plan_figures *f)
{
	uint64_t end = (plan_end(plan) >> ALIGN_SECTOR_SHIFT) + 256;
	uint64_t blocks = align_block_of(g, end) + 1, i, sector;
	CLEANUP_FREE unsigned int *covered = calloc(blocks, sizeof(*covered));
	CLEANUP_FREE bool *written = calloc(end, sizeof(*written));
	CLEANUP_FREE unsigned int *mine = calloc(blocks, sizeof(*mine));

	memset(f, 0, sizeof(*f));
	f->requests = plan_requests(plan);
	for (i = 0; i < f->requests; i++) {
		uint32_t bytes;
		uint64_t first = plan_request(plan, i, &bytes) >>
				 ALIGN_SECTOR_SHIFT;
		uint64_t last = first + bytes / 512 - 1, block;

		f->bytes += bytes;
		for (sector = first; sector <= last; sector++) {
			mine[align_block_of(g, sector)]++;
			covered[align_block_of(g, sector)] += !written[sector];
			written[sector] = true;
		}
		for (block = align_block_of(g, first);
		     block <= align_block_of(g, last); block++) {
			f->touches += mine[block] < align_block_sectors(g);
			mine[block] = 0;
		}
	}
	for (i = 0; i < blocks; i++) {
		f->distinct += covered[i] != 0;
		f->rmin += covered[i] && covered[i] < align_block_sectors(g) &&
			   !align_is_edge(g, i);
	}
}

static void any_geometry(void)
{
	static const uint32_t physical[] = { 512, 1024, 4096, 16384, 65536 };
	static const uint32_t offset[] = { 0, 512, 3584, 12288 };
	const struct workload *w;
	size_t i, p, o;

	for (i = 0; (w = workload_at(i)); i++) {
		struct plan plan = plan_of(w->name, 7, workload_random(w) ? 40 : 0);

		/* of what is written then: see test_buffered.c */
		if (w->buffered)
			continue;
		for (p = 0; p < 5; p++) {
			for (o = 0; o < 4; o++) {
				struct plan_figures want;
				struct align_geometry g;

				if (align_geometry_init(&g, physical[p], 512,
							offset[o], 0, 100000))
					continue;
				brute_force(&plan, &g, &want);
				check_figures(&plan, &g, &want);
			}
		}
	}
}

static void edges_are_left_out(void)
{
	struct plan plan = plan_of("w136k", 1, 0);
	struct plan_figures f;
	struct align_geometry g;

	/* block 0 starts before the device, the last one ends after it */
	align_geometry_init(&g, 4096, 512, 512, 0,
			    plan_end(&plan) >> ALIGN_SECTOR_SHIFT);
	plan_figures(&plan, &g, 0, &f);
	CHECK(f.touches == 2, "touches %" PRIu64, f.touches);
	CHECK(f.rmin == 1, "rmin %" PRIu64, f.rmin);
}

static void random_writes_do_not_meet(void)
{
	struct plan plan = plan_of("rand512", 1000, 1000);
	CLEANUP_FREE unsigned int *seen = calloc(1000, sizeof(*seen));
	struct plan other = plan;
	unsigned int same = 0, rising = 0;
	uint64_t n, last = 0;
	uint32_t bytes;

	other.seed = 2;
	for (n = 0; n < 1000; n++) {
		uint64_t place = (plan_request(&plan, n, &bytes) -
				  plan.start) / 512;

		CHECK(place < 1000, "write %" PRIu64 " is at place %" PRIu64, n,
		      place);
		if (place < 1000)
			seen[place]++;
		same += plan_request(&other, n, &bytes) ==
			plan_request(&plan, n, &bytes);
		rising += place > last;
		last = place;
	}
	for (n = 0; n < 1000; n++)
		CHECK(seen[n] == 1, "place %" PRIu64 " has %u writes", n,
		      seen[n]);
	/* of random orders one place in a thousand agrees, and half rise */
	CHECK(same < 10, "%u places of another seed are the same", same);
	CHECK(rising > 400 && rising < 600, "%u of 1000 rise", rising);
}

/* As far apart as the span allows, and shorter where it is too small. */
static void probes_spread(void)
{
	const uint64_t mib = 1 << 20, disk = DISK_SECTORS << ALIGN_SECTOR_SHIFT;
	const struct { uint64_t count, span, length, period; } rows[] = {
		{ 100, disk, 128 * mib, 10101719040 },
		{ 1, disk, 128 * mib, 128 * mib },
		{ 100, 100 * 128 * mib, 128 * mib, 128 * mib },
		{ 2, 256 * mib - 1, 128 * mib - 65536, 128 * mib },
		{ 5, 60 * mib, 12 * mib, 12 * mib },
		{ 3, 3 * 65536, 65536, 65536 },
		{ 3, 3 * 65536 - 1, 0, 65536 },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct plan plan = plan_of("seqwrite", 0, 0);

		plan.count = rows[i].count;
		plan_spread(&plan, rows[i].span);
		CHECK(plan.length == rows[i].length &&
		      plan.period == rows[i].period, "%" PRIu64 " in %" PRIu64
		      ": %" PRIu64 " bytes each, every %" PRIu64, plan.count,
		      rows[i].span, plan.length, plan.period);
		CHECK(!plan.length ||
		      plan_end(&plan) <= plan.start + rows[i].span,
		      "end %" PRIu64, plan_end(&plan));
	}
}

/* Probes of one block of the device's length. */
static void random_probes_are_as_long_as_the_device_says(void)
{
	struct plan plan = plan_of("rndwrite", 5, 0);
	uint32_t bytes;
	uint64_t n;

	plan.period = plan.length = 24576;
	plan_spread(&plan, 5 * 24576 + 24575);
	CHECK(plan.places == 5 && plan_possible(&plan) &&
	      plan_max_bytes(&plan) == 24576 && plan_granularity(&plan) == 8192,
	      "%" PRIu64 " places", plan.places);
	for (n = 0; n < 5; n++)
		CHECK((plan_request(&plan, n, &bytes) - plan.start) % 24576 ==
		      0 && bytes == 24576, "probe %" PRIu64, n);
	plan.length = 512;
	CHECK(!plan_possible(&plan), "shorter than its place");
	plan.period = plan.length = 1ULL << 32;
	CHECK(!plan_possible(&plan), "longer than a request can be");
	plan = plan_of("rand4k", 5, 5);
	plan.period = plan.length = 8192;
	CHECK(!plan_possible(&plan), "rand4k with 8192 bytes");
}

static void huge_counts(void)
{
	struct plan plan = plan_of("w136k", UINT64_MAX, 0);

	CHECK(plan_end(&plan) == UINT64_MAX, "%" PRIu64, plan_end(&plan));
	CHECK(plan_requests(&plan) == UINT64_MAX, "%" PRIu64,
	      plan_requests(&plan));
	plan.count = UINT64_MAX / 139264 + 2;
	CHECK(plan_end(&plan) == UINT64_MAX, "%" PRIu64, plan_end(&plan));
	plan.count = 5000;
	CHECK(plan_end(&plan) == 3584 + 5000 * 139264ULL, "%" PRIu64,
	      plan_end(&plan));
	plan.start = UINT64_MAX - 511;
	CHECK(plan_end(&plan) == UINT64_MAX, "%" PRIu64, plan_end(&plan));
	plan.count = 0;
	CHECK(plan_end(&plan) == 0, "%" PRIu64, plan_end(&plan));
	plan = plan_of("areasync", UINT64_MAX, 2);
	CHECK(plan_requests(&plan) == UINT64_MAX, "%" PRIu64,
	      plan_requests(&plan));
	plan = plan_of("diskbenchi-fresh", UINT64_MAX / 5, 0);
	CHECK(plan_requests(&plan) == UINT64_MAX, "%" PRIu64,
	      plan_requests(&plan));
}

static void possible(void)
{
	const struct workload *w;
	struct plan plan;
	size_t i;

	for (i = 0; (w = workload_at(i)); i++) {
		plan = plan_of(w->name, 40, workload_random(w) ? 40 : 0);
		CHECK(plan_possible(&plan), "%s", w->name);
		plan.start += 511;
		CHECK(plan_possible(&plan) == w->buffered, "%s off a sector",
		      w->name);
		plan.start = w->start;
		plan.count = 0;
		CHECK(!plan_possible(&plan), "no %s", w->name);
	}
	plan = plan_of("rand4k", 41, 40);
	CHECK(!plan_possible(&plan), "41 writes at 40 places");
	plan = plan_of("records-4096", 40, 1);
	CHECK(plan_possible(&plan),
	      "40 draws of one place");
	plan.buffered = false;
	CHECK(plan_possible(&plan), "direct");
	plan.places = 0;
	CHECK(!plan_possible(&plan), "draws of no place");
	plan = plan_of("records-4000", 1, 1);
	plan.buffered = false;
	CHECK(!plan_possible(&plan), "4000 bytes directly");
	plan = plan_of("areasync-512", 1, 0);
	plan.places = 0;
	CHECK(!plan_possible(&plan), "no areas");
	plan = plan_of("diskbenchi-fresh", 1, 0);
	plan.start = 3072;
	CHECK(!plan_possible(&plan), "3584 bytes before byte 3072");
}

static uint32_t granularity_of(const char *name)
{
	struct plan plan = plan_of(name, 0, 0);

	return plan_granularity(&plan);
}

static void granularity(void)
{
	struct plan plan = plan_of("w4k_132k", 0, 0);

	CHECK(granularity_of("w4096") == 4096, "w4096");
	CHECK(granularity_of("rand4k") == 4096, "rand4k");
	CHECK(granularity_of("diskbenchi-0") == 32768, "diskbenchi-0");
	CHECK(granularity_of("w512") == 512, "w512");
	CHECK(granularity_of("w136k") == 512, "w136k");
	CHECK(plan_max_bytes(&plan) == 135168, "w4k_132k");
	plan.start = 0;
	CHECK(plan_granularity(&plan) == 4096, "w4k_132k from byte 0");
	plan.start = 100;
	CHECK(plan_granularity(&plan) == 4, "w4k_132k from byte 100");
	CHECK(!workload_find("w5"), "w5 does not exist");
}

static void one_at_a_time(void)
{
	static const char *const names[] = {
		"diskbenchi-fresh", "areasync", "areasync-128k", "areasync-512",
		"areasync-512-128k", "areasync-4k",
		"areasync-4k-shifted", "append-512-dsync", "rnddeltaread",
		"dd-512-sync", "dd-4m-sync", "journal-252k-seq",
		"journal-252k-rand", "journal-64k-seq", "journal-64k-rand",
		"journal-252k-seq-shifted", "journal-252k-rand-shifted",
		"journal-64k-seq-shifted", "journal-64k-rand-shifted",
	};
	const size_t nr = sizeof(names) / sizeof(names[0]);
	const struct workload *w;
	unsigned int found = 0;
	size_t i, k;

	for (i = 0; (w = workload_at(i)); i++) {
		bool wanted = false;

		for (k = 0; k < nr; k++)
			wanted |= !strcmp(w->name, names[k]);
		found += wanted;
		CHECK(workload_one_at_a_time(w) == wanted, "%s", w->name);
	}
	CHECK(found == nr, "%u found", found);
}

static void check_extents(const struct plan *plan,
			  const struct align_geometry *g,
			  const struct plan_extent *want, size_t nr_want)
{
	size_t nr, i;
	CLEANUP_FREE struct plan_extent *got = plan_extents(plan, g, &nr);

	CHECK(nr == nr_want, "%s: %zu extents for %zu", plan->workload->name,
	      nr, nr_want);
	for (i = 0; i < nr && i < nr_want; i++)
		CHECK(got[i].first == want[i].first && got[i].end == want[i].end,
		      "%s: %" PRIu64 " to %" PRIu64 " for %" PRIu64 " to %"
		      PRIu64, plan->workload->name, got[i].first, got[i].end,
		      want[i].first, want[i].end);
}

static void extents(void)
{
	struct plan plan = plan_of("w4096_512", 1, 0);
	struct align_geometry g;
	uint64_t first, second;
	uint32_t bytes;

	align_geometry_init(&g, 4096, 512, 0, 0, 1000000);
	/* sectors 1 to 8: blocks 0 and 1, and block 2 as a neighbour */
	check_extents(&plan, &g, &(struct plan_extent) { 0, 24 }, 1);
	align_geometry_init(&g, 4096, 512, 0, 0, 12);
	check_extents(&plan, &g, &(struct plan_extent) { 0, 12 }, 1);
	/* boundaries at 3584 + n * 4096, so sector 1 is in block 0 of 7 */
	align_geometry_init(&g, 4096, 512, 3584, 0, 1000000);
	check_extents(&plan, &g, &(struct plan_extent) { 0, 23 }, 1);
	/* a stream is one extent, from the first block but one to the last */
	plan = plan_of("w4096", 1000, 0);
	align_geometry_init(&g, 4096, 512, 0, 0, 1000000);
	check_extents(&plan, &g,
		      &(struct plan_extent) { 0, 999 * 16 + 16 }, 1);
	/* two writes in 100 MB: each with its block and its two neighbours */
	plan = plan_of("rand512", 2, 200000);
	first = plan_request(&plan, 0, &bytes) / 4096;
	second = plan_request(&plan, 1, &bytes) / 4096;
	if (first > second) {
		uint64_t other = first;

		first = second;
		second = other;
	}
	CHECK(second - first > 20, "blocks %" PRIu64 " and %" PRIu64
	      ": take another seed here", first, second);
	check_extents(&plan, &g, (struct plan_extent[2]) {
		{ (first - 1) * 8, (first + 2) * 8 },
		{ (second - 1) * 8, (second + 2) * 8 } }, 2);
	/* four bytes that become a page, in blocks 15 and 16 of 1536 + n * 4096 */
	plan = plan_of("areasync", 1, 1);
	align_geometry_init(&g, 4096, 512, 1536, 0, 1000000);
	check_extents(&plan, &g,
		      &(struct plan_extent) { 3 + 14 * 8, 3 + 18 * 8 }, 1);
	/* bytes 4000 to 7999: two pages, and their neighbours */
	plan = plan_of("records-4000", 1, 1);
	plan.start = 4000;
	align_geometry_init(&g, 4096, 512, 0, 0, 1000000);
	check_extents(&plan, &g, &(struct plan_extent) { 0, 24 }, 1);
}

const struct tap_test plan_tests[] = {
	{ "the workloads cost what was worked out by hand for the published counts",
	  published },
	{ "requests have the lengths and phases that were published",
	  published_requests },
	{ "on any geometry, figures are those found sector by sector",
	  any_geometry },
	{ "blocks that lie partly outside the device need no read",
	  edges_are_left_out },
	{ "random writes take each place once, in an order made from the seed",
	  random_writes_do_not_meet },
	{ "probes lie evenly all over the device, and are shorter on a small one",
	  probes_spread },
	{ "random probes are as long as the device says, and no others are",
	  random_probes_are_as_long_as_the_device_says },
	{ "a count beyond all devices ends beyond all devices", huge_counts },
	{ "a plan that cannot be is told from one that can", possible },
	{ "the smallest direct write that a workload needs is known",
	  granularity },
	{ "writes that overlap or are durable one by one go one at a time",
	  one_at_a_time },
	{ "the blocks around the writes are prepared and checked", extents },
	{ 0 },
};
