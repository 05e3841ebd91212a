// SPDX-License-Identifier: GPL-2.0
/*
 * Random requests, several in flight, and power cuts at random moments, compared
 * with what a drive promises: an oracle that knows versions of sectors only.
 */
#include "../media.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define SECTORS_MAX 128u
#define FLIGHTS 5u
#define VERSIONS 400u	/* more than a drive has requests */
#define NO_DATA UINT32_MAX

/* A version of a sector; 0: zeroes. */
struct version {
	uint32_t content;
	uint64_t ended;		/* number of the request's end */
};

/* What is known of a sector: its versions since the last cut, oldest first. */
struct known {
	struct version versions[VERSIONS];
	unsigned int count;
	unsigned int durable;	/* index of the newest one that is durable */
	bool unreadable;
	bool unreadable_after;	/* if the power were cut now */
};

struct flight {
	bool used;
	struct in_flight f;
	struct request req;
	uint32_t content;
	uint32_t *data;
	uint64_t began;		/* requests ended before */
};

struct scene {
	struct media *media;
	struct block_map map;
	bool cache;
	unsigned int sectors;
	struct known known[SECTORS_MAX];
	uint64_t dirty[SECTORS_MAX];	/* of a block: its last volatile change */
	struct flight flights[FLIGHTS];
	uint64_t ended;
	uint32_t written;
};

static unsigned int block_of_sector(const struct scene *s, unsigned int sector)
{
	return (unsigned int)(media_byte(&s->map, sector * (uint64_t)SECTOR_SIZE) /
			      s->map.physical);
}

/* Check whether the request covers the block of a sector, or what is on the drive. */
static bool covers(const struct scene *s, const struct request *req,
		   unsigned int sector, bool with_edges)
{
	int64_t shift = (int64_t)media_byte(&s->map, 0);
	int64_t start = (int64_t)block_of_sector(s, sector) *
			s->map.physical - shift;
	int64_t end = start + s->map.physical;
	int64_t size = s->sectors * (int64_t)SECTOR_SIZE;

	if (with_edges && start < 0)
		start = 0;
	if (with_edges && end > size)
		end = size;
	return start >= (int64_t)req->offset &&
	       end <= (int64_t)(req->offset + req->count);
}

/* Check whether the request changes a sector; of trims, whole blocks only. */
static bool changes(const struct scene *s, const struct request *req,
		    unsigned int sector)
{
	uint64_t at = sector * (uint64_t)SECTOR_SIZE;

	if (req->op == OP_READ || req->op == OP_FLUSH || at < req->offset ||
	    at >= req->offset + req->count)
		return false;
	return req->op != OP_TRIM || covers(s, req, sector, false);
}

static uint32_t content_of(const struct flight *f)
{
	return f->req.op == OP_WRITE ? f->content : 0;
}

static uint32_t read_sector(struct scene *s, unsigned int sector)
{
	uint32_t data[SECTOR_SIZE / sizeof(uint32_t)];

	if (media_read(s->media, data, sector * (uint64_t)SECTOR_SIZE,
		       SECTOR_SIZE) < 0)
		return NO_DATA;
	CHECK(memcmp(data, data + 1, sizeof(data) - sizeof(*data)) == 0,
	      "sector %u is mixed", sector);
	return data[0];
}

