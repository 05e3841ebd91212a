// SPDX-License-Identifier: GPL-2.0
/* Plans with any figures: place of each request. */
#include "forecast/forecast.h"
#include "fuzz.h"
#include "workload/page_cache.h"

#define SECTOR	ALIGN_SECTOR_SIZE

static void check_request(const struct plan *plan, uint64_t number)
{
	uint64_t end = plan_end(plan);
	uint32_t bytes = 0;
	uint64_t start = plan_request(plan, number, &bytes);

	FUZZ_CHECK(bytes && bytes <= plan_max_bytes(plan));
	FUZZ_CHECK(plan->buffered ||
		   (start % SECTOR == 0 && bytes % SECTOR == 0));
	FUZZ_CHECK(start + bytes > start && start + bytes <= end);
	FUZZ_CHECK(start + plan->workload->first >= plan->start);
	FUZZ_CHECK(start % plan_granularity(plan) == 0);
}

/* Return the end of a device that fits the plan, in page-cache blocks. */
static uint64_t end_sector(const struct plan *plan)
{
	uint64_t blocks = (plan_end(plan) - 1) / PAGE_CACHE_BLOCK + 1;

	return plan->buffered ? blocks * (PAGE_CACHE_BLOCK / SECTOR) :
				plan_end(plan) / SECTOR;
}

/* Check the figures and extents, in a geometry that the input chooses. */
static void check_figures(const struct plan *plan, struct fuzz_bytes *bytes)
{
	struct align_geometry g;
	struct plan_figures figures;
	struct plan_extent *extent;
	uint64_t i;
	size_t nr;

	if (align_geometry_init(&g, 512U << fuzz_take(bytes, 1) % 8, 512,
				(uint32_t)fuzz_take(bytes, 1) * 512, 0,
				end_sector(plan)))
		return;
	FUZZ_CHECK(!plan_figures(plan, &g, plan->buffered ? PAGE_CACHE_BLOCK : 0,
				 &figures));
	FUZZ_CHECK(plan->buffered || figures.requests ==
		   (plan->workload->reads ? 0 : plan_requests(plan)));
	FUZZ_CHECK(!figures.reads || plan->buffered);
	FUZZ_CHECK(figures.touches <= 2 * figures.requests);
	FUZZ_CHECK(figures.rmin <= figures.touches &&
		   figures.rmin <= figures.distinct);
	extent = plan_extents(plan, &g, &nr);
	FUZZ_CHECK(nr >= 1);
	for (i = 0; i < nr; i++) {
		FUZZ_CHECK(extent[i].first < extent[i].end);
		FUZZ_CHECK(extent[i].end <= g.end_sector);
		FUZZ_CHECK(!i || extent[i - 1].end < extent[i].first);
	}
	free(extent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, size };
	const struct workload *w;
	uint64_t requests, end;
	struct plan plan;
	size_t kinds = 0;

	while (workload_at(kinds))
		kinds++;
	w = workload_at(fuzz_take(&bytes, 1) % kinds);
	FUZZ_CHECK(workload_find(w->name) == w);
	plan_init(&plan, w);
	/* the input chooses the width of each figure */
	plan.count = fuzz_take(&bytes, fuzz_take(&bytes, 1) % 9);
	plan.start = fuzz_take(&bytes, fuzz_take(&bytes, 1) % 9);
	plan.places = fuzz_take(&bytes, fuzz_take(&bytes, 1) % 9);
	plan.seed = fuzz_take(&bytes, 4);
	if (!plan_possible(&plan))
		return 0;
	requests = plan_requests(&plan);
	end = plan_end(&plan);
	FUZZ_CHECK(requests && (end > plan.start || end == UINT64_MAX));
	/* beyond 64 bits: the verbs refuse such a plan */
	if (end == UINT64_MAX || requests == UINT64_MAX)
		return 0;
	check_request(&plan, 0);
	check_request(&plan, requests - 1);
	check_request(&plan, fuzz_take(&bytes, 8) % requests);
	if (requests <= 64)
		check_figures(&plan, &bytes);
	return 0;
}
