// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "media.h"

#define MOST_CACHED	7U

/**
 * struct cell - a sector
 * @kept: the tag on the medium
 * @cached: the tags written since, oldest first
 * @nr: number of @cached
 * @listed: the sector is in the list of those with something in the cache
 */
struct cell {
	sim_u64 kept;
	sim_u64 cached[MOST_CACHED];
	unsigned int nr;
	bool listed;
};

static struct cell cells[MEDIA_SECTORS];
/* Sectors that may have something in the cache. */
static unsigned int cached[MEDIA_SECTORS];
static unsigned int nr_cached;

void media_reset(void)
{
	memset(cells, 0, sizeof(cells));
	nr_cached = 0;
}

sim_u64 media_read(unsigned int sector)
{
	const struct cell *cell = &cells[sector];

	return cell->nr ? cell->cached[cell->nr - 1] : cell->kept;
}

void media_write(unsigned int sector, sim_u64 tag)
{
	struct cell *cell = &cells[sector];

	if (!cell->listed) {
		cached[nr_cached++] = sector;
		cell->listed = true;
	}
	if (cell->nr == MOST_CACHED) {
		/* The drive writes back when it likes: here it likes. */
		cell->kept = cell->cached[0];
		memmove(cell->cached, cell->cached + 1,
			--cell->nr * sizeof(*cell->cached));
	}
	cell->cached[cell->nr++] = tag;
}

void media_settle(unsigned int sector)
{
	cells[sector].kept = media_read(sector);
	cells[sector].nr = 0;
}

void media_flush(void)
{
	while (nr_cached) {
		unsigned int sector = cached[--nr_cached];

		cells[sector].listed = false;
		if (cells[sector].nr)
			media_settle(sector);
	}
}

static sim_u64 mix(sim_u64 z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

void media_cut(enum media_cut how, sim_u64 seed)
{
	unsigned int i;

	for (i = 0; i < MEDIA_SECTORS; i++) {
		struct cell *cell = &cells[i];
		unsigned int pick = cell->nr;

		if (how == CUT_ALL)
			pick = 0;
		else if (how == CUT_SECTORS)
			pick = mix(seed + i) % (cell->nr + 1);
		else if (how == CUT_BLOCKS && mix(seed + i / 8) & 1)
			pick = 0;
		if (pick)
			cell->kept = cell->cached[pick - 1];
		cell->nr = 0;
		cell->listed = false;
	}
	nr_cached = 0;
}
