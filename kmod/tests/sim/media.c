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
/* Masks that a cut has used; of all lives. */
static bool masks[256];

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
	/* In a search a cut loses the cache: its older tags make no two states. */
	if (machine_is_search())
		cell->nr = 0;
	if (cell->nr == MOST_CACHED) {
		/* The drive writes back when it likes: here it likes. */
		cell->kept = cell->cached[0];
		memmove(cell->cached, cell->cached + 1,
			--cell->nr * sizeof(*cell->cached));
	}
	cell->cached[cell->nr++] = tag;
}

void media_state(unsigned int nr, void (*word)(sim_u64 word))
{
	unsigned int i, j;

	for (i = 0; i < nr; i++) {
		word(cells[i].kept);
		word(cells[i].nr);
		for (j = 0; j < cells[i].nr; j++)
			word(cells[i].cached[j]);
	}
}

void media_parts(unsigned int nr, void (*part)(void *at, size_t bytes))
{
	part(cells, nr * sizeof(*cells));
	part(cached, nr * sizeof(*cached));
	part(&nr_cached, sizeof(nr_cached));
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

/* A mask has a bit for each eighth of a block, or for each sector. */
static bool has_arrived(unsigned int mask, unsigned int nr, unsigned int block)
{
	return mask >> (block > 8 ? nr * 8 / block : nr) & 1;
}

static void count_mask(unsigned int first, unsigned int mask)
{
	unsigned int i;

	for (i = first; i < first + 8; i++)
		if (i >= MEDIA_SECTORS || !cells[i].nr)
			return;
	masks[mask] = true;
}

/* Of all blocks that begin in the cache. */
static void count_masks(sim_u64 seed, unsigned int lead)
{
	unsigned int i;

	for (i = 0; i < nr_cached; i++)
		if (!((cached[i] + lead) % 8))
			count_mask(cached[i],
				   (seed + (cached[i] + lead) / 8) % 256);
}

unsigned int media_masks(void)
{
	unsigned int i, nr = 0;

	for (i = 0; i < 256; i++)
		nr += masks[i];
	return nr;
}

void media_cut(enum media_cut how, sim_u64 seed, unsigned int block,
	       unsigned int lead)
{
	if (how == CUT_MASK && block == 8)
		count_masks(seed, lead);
	while (nr_cached) {
		unsigned int i = cached[--nr_cached];
		struct cell *cell = &cells[i];
		unsigned int pick = cell->nr;
		unsigned int nr = (i + lead) / block, in = (i + lead) % block;
		unsigned int mask = (seed + nr) % 256;

		if (how == CUT_ALL)
			pick = 0;
		else if (how == CUT_SECTORS)
			pick = mix(seed + i) % (cell->nr + 1);
		else if ((how == CUT_BLOCKS && mix(seed + nr) & 1) ||
			 (how == CUT_MASK && !has_arrived(mask, in, block)))
			pick = 0;
		if (pick)
			cell->kept = cell->cached[pick - 1];
		cell->nr = 0;
		cell->listed = false;
	}
}
