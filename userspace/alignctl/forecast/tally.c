// SPDX-License-Identifier: GPL-2.0
/*
 * A hash table of the kinds of writes of one disk, with sums that are checked for
 * overflow.
 */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/mix.h"
#include "forecast/tally.h"
#include "geometry.h"

#define FIRST_ROOM	8U

void tally_begin(struct tally *tally, const char *disk, bool timed)
{
	*tally = (struct tally) {
		.disk = memory_or_exit(strdup(disk)), .timed = timed,
	};
}

void tally_free(struct tally *tally)
{
	free(tally->disk);
	free(tally->kind);
}

/* Return the slot of a kind, or the free one where it belongs. */
static struct write_kind *slot_of(const struct tally *tally, uint32_t start,
				  uint32_t length)
{
	const uint32_t mask = tally->room - 1;
	uint32_t i = (uint32_t)mix64((uint64_t)start << 32 | length) & mask;

	while (tally->kind[i].nr && (tally->kind[i].start != start ||
				     tally->kind[i].length != length))
		i = (i + 1) & mask;
	return &tally->kind[i];
}

/* Double the room for kinds. */
static void grow_tally(struct tally *tally)
{
	struct write_kind *old = tally->kind;
	uint32_t nr = tally->room, i;

	tally->room = nr ? 2 * nr : FIRST_ROOM;
	tally->kind = memory_or_exit(calloc(tally->room, sizeof(*old)));
	for (i = 0; i < nr; i++)
		if (old[i].nr)
			*slot_of(tally, old[i].start, old[i].length) = old[i];
	free(old);
}

/* Return the entry of a kind, maybe a new one without a number. */
static struct write_kind *entry_of(struct tally *tally, uint32_t start,
				   uint32_t length)
{
	struct write_kind *kind = tally->room ?
				  slot_of(tally, start, length) : NULL;

	if (kind && kind->nr)
		return kind;
	/* at least a quarter stays free, for short searches */
	if (!kind || 4 * (tally->nr_kinds + 1) > 3 * tally->room) {
		grow_tally(tally);
		kind = slot_of(tally, start, length);
	}
	tally->nr_kinds++;
	kind->start = start;
	kind->length = length;
	return kind;
}

void tally_add_kind(struct tally *tally, uint32_t start, uint32_t length,
		    uint64_t nr)
{
	if (nr)
		entry_of(tally, start, length)->nr += nr;
}

static void digest_word(struct tally *tally, uint64_t word)
{
	tally->digest[0] = mix64(tally->digest[0] ^ word);
	tally->digest[1] = mix64(tally->digest[1] + ~word);
}

/* Reduce a length, as struct write_kind says, on blocks of @sectors. */
static uint32_t reduce_length(uint64_t length, uint32_t sectors)
{
	return (uint32_t)(length < sectors ? length :
			  sectors + length % sectors);
}

void tally_note(struct tally *tally, const struct trace_request *request,
		uint64_t time_ns, uint32_t start, uint32_t sectors)
{
	const uint64_t kind = (uint64_t)request->op |
			      (uint64_t)request->preflush << 8 |
			      (uint64_t)request->fua << 9;

	if (!tally->nr++)
		tally->first_ns = time_ns;
	tally->last_ns = time_ns;
	digest_word(tally, time_ns);
	digest_word(tally, request->offset);
	digest_word(tally, request->bytes);
	digest_word(tally, kind);
	tally->requests[request->op]++;
	if (__builtin_add_overflow(tally->bytes[request->op], request->bytes,
				   &tally->bytes[request->op]))
		tally->overflow = true;
	if (request->op == TRACE_WRITE || request->op == TRACE_WRITE_ZEROES)
		tally_add_kind(tally, start,
			       reduce_length(request->bytes >> ALIGN_SECTOR_SHIFT,
					     sectors), 1);
}

static int compare_kinds(const void *a, const void *b)
{
	const struct write_kind *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	return 0;
}

struct write_kind *tally_kinds(const struct tally *tally)
{
	struct write_kind *kind =
		memory_or_exit(calloc((size_t)tally->nr_kinds + 1,
				      sizeof(*kind)));
	uint32_t nr = 0, i;

	for (i = 0; i < tally->room; i++)
		if (tally->kind[i].nr)
			kind[nr++] = tally->kind[i];
	qsort(kind, nr, sizeof(*kind), compare_kinds);
	return kind;
}

bool tally_same(const struct tally *a, const struct tally *b)
{
	return !memcmp(a->digest, b->digest, sizeof(a->digest)) &&
	       !strcmp(a->disk, b->disk) && a->nr == b->nr &&
	       a->first_ns == b->first_ns && a->last_ns == b->last_ns &&
	       !memcmp(a->requests, b->requests, sizeof(a->requests)) &&
	       !memcmp(a->bytes, b->bytes, sizeof(a->bytes)) &&
	       a->pad_left == b->pad_left &&
	       a->coalesce_left == b->coalesce_left;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

int tally_compare(const struct tally *a, const struct tally *b)
{
	int order = strcmp(a->disk, b->disk);
	unsigned int i;

	if (!order)
		order = compare_numbers(a->first_ns, b->first_ns);
	if (!order)
		order = compare_numbers(a->last_ns, b->last_ns);
	for (i = 0; !order && i < TALLY_DIGEST_WORDS; i++)
		order = compare_numbers(a->digest[i], b->digest[i]);
	return order;
}

/* Add to a number. Return: false if the sum is above 64 bits. */
static bool add_number(uint64_t *sum, uint64_t number)
{
	return !__builtin_add_overflow(*sum, number, sum);
}

/* Add a kind's number, as tally_add_kind(). Return: as tally_add(). */
static bool add_kind(struct tally *sum, const struct write_kind *kind)
{
	return !kind->nr ||
	       add_number(&entry_of(sum, kind->start, kind->length)->nr, kind->nr);
}

bool tally_add(struct tally *sum, const struct tally *other)
{
	bool fits = add_number(&sum->nr, other->nr);
	uint32_t i;

	for (i = 0; i < TRACE_NR_OPS; i++)
		fits = fits && add_number(&sum->requests[i], other->requests[i]) &&
		       add_number(&sum->bytes[i], other->bytes[i]);
	for (i = 0; fits && i < other->room; i++)
		fits = add_kind(sum, &other->kind[i]);
	if (other->first_ns < sum->first_ns)
		sum->first_ns = other->first_ns;
	if (other->last_ns > sum->last_ns)
		sum->last_ns = other->last_ns;
	memset(sum->digest, 0, sizeof(sum->digest));
	sum->modes_known = false;
	return fits;
}

size_t tally_bytes(const struct tally *tally)
{
	return strlen(tally->disk) + 1 + tally->room * sizeof(*tally->kind);
}
