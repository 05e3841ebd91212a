// SPDX-License-Identifier: GPL-2.0
/* Compute the times of reads, programming and the write buffer, die by die. */
#include "ssd.h"

#include <stdlib.h>

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

bool ssd_init(struct ssd *s, const struct profile *profile, uint32_t unit,
	      bool cache, struct media_counters *counters)
{
	*s = (struct ssd){
		.profile = profile,
		.unit = unit,
		.piece = unit < profile->page ? unit : profile->page,
		.cache = cache,
		.counters = counters,
		.nr_slots = (unsigned int)(profile->cache_bytes / profile->page),
	};
	s->reads_until = calloc(profile->dies, sizeof(*s->reads_until));
	s->programs_until = calloc(profile->dies, sizeof(*s->programs_until));
	s->slots = calloc(s->nr_slots, sizeof(*s->slots));
	if (s->reads_until && s->programs_until && s->slots)
		return true;
	ssd_destroy(s);
	return false;
}

void ssd_destroy(struct ssd *s)
{
	free(s->reads_until);
	free(s->programs_until);
	free(s->slots);
}

int64_t ssd_command(struct ssd *s, int64_t now)
{
	s->bus_free = later(now, s->bus_free) + s->profile->command_ns;
	return s->bus_free + s->profile->latency_ns;
}

/* Take @bytes across the interface, from @now on. Return when they are over. */
static int64_t transfer(struct ssd *s, int64_t now, uint64_t bytes)
{
	int64_t time = (int64_t)((double)bytes / s->profile->bus_rate * 1e9);

	/* Data of several commands share the interface. */
	s->bus_free += time;
	return later(now + time, s->bus_free);
}

/*
 * Return the die of a piece: pieces written at random lie anywhere, but the
 * pieces of a unit, which are written together, lie on dies in turn.
 */
static unsigned int die_of(const struct ssd *s, uint64_t piece)
{
	uint64_t pieces = s->unit / s->piece;
	uint64_t x = piece / pieces + 1;

	x *= UINT64_C(0x9e3779b97f4a7c15);
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	return (unsigned int)(((x >> 32) + piece % pieces) % s->profile->dies);
}

/* Read the page with a piece from @now on.  Return when it is there. */
static int64_t read_piece(struct ssd *s, int64_t now, uint64_t piece)
{
	unsigned int time = s->profile->page_read_ns;
	unsigned int die = die_of(s, piece);
	int64_t begin = later(now, s->reads_until[die]);

	/* The die's programming goes on later. */
	if (s->programs_until[die] > begin)
		s->programs_until[die] += time;
	s->reads_until[die] = begin + time;
	s->counters->busy_ns += time;
	return begin + time;
}

/* Return when the units of a request are looked up. */
static int64_t look_up(const struct ssd *s, int64_t now, uint64_t start,
		       uint64_t end)
{
	uint64_t further = (end - 1) / s->unit - start / s->unit;

	return now + (int64_t)(further * s->profile->unit_ns);
}

/*
 * Read the units that a write covers in part, but for the pieces that it
 * covers, from @now on. Return when all are there.
 */
static int64_t read_rest(struct ssd *s, int64_t now, uint64_t start,
			 uint64_t end)
{
	uint64_t first = block_floor(start, s->unit) / s->piece;
	uint64_t after = block_ceil(end, s->unit) / s->piece;
	int64_t done = now;

	for (uint64_t piece = first; piece < after; piece++) {
		if (piece * s->piece < start || (piece + 1) * s->piece > end)
			done = later(done, read_piece(s, now, piece));
	}
	return done;
}

/*
 * Put a page into the buffer and program it, from @now on.  Return when it is
 * in the buffer; set *@programmed.
 */
static int64_t program_page(struct ssd *s, int64_t now, int64_t *programmed)
{
	unsigned int die = s->next_die;
	int64_t *slot = &s->slots[s->next_slot];
	int64_t taken = later(now, *slot);

	s->programs_until[die] = later(taken, s->programs_until[die]) +
				 s->profile->program_ns;
	*slot = s->programs_until[die];
	*programmed = *slot;
	s->next_die = (die + 1) % s->profile->dies;
	s->next_slot = (s->next_slot + 1) % s->nr_slots;
	s->counters->busy_ns += s->profile->program_ns;
	return taken;
}

/*
 * Buffer @bytes from @now on, and program the pages that are full; with @all,
 * the last one, too. Return when all are in the buffer; raise *@programmed.
 */
static int64_t buffer_bytes(struct ssd *s, int64_t now, uint64_t bytes,
			    bool all, int64_t *programmed)
{
	int64_t taken = now, until;

	s->open_bytes += bytes;
	while (s->open_bytes >= s->profile->page || (all && s->open_bytes)) {
		taken = later(taken, program_page(s, now, &until));
		*programmed = later(*programmed, until);
		s->open_bytes -= s->open_bytes < s->profile->page
			       ? s->open_bytes : s->profile->page;
	}
	return taken;
}

int64_t ssd_read(struct ssd *s, int64_t now, uint64_t start, uint64_t end)
{
	int64_t there;

	now = look_up(s, ssd_command(s, now), start, end);
	there = now;
	for (uint64_t piece = start / s->piece; piece <= (end - 1) / s->piece;
	     piece++)
		there = later(there, read_piece(s, now, piece));
	return transfer(s, there, end - start);
}

int64_t ssd_write(struct ssd *s, int64_t now, uint64_t start, uint64_t end,
		  uint64_t bytes, unsigned int touches, bool fua)
{
	uint64_t first = block_floor(start, s->unit);
	uint64_t after = block_ceil(end, s->unit);
	int64_t there, programmed;

	there = transfer(s, look_up(s, ssd_command(s, now), start, end), bytes);
	if (touches)
		there = read_rest(s, there, start, end);
	s->counters->rmws += touches;
	s->counters->blocks_written += (after - first) / s->unit;
	programmed = there;
	there = buffer_bytes(s, there, after - first, fua || !s->cache,
			     &programmed);
	return fua || !s->cache ? programmed : there;
}

int64_t ssd_flush(struct ssd *s, int64_t now)
{
	int64_t done = ssd_command(s, now);

	if (!s->cache)
		return done;
	buffer_bytes(s, done, 0, true, &done);
	for (unsigned int i = 0; i < s->nr_slots; i++)
		done = later(done, s->slots[i]);
	return done;
}

void ssd_lose_power(struct ssd *s, int64_t now)
{
	for (unsigned int i = 0; i < s->profile->dies; i++) {
		s->reads_until[i] = now;
		s->programs_until[i] = now;
	}
	for (unsigned int i = 0; i < s->nr_slots; i++)
		s->slots[i] = now;
	s->open_bytes = 0;
	s->bus_free = now;
}