static void begin(struct scene *s, struct flight *f)
{
	static const enum op ops[] = {
		OP_WRITE, OP_WRITE, OP_WRITE, OP_ZERO, OP_TRIM, OP_FLUSH,
		OP_FLUSH,
	};
	unsigned int block = s->map.physical / SECTOR_SIZE;

	f->used = true;
	f->began = s->ended;
	f->content = ++s->written;
	f->data = NULL;
	f->req = (struct request){ .op = ops[tap_random(7)] };
	if (f->req.op != OP_FLUSH) {
		unsigned int count = 1 + tap_random(tap_random(3) ? 2 * block :
								    s->sectors);

		count = count < s->sectors ? count : s->sectors;
		f->req.count = count * (uint64_t)SECTOR_SIZE;
		f->req.offset = tap_random(s->sectors - count + 1) *
				(uint64_t)SECTOR_SIZE;
		f->req.fua = tap_random(4) == 0;
	}
	if (f->req.op == OP_WRITE) {
		f->data = malloc(f->req.count);
		for (size_t i = 0; i < f->req.count / sizeof(uint32_t); i++)
			f->data[i] = f->content;
	}
	CHECK(media_begin(s->media, &f->f, &f->req, f->data) == BEGUN,
	      "no power");
}

/* A flush makes durable what had ended when it came. */
static void flushed(struct scene *s, const struct flight *f)
{
	for (unsigned int i = 0; i < s->sectors; i++) {
		struct known *k = &s->known[i];
		unsigned int was = k->durable;

		while (k->durable + 1 < k->count &&
		       k->versions[k->durable + 1].ended <= f->began)
			k->durable++;
		if (k->durable != was)
			k->unreadable_after = false;
	}
	for (unsigned int b = 0; b < SECTORS_MAX; b++) {
		if (s->dirty[b] <= f->began)
			s->dirty[b] = 0;
	}
}

/* A part of a block that was unreadable is durable only with the rest. */
static void make_block_durable(struct scene *s, unsigned int block)
{
	for (unsigned int i = 0; i < s->sectors; i++) {
		if (block_of_sector(s, i) != block)
			continue;
		s->known[i].durable = s->known[i].count - 1;
		s->known[i].unreadable_after = false;
	}
	s->dirty[block] = 0;
}

static void changed(struct scene *s, const struct flight *f)
{
	bool durable = f->req.fua || !s->cache;

	for (unsigned int i = 0; i < s->sectors; i++) {
		struct known *k = &s->known[i];

		if (!changes(s, &f->req, i))
			continue;
		k->versions[k->count++] = (struct version){
			content_of(f), s->ended,
		};
		if (covers(s, &f->req, i, true))
			k->unreadable = false;
		if (durable)
			k->durable = k->count - 1;
		else
			s->dirty[block_of_sector(s, i)] = s->ended;
	}
	for (unsigned int i = 0; durable && i < s->sectors; i++) {
		if (changes(s, &f->req, i) && (s->known[i].unreadable_after ||
					       covers(s, &f->req, i, true)))
			make_block_durable(s, block_of_sector(s, i));
	}
}

static void end(struct scene *s, struct flight *f)
{
	bool went, bad = false;
	int ret;

	for (unsigned int i = 0; i < s->sectors; i++)
		bad |= changes(s, &f->req, i) && s->known[i].unreadable &&
		       !covers(s, &f->req, i, true);
	ret = media_end(s->media, &f->f, &went);
	CHECK((ret < 0) == bad, "%d, and a block is %s", ret,
	      bad ? "unreadable" : "readable");
	s->ended++;
	if (f->req.op == OP_FLUSH)
		flushed(s, f);
	else if (ret == 0)
		changed(s, f);
	free(f->data);
	f->used = false;
}

/* Check a sector after a cut; @flushing: a flush was in flight. */
static void check_sector(const struct scene *s, unsigned int sector,
			 uint32_t found, bool flushing, bool spoilt)
{
	const struct known *k = &s->known[sector];
	bool lawful = found == NO_DATA && (k->unreadable_after || spoilt);

	for (unsigned int i = k->durable; i < k->count; i++)
		lawful |= (i == k->durable || flushing) &&
			  k->versions[i].content == found;
	for (unsigned int i = 0; i < FLIGHTS; i++)
		lawful |= s->flights[i].used &&
			  changes(s, &s->flights[i].req, sector) &&
			  content_of(&s->flights[i]) == found;
	CHECK(lawful, "sector %u of %u has %u, durable is %u", sector,
	      s->sectors, found, k->versions[k->durable].content);
}

