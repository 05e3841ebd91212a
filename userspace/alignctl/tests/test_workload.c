// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "tap.h"
#include "workload.h"

#define DISK_SECTORS	1953525168ULL	/* of the measured disk */

static void check_figures(const char *name, const struct workload_figures *want)
{
	const struct workload *w = workload_find(name);
	struct workload_figures got;
	struct align_geometry g;

	CHECK(w, "%s is not known", name);
	if (!w)
		return;
	align_geometry_init(&g, 4096, 512, 0, 0, DISK_SECTORS);
	workload_figures(w, w->default_count, &g, &got);
	CHECK(!memcmp(&got, want, sizeof(got)),
	      "%s: requests %" PRIu64 " bytes %" PRIu64 " touches %" PRIu64
	      " rmin %" PRIu64 " distinct %" PRIu64, name, got.requests,
	      got.bytes, got.touches, got.rmin, got.distinct);
}

static void published(void)
{
	static const struct { const char *name; struct workload_figures f; }
	rows[] = {
		/* requests, bytes, touches, rmin, distinct */
		{ "w512", { 20000, 20000 * 512, 20000, 20000, 20000 } },
		{ "w4096", { 20000, 20000 * 4096, 0, 0, 20000 } },
		{ "w4096_512", { 20000, 20000 * 4096, 40000, 40000, 40000 } },
		{ "w136k", { 5000, 5000 * 139264, 10000, 2, 170001 } },
		{ "w4k_132k", { 10000, 5000 * 139264, 20000, 2, 170001 } },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_figures(rows[i].name, &rows[i].f);
}

/* Every block's fate, looked up sector by sector. */
static void brute_force(const struct workload *w, uint64_t count,
			const struct align_geometry *g,
			struct workload_figures *f)
{
	uint64_t end = (workload_end(w, count) >> ALIGN_SECTOR_SHIFT) + 256;
	uint64_t blocks = align_block_of(g, end) + 1, i, sector;
	CLEANUP_FREE unsigned int *covered = calloc(blocks, sizeof(*covered));

	memset(f, 0, sizeof(*f));
	f->requests = workload_requests(w, count);
	for (i = 0; i < f->requests; i++) {
		uint32_t bytes;
		uint64_t start = workload_request(w, i, &bytes) >>
				 ALIGN_SECTOR_SHIFT;
		CLEANUP_FREE unsigned int *mine = calloc(blocks, sizeof(*mine));

		f->bytes += bytes;
		for (sector = start; sector < start + bytes / 512; sector++)
			mine[align_block_of(g, sector)]++;
		for (sector = 0; sector < blocks; sector++) {
			covered[sector] += mine[sector];
			f->touches += mine[sector] &&
				      mine[sector] < align_block_sectors(g);
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
		for (p = 0; p < 5; p++) {
			for (o = 0; o < 4; o++) {
				struct workload_figures got, want;
				struct align_geometry g;

				if (align_geometry_init(&g, physical[p], 512,
							offset[o], 0, 100000))
					continue;
				workload_figures(w, 7, &g, &got);
				brute_force(w, 7, &g, &want);
				CHECK(!memcmp(&got, &want, sizeof(got)),
				      "%s P %u offset %u: touches %" PRIu64
				      " for %" PRIu64 ", rmin %" PRIu64 " for %"
				      PRIu64 ", distinct %" PRIu64 " for %"
				      PRIu64, w->name, physical[p], offset[o],
				      got.touches, want.touches, got.rmin,
				      want.rmin, got.distinct, want.distinct);
			}
		}
	}
}

static void edges_are_left_out(void)
{
	const struct workload *w = workload_find("w136k");
	struct workload_figures f;
	struct align_geometry g;

	/* block 0 starts before the device, the last one ends after it */
	align_geometry_init(&g, 4096, 512, 512, 0,
			    workload_end(w, 1) >> ALIGN_SECTOR_SHIFT);
	workload_figures(w, 1, &g, &f);
	CHECK(f.touches == 2, "touches %" PRIu64, f.touches);
	CHECK(f.rmin == 1, "rmin %" PRIu64, f.rmin);
}

static void writes_rise_and_are_owned(void)
{
	const struct workload *w;
	size_t i;

	for (i = 0; (w = workload_at(i)); i++) {
		uint64_t requests = workload_requests(w, 9);
		uint64_t sector = 0, n, owner;

		for (n = 0; n < requests; n++) {
			uint32_t bytes;
			uint64_t start = workload_request(w, n, &bytes) / 512;

			CHECK(start >= sector, "%s: write %" PRIu64
			      " goes back", w->name, n);
			for (; sector < start; sector++)
				CHECK(!workload_owner(w, requests, sector,
						      &owner),
				      "%s: sector %" PRIu64 " is nobody's",
				      w->name, sector);
			for (; sector < start + bytes / 512; sector++)
				CHECK(workload_owner(w, requests, sector,
						     &owner) && owner == n,
				      "%s: sector %" PRIu64 " is of write %"
				      PRIu64, w->name, sector, n);
		}
		CHECK(sector * 512 == workload_end(w, 9), "%s ends at sector %"
		      PRIu64, w->name, sector);
		CHECK(!workload_owner(w, requests, sector, &owner),
		      "%s: sector %" PRIu64 " is after the end", w->name,
		      sector);
	}
}

static void huge_counts(void)
{
	const struct workload *w = workload_find("w136k");

	CHECK(workload_end(w, UINT64_MAX) == UINT64_MAX, "%" PRIu64,
	      workload_end(w, UINT64_MAX));
	CHECK(workload_end(w, UINT64_MAX / 139264 + 2) == UINT64_MAX, "%" PRIu64,
	      workload_end(w, UINT64_MAX / 139264 + 2));
	CHECK(workload_end(w, 5000) == 3584 + 5000 * 139264ULL, "%" PRIu64,
	      workload_end(w, 5000));
	CHECK(workload_end(w, 0) == 0, "%" PRIu64, workload_end(w, 0));
}

static void granularity(void)
{
	CHECK(workload_granularity(workload_find("w4096")) == 4096, "w4096");
	CHECK(workload_granularity(workload_find("w512")) == 512, "w512");
	CHECK(workload_granularity(workload_find("w136k")) == 512, "w136k");
	CHECK(workload_max_bytes(workload_find("w4k_132k")) == 135168,
	      "w4k_132k");
	CHECK(!workload_find("w5"), "w5 does not exist");
}

const struct tap_test workload_tests[] = {
	{ "the workloads cost what was worked out by hand for the published counts",
	  published },
	{ "on any geometry, figures are those found sector by sector",
	  any_geometry },
	{ "blocks that lie partly outside the device need no read",
	  edges_are_left_out },
	{ "writes rise, and every sector knows its writer",
	  writes_rise_and_are_owned },
	{ "a count beyond all devices ends beyond all devices", huge_counts },
	{ "the smallest direct write that a workload needs is known",
	  granularity },
	{ 0 },
};
