// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "workload.h"

/*
 * One 512e disk, measured (ST1000DM003-1ER162, 7200 rpm, Linux 5.0): single
 * O_DIRECT writes, one at a time.
 */
static const struct workload workloads[] = {
	{ "w512", "512 bytes every 4096: a part of each physical block",
	  0, 4096, 20000, 1, { { 0, 512 } } },
	{ "w4096", "4096 bytes every 8192: whole physical blocks",
	  0, 8192, 20000, 1, { { 0, 4096 } } },
	{ "w4096_512", "4096 bytes every 8192, 512 bytes off: two parts each",
	  512, 8192, 20000, 1, { { 0, 4096 } } },
	{ "w136k", "136 KiB after 136 KiB, from byte 3584",
	  3584, 139264, 5000, 1, { { 0, 139264 } } },
	{ "w4k_132k", "4 KiB and then 132 KiB, over and over, from byte 3584",
	  3584, 139264, 5000, 2, { { 0, 4096 }, { 4096, 135168 } } },
};

#define NR_WORKLOADS (sizeof(workloads) / sizeof(workloads[0]))

const struct workload *workload_at(size_t index)
{
	return index < NR_WORKLOADS ? &workloads[index] : NULL;
}

const struct workload *workload_find(const char *name)
{
	size_t i;

	for (i = 0; i < NR_WORKLOADS; i++)
		if (!strcmp(workloads[i].name, name))
			return &workloads[i];
	return NULL;
}

uint64_t workload_requests(const struct workload *w, uint64_t count)
{
	return count * w->nr_parts;
}

uint64_t workload_request(const struct workload *w, uint64_t request,
			  uint32_t *bytes)
{
	const struct workload_part *part = &w->part[request % w->nr_parts];

	*bytes = part->bytes;
	return w->start + request / w->nr_parts * w->period + part->offset;
}

uint64_t workload_end(const struct workload *w, uint64_t count)
{
	uint32_t bytes;
	uint64_t start;

	if (!count)
		return 0;
	if (count > (UINT64_MAX - w->start) / w->period)
		return UINT64_MAX;
	start = workload_request(w, workload_requests(w, count) - 1, &bytes);
	return start + bytes;
}

uint32_t workload_max_bytes(const struct workload *w)
{
	uint32_t i, max = 0;

	for (i = 0; i < w->nr_parts; i++)
		if (w->part[i].bytes > max)
			max = w->part[i].bytes;
	return max;
}

uint32_t workload_granularity(const struct workload *w)
{
	uint64_t bits = w->start | w->period;
	uint32_t i;

	for (i = 0; i < w->nr_parts; i++)
		bits |= w->part[i].offset | w->part[i].bytes;
	return bits & -bits;
}

bool workload_owner(const struct workload *w, uint64_t requests,
		    uint64_t sector, uint64_t *request)
{
	uint64_t byte = sector << ALIGN_SECTOR_SHIFT;
	uint64_t repetition, into;
	uint32_t i;

	if (byte < w->start)
		return false;
	repetition = (byte - w->start) / w->period;
	into = (byte - w->start) % w->period;
	for (i = 0; i < w->nr_parts; i++) {
		const struct workload_part *part = &w->part[i];

		if (into < part->offset || into - part->offset >= part->bytes)
			continue;
		*request = repetition * w->nr_parts + i;
		return *request < requests;
	}
	return false;
}

/* A block is finished: nothing later writes to it, because writes rise. */
static void close_block(const struct align_geometry *g, uint64_t block,
			uint64_t covered, struct workload_figures *figures)
{
	if (covered < align_block_sectors(g) && !align_is_edge(g, block))
		figures->rmin++;
}

void workload_figures(const struct workload *w, uint64_t count,
		      const struct align_geometry *g,
		      struct workload_figures *figures)
{
	uint64_t requests = workload_requests(w, count);
	uint64_t open_block = 0, covered = 0, i;
	bool open = false;

	memset(figures, 0, sizeof(*figures));
	figures->requests = requests;
	for (i = 0; i < requests; i++) {
		struct align_split split;
		uint64_t block;
		uint32_t bytes;
		uint64_t first = workload_request(w, i, &bytes) >>
				 ALIGN_SECTOR_SHIFT;
		uint64_t end = first + (bytes >> ALIGN_SECTOR_SHIFT);

		align_split_write(g, first, end - first, &split);
		figures->bytes += bytes;
		figures->touches += split.nr_touches;
		for (block = split.first_block; block <= split.last_block;
		     block++) {
			uint64_t stop = ((block + 1) << g->block_shift) -
					g->lead;

			if (stop > end)
				stop = end;
			if (!open || block != open_block) {
				if (open)
					close_block(g, open_block, covered,
						    figures);
				figures->distinct++;
				covered = 0;
				open_block = block;
				open = true;
			}
			covered += stop - first;
			first = stop;
		}
	}
	if (open)
		close_block(g, open_block, covered, figures);
}