static void cut(struct scene *s)
{
	struct power_cut how = {
		.tear = (enum tear)tap_random(3), .seed = tap_random(1000),
	};
	bool flushing = false, touched[SECTORS_MAX] = { false }, went;
	uint64_t dirty = 0;

	for (unsigned int b = 0; b < SECTORS_MAX; b++)
		dirty += s->dirty[b] > 0;
	CHECK(media_state(s->media).volatile_blocks == dirty,
	      "%ju of %ju blocks are volatile",
	      (uintmax_t)media_state(s->media).volatile_blocks,
	      (uintmax_t)dirty);
	for (unsigned int i = 0; i < FLIGHTS; i++) {
		const struct flight *f = &s->flights[i];

		flushing |= f->used && f->req.op == OP_FLUSH;
		for (unsigned int j = 0; f->used && j < s->sectors; j++)
			touched[block_of_sector(s, j)] |= changes(s, &f->req, j);
	}
	CHECK(media_cut(s->media, &how), "no power");
	media_power_on(s->media);
	for (unsigned int i = 0; i < s->sectors; i++) {
		unsigned int block = block_of_sector(s, i);
		uint32_t found = read_sector(s, i);

		check_sector(s, i, found, flushing, how.tear == TEAR_BLOCK &&
			     (touched[block] || (flushing && s->dirty[block])));
		s->known[i] = (struct known){
			.versions = { { found, s->ended } }, .count = 1,
			.unreadable = found == NO_DATA,
			.unreadable_after = found == NO_DATA,
		};
	}
	memset(s->dirty, 0, sizeof(s->dirty));
	for (unsigned int i = 0; i < FLIGHTS; i++) {
		struct flight *f = &s->flights[i];

		if (!f->used)
			continue;
		CHECK(media_end(s->media, &f->f, &went) < 0 && errno == EIO,
		      "answered without power");
		free(f->data);
		f->used = false;
	}
}

static void play(struct scene *s)
{
	unsigned int block = 1u << tap_random(4);
	struct request all = { .op = OP_WRITE, .fua = true };
	struct in_flight f;
	void *zeroes;
	bool went;

	*s = (struct scene){
		.map.physical = block * SECTOR_SIZE,
		.map.alignment = tap_random(block) * SECTOR_SIZE,
		.sectors = 12 * block + tap_random(block),
		.cache = tap_random(4) > 0,
		.ended = 1,
	};
	all.count = s->sectors * (uint64_t)SECTOR_SIZE;
	zeroes = calloc(1, all.count);
	s->media = media_new(all.count, &s->map, s->cache, NULL);
	/* Zeroes over what was never written would be no change. */
	media_begin(s->media, &f, &all, zeroes);
	media_end(s->media, &f, &went);
	free(zeroes);
	for (unsigned int i = 0; i < s->sectors; i++)
		s->known[i].count = 1;
	for (unsigned int step = 0; step < 300; step++) {
		struct flight *flight = &s->flights[tap_random(FLIGHTS)];
		unsigned int sector = tap_random(s->sectors);
		const struct known *k = &s->known[sector];

		if (tap_random(40) == 0)
			cut(s);
		else if (flight->used)
			end(s, flight);
		else
			begin(s, flight);
		CHECK(read_sector(s, sector) ==
		      (k->unreadable ? NO_DATA
				     : k->versions[k->count - 1].content),
		      "sector %u is not as last written", sector);
	}
	cut(s);
	media_free(s->media);
}

static void test_cuts(void)
{
	struct scene *s = malloc(sizeof(*s));

	for (unsigned int i = 0; i < 300; i++)
		play(s);
	free(s);
}

const struct tap_test cuts_tests[] = {
	{ "power cuts with requests in flight leave what a drive promises",
	  test_cuts },
	{ 0 },
};
