// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "sector_states.h"
#include "sector.h"

#define NEIGHBOURHOOD	8	/* sectors either side whose history is shown */
#define HISTORY_LINES	24

static const char *const op_name[] = {
	[OP_READ] = "read", [OP_WRITE] = "write", [OP_ZEROES] = "zeroes",
	[OP_DISCARD] = "discard",
};

uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ULL + t.tv_nsec / 1000;
}

bool model_init(struct model *m, uint64_t sectors, uint64_t address,
		uint64_t seed)
{
	*m = (struct model) { .sectors = sectors, .address = address,
			      .seed = seed, .reports = 16 };
	pthread_mutex_init(&m->lock, NULL);
	m->state = calloc(sectors, sizeof(*m->state));
	m->record = calloc(MODEL_RECORDS, sizeof(*m->record));
	return m->state && m->record;
}

void model_free(struct model *m)
{
	free(m->state);
	free(m->record);
	pthread_mutex_destroy(&m->lock);
}

uint64_t model_issue(struct model *m, enum op_kind kind, int thread,
		     uint64_t first, uint64_t count, uint64_t unit,
		     uint64_t *versions, uint64_t *record)
{
	uint64_t i;

	pthread_mutex_lock(&m->lock);
	for (i = 0; i < count && !m->state[first + i].busy; i++)
		;
	count = i - i % unit;
	for (i = 0; i < count; i++) {
		struct sector_state *s = &m->state[first + i];

		s->busy = true;
		s->issued++;
		s->zeroes = s->zeroes << 1 | (kind != OP_WRITE);
		versions[i] = s->issued;
	}
	if (count) {
		*record = m->records++;
		m->record[*record % MODEL_RECORDS] = (struct op_record) {
			.first = first, .count = count, .issued_us = now_us(),
			.thread = thread, .kind = kind,
		};
	}
	pthread_mutex_unlock(&m->lock);
	return count;
}

void model_end(struct model *m, enum op_kind kind, uint64_t first,
	       uint64_t count, uint64_t good, int error, uint64_t record)
{
	uint64_t i;

	pthread_mutex_lock(&m->lock);
	for (i = 0; i < count; i++) {
		struct sector_state *s = &m->state[first + i];

		s->busy = false;
		if (i < good && kind != OP_DISCARD)
			s->acked = s->issued;
	}
	/* the ring may have wrapped while a slow request was in flight */
	if (m->records - record <= MODEL_RECORDS) {
		struct op_record *r = &m->record[record % MODEL_RECORDS];

		r->ended_us = now_us();
		r->error = error;
	}
	pthread_mutex_unlock(&m->lock);
}

void model_read_begin(struct model *m, uint64_t first, uint64_t count,
		      uint64_t *oldest)
{
	uint64_t i;

	pthread_mutex_lock(&m->lock);
	for (i = 0; i < count; i++)
		oldest[i] = m->state[first + i].acked;
	pthread_mutex_unlock(&m->lock);
}

/* Return whether a version from @oldest to the newest issued one is zeroes. */
static bool zeroes_lawful(const struct sector_state *s, uint64_t oldest)
{
	uint64_t versions = s->issued - oldest + 1;
	uint64_t mask = versions < 64 ? (1ULL << versions) - 1 : ~0ULL;

	/* versions too old for the mask are unknown, and pass */
	return versions > 64 || (s->zeroes & mask);
}

static const char *explain(const struct sector_found *f, uint64_t address,
			   const struct sector_state *s, uint64_t oldest)
{
	switch (f->kind) {
	case SECTOR_ZEROES:
		return "zeroes, which were not written";
	case SECTOR_OTHER_SEED:
		return "whole, but of another run";
	case SECTOR_GARBAGE:
		return f->magic ? "torn: checksum wrong" : "garbage";
	case SECTOR_DATA:
		break;
	}
	if (f->address != address)
		return "content of another sector";
	if (f->version < oldest)
		return "stale: an acknowledged write is lost";
	if (f->version > s->issued)
		return "newer than any write issued";
	return "whole and lawful";
}

