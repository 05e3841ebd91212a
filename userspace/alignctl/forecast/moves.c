// SPDX-License-Identifier: GPL-2.0
/* Count at how many moves of the start each write begins or ceases to be aligned. */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "forecast/moves.h"

/**
 * struct moves - the ends of all writes
 * @least: sectors of the smallest blocks
 * @largest: sectors of the largest blocks; smaller ones are parts of these
 * @lead: sectors by which a largest block starts before the device
 * @writes: number of writes
 * @written: total length of the writes, sectors
 * @start: number of writes by the sector of a largest block at which they start
 * @end: number of writes by the sector of a largest block before which they end
 * @inside: number of writes that lie inside a block and reach neither of its ends,
 *	by moves of the start: those that begin to lie so at a move, less those that
 *	cease to; for blocks of n sectors from [n] to [2 * n - 1]
 */
struct moves {
	uint32_t least;
	uint32_t largest;
	uint32_t lead;
	uint64_t writes;
	uint64_t written;
	uint64_t *start;
	uint64_t *end;
	uint64_t *inside;
};

static uint64_t *new_counts(size_t nr)
{
	return memory_or_exit(calloc(nr, sizeof(uint64_t)));
}

struct moves *moves_new(const struct align_geometry *g, uint32_t least,
			uint32_t largest)
{
	struct moves *m = memory_or_exit(calloc(1, sizeof(*m)));

	m->least = least;
	m->largest = largest;
	m->lead = -(g->offset / ALIGN_SECTOR_SIZE) % largest;
	m->start = new_counts(largest);
	m->end = new_counts(largest);
	m->inside = new_counts(2 * (size_t)largest);
	return m;
}

void moves_free(struct moves *m)
{
	if (!m)
		return;
	free(m->start);
	free(m->end);
	free(m->inside);
	free(m);
}

/* Return the least power of two that is not less than @n, which is above 1. */
static uint64_t power_from(uint64_t n)
{
	return (uint64_t)2 << align_log2(n - 1);
}

/*
 * Note at which moves a write begins and ceases to lie inside a block of @sectors
 * without reaching its ends; @nr of them. @at: its first sector in the block without
 * a move.
 */
static void note_inside(uint64_t *inside, uint32_t sectors, uint32_t at,
			uint32_t length, uint64_t nr)
{
	/* from the move to sector 1 on, up to that to the last one */
	inside[(sectors + 1 - at) % sectors] += nr;
	inside[(2 * sectors - at - length) % sectors] -= nr;
	/* and at no move, if the latter comes first */
	if (at > 1 && at + length <= sectors)
		inside[0] += nr;
}

/* As moves_add(), for a @nr that callers know. */
static inline void add_writes(struct moves *m, uint64_t first, uint64_t length,
			      uint64_t nr)
{
	uint64_t sectors = power_from(length + 2);
	uint32_t at = (uint32_t)((first + m->lead) & (m->largest - 1));

	m->writes += nr;
	m->written += nr * length;
	m->start[at] += nr;
	m->end[(first + length + m->lead) & (m->largest - 1)] += nr;
	/* in smaller blocks there is no room beside the write */
	if (sectors < m->least)
		sectors = m->least;
	for (; sectors <= m->largest; sectors *= 2)
		note_inside(m->inside + sectors, (uint32_t)sectors,
			    at & (uint32_t)(sectors - 1), (uint32_t)length, nr);
}

void moves_note(struct moves *m, uint64_t first, uint64_t end)
{
	add_writes(m, first, end - first, 1);
}

void moves_add(struct moves *m, uint64_t first, uint64_t length, uint64_t nr)
{
	add_writes(m, first, length, nr);
}

uint64_t moves_written(const struct moves *m)
{
	return m->written;
}

/* Add up the counts of largest blocks for blocks of @sectors. */
static uint64_t *fold_counts(const struct moves *m, const uint64_t *counts,
			     uint32_t sectors)
{
	uint64_t *folded = new_counts(sectors);
	const uint64_t *block;
	uint32_t i;

	for (block = counts; block < counts + m->largest; block += sectors)
		for (i = 0; i < sectors; i++)
			folded[i] += block[i];
	return folded;
}

void moves_count(const struct moves *m, uint32_t sectors, uint64_t *touches,
		 uint64_t *gaps)
{
	uint64_t *start = fold_counts(m, m->start, sectors);
	uint64_t *end = fold_counts(m, m->end, sectors);
	uint64_t inside = 0, gap = 0;
	uint32_t moved, i;

	for (i = 0; i < sectors; i++)
		gap += start[i] * i + end[i] * ((sectors - i) % sectors);
	for (moved = 0; moved < sectors; moved++) {
		/* what the move brings to the start of a block */
		uint32_t first = (sectors - moved) % sectors;

		/* all starts are a sector further, but for these, and all ends nearer */
		if (moved)
			gap += sectors * (end[(first + 1) % sectors] -
					  start[first]);
		inside += m->inside[sectors + moved];
		touches[moved] = 2 * m->writes - start[first] - end[first] -
				 inside;
		if (gaps)
			gaps[moved] = gap;
	}
	free(start);
	free(end);
}
