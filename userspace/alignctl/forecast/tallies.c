// SPDX-License-Identifier: GPL-2.0
/* Sort tallies by disk and time, refuse parts that overlap, and add them up. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit_codes.h"
#include "base/figure.h"
#include "base/message.h"
#include "forecast/tallies.h"
#include "forecast/what_if.h"

#define FIRST_ROOM	16U
/* So many writes' extra bytes, of blocks of at most 1 MiB, fit into 64 bits. */
#define MOST_WRITES	(1ULL << 42)
void tallies_begin(struct tallies *tallies, const struct align_geometry *g,
		 uint64_t shift, bool touches_only, uint64_t most_bytes)
{
	uint32_t sectors = align_block_sectors(g);

	*tallies = (struct tallies) {
		.question = {
			.geometry = *g, .shift = shift,
			.touches_only = touches_only,
			.sectors = sectors > WHAT_IF_LARGEST ? sectors :
							       WHAT_IF_LARGEST,
		},
		.most_bytes = most_bytes,
	};
}

void tallies_free(struct tallies *tallies)
{
	uint32_t i;

	for (i = 0; i < tallies->nr; i++)
		tally_free(&tallies->tally[i]);
	free(tallies->tally);
}

/* Make room for a further tally, without one. */
static void add_room(struct tallies *tallies)
{
	if (tallies->nr < tallies->room)
		return;
	tallies->room = tallies->room ? 2 * tallies->room : FIRST_ROOM;
	tallies->tally = memory_or_exit(reallocarray(tallies->tally,
						     tallies->room,
						     sizeof(*tallies->tally)));
}

int tallies_check_memory(const struct tallies *tallies, const char *name,
			 uint32_t nr, uint64_t bytes)
{
	if (bytes <= tallies->most_bytes)
		return ALIGNCTL_FINE;
	message_error("%s: %" PRIu32 " disk%s need%s more than %s of memory; give more with --memory, or take fewer disks at a time%s",
		      name, nr, PLURAL_OF(nr), nr == 1 ? "s" : "",
		      figure(FIGURE_BYTES, (double)tallies->most_bytes).text,
		      tallies->question.touches_only ? "" :
		      ", or leave the modes out with --touches-only");
	return ALIGNCTL_USAGE;
}

int tallies_take(struct tallies *tallies, struct tally *tally)
{
	add_room(tallies);
	tallies->tally[tallies->nr++] = *tally;
	tallies->bytes += sizeof(*tally) + tally_bytes(tally);
	return tallies_check_memory(tallies, tally->disk, tallies->nr,
				    tallies->bytes);
}

static int compare_tallies(const void *a, const void *b)
{
	return tally_compare(a, b);
}

uint32_t tallies_sort(struct tallies *tallies)
{
	uint32_t nr = 0, dropped, i;

	if (tallies->nr)
		qsort(tallies->tally, tallies->nr, sizeof(*tallies->tally), compare_tallies);
	for (i = 0; i < tallies->nr; i++) {
		if (nr && tally_same(&tallies->tally[nr - 1], &tallies->tally[i]))
			tally_free(&tallies->tally[i]);
		else
			tallies->tally[nr++] = tallies->tally[i];
	}
	dropped = tallies->nr - nr;
	tallies->nr = nr;
	return dropped;
}

/* Refuse two parts of a disk's requests. Return: USAGE. */
static int refuse_tally(const struct tally *tally, const char *reason)
{
	CLEANUP_FREE char *disk = message_visible(tally->disk);

	message_error("--merge: disk %s: %s", disk, reason);
	return ALIGNCTL_USAGE;
}

/* Check two parts of a disk's requests. Return: enum alignctl_exit; reported. */
static int check_parts(const struct tallies *tallies, const struct tally *one,
		       const struct tally *other, uint64_t last_ns)
{
	if (!tallies->question.touches_only)
		return refuse_tally(other, "is in two parts, and what the modes leave depends on the order of all its requests; make one part of it, or all parts with --touches-only");
	if (!one->timed || !other->timed)
		return refuse_tally(other, "is in two parts without times, so that nothing tells whether requests are in both; make one part of it");
	if (other->first_ns < last_ns ||
	    (one->first_ns == other->first_ns && one->last_ns == other->last_ns))
		return refuse_tally(other, "is in two parts that overlap in time, so that requests may be in both; give parts of different times");
	return ALIGNCTL_FINE;
}

int tallies_check(const struct tallies *tallies)
{
	uint64_t last_ns = 0, writes = 0, bytes = 0;
	int result = ALIGNCTL_FINE;
	bool fits = true;
	uint32_t i;

	for (i = 0; !result && i < tallies->nr; i++) {
		const struct tally *tally = &tallies->tally[i];
		bool first = !i || strcmp(tally->disk, (tally - 1)->disk);

		if (!first)
			result = check_parts(tallies, tally - 1, tally,
					     last_ns);
		if (first || tally->last_ns > last_ns)
			last_ns = tally->last_ns;
		fits = fits && !tally->overflow &&
		       !__builtin_add_overflow(writes, tally_writes(tally),
					       &writes) &&
		       !__builtin_add_overflow(bytes, tally_written(tally),
					       &bytes);
	}
	if (result || (fits && writes <= MOST_WRITES))
		return result;
	message_error("the sums of these requests are above 64 bits, or of more than %llu writes; take fewer at a time",
		      MOST_WRITES);
	return ALIGNCTL_USAGE;
}

int tallies_add_up(struct tallies *tallies)
{
	uint32_t nr = 0, i;
	bool fits = true;

	for (i = 0; i < tallies->nr; i++) {
		struct tally *tally = &tallies->tally[i];

		if (!nr || strcmp(tallies->tally[nr - 1].disk, tally->disk)) {
			tallies->tally[nr++] = *tally;
			continue;
		}
		if (fits && !tally_add(&tallies->tally[nr - 1], tally)) {
			refuse_tally(tally, "has sums above 64 bits");
			fits = false;
		}
		tally_free(tally);
	}
	tallies->nr = nr;
	return fits ? ALIGNCTL_FINE : ALIGNCTL_USAGE;
}