static void print_history(const struct model *m, uint64_t sector)
{
	uint64_t oldest = m->records > MODEL_RECORDS ?
			  m->records - MODEL_RECORDS : 0;
	uint64_t last = m->records;
	int lines = HISTORY_LINES;

	fprintf(stderr, "  writes nearby, newest first (region sectors, us):\n");
	while (last > oldest && lines) {
		const struct op_record *r =
			&m->record[--last % MODEL_RECORDS];

		if (r->first + r->count + NEIGHBOURHOOD <= sector ||
		    r->first > sector + NEIGHBOURHOOD)
			continue;
		lines--;
		fprintf(stderr, "  %s thread %-2d %-7s %6" PRIu64 " +%-4" PRIu64
			" issued %" PRIu64,
			r->first <= sector && sector < r->first + r->count ?
			"*" : " ", r->thread, op_name[r->kind], r->first,
			r->count, r->issued_us);
		if (r->ended_us)
			fprintf(stderr, " ended %" PRIu64 "%s%s\n", r->ended_us,
				r->error ? " error: " : "",
				r->error ? strerror(r->error) : "");
		else
			fprintf(stderr, " in flight\n");
	}
}

static void report(struct model *m, uint64_t sector, uint64_t oldest,
		   const struct sector_found *f, const char *where)
{
	const struct sector_state *s = &m->state[sector];
	uint64_t address = m->address + sector;

	if (++m->mismatches > m->reports)
		return;
	fprintf(stderr, "\nMISMATCH in %s at %" PRIu64 " us: sector %" PRIu64
		" (region sector %" PRIu64 "): %s\n", where, now_us(), address,
		sector, explain(f, address, s, oldest));
	fprintf(stderr, "  lawful: version %" PRIu64 " to %" PRIu64 "%s\n",
		oldest, s->issued,
		zeroes_lawful(s, oldest) ? " or zeroes" : "");
	if (f->kind != SECTOR_ZEROES)
		fprintf(stderr, "  found: %saddress %" PRIu64 " version %" PRIu64
			" thread %" PRIu64 "\n",
			f->kind == SECTOR_GARBAGE ? "not whole, its words say " :
			"", f->address, f->version, f->writer);
	print_history(m, sector);
}

uint64_t model_read_end(struct model *m, uint64_t first, uint64_t count,
			const uint64_t *oldest, const void *const *data,
			const char *where)
{
	struct sector_state *now;
	uint64_t bad = 0, i;

	now = malloc(count * sizeof(*now));
	if (!now) {
		fprintf(stderr, "no memory to compare %" PRIu64 " sectors\n",
			count);
		exit(3);
	}
	/* copy, so that the comparison runs without the lock */
	pthread_mutex_lock(&m->lock);
	memcpy(now, m->state + first, count * sizeof(*now));
	pthread_mutex_unlock(&m->lock);

	for (i = 0; i < count; i++) {
		uint64_t address = m->address + first + i;
		bool zeroes = zeroes_lawful(&now[i], oldest[i]);
		struct sector_found f;

		/* not written yet: the content is unknown */
		if (!oldest[i])
			continue;
		sector_look(data[i], m->seed, &f);
		if (f.kind == SECTOR_ZEROES && zeroes)
			continue;
		if (f.kind == SECTOR_DATA && f.address == address &&
		    f.version >= oldest[i] && f.version <= now[i].issued)
			continue;
		if (f.kind == SECTOR_GARBAGE && m->torn_reads &&
		    sector_is_mix(data[i], m->seed, address, oldest[i],
				  now[i].issued, zeroes))
			continue;
		bad++;
		pthread_mutex_lock(&m->lock);
		report(m, first + i, oldest[i], &f, where);
		pthread_mutex_unlock(&m->lock);
	}
	free(now);
	return bad;
}
