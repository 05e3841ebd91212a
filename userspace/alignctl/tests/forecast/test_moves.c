// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stddef.h>

#include "forecast/moves.h"
#include "tests/tap.h"
#include "workload/permutation.h"

#define NR_WRITES	400U
#define PLACES		(1U << 20)
#define MOST		2048U	/* sectors of the largest blocks that are tried */

/* Return the first sector of a write, which never lies in the first block. */
static uint64_t first_of(uint32_t i)
{
	return MOST + permutation_number(PLACES, 1, i);
}

/* Return the length of a write, sectors: short ones, and some above any block. */
static uint64_t length_of(uint32_t i)
{
	return i % 9 ? 1 + i % 70 : 1 + i * 11;
}

/* Move the start of @sectors blocks of @g on by some sectors. */
static struct align_geometry moved_on(const struct align_geometry *g,
				      uint32_t sectors, uint32_t moved)
{
	uint32_t bytes = sectors * ALIGN_SECTOR_SIZE;
	struct align_geometry other;

	align_geometry_init(&other, bytes, ALIGN_SECTOR_SIZE,
			    align_shifted_offset(g->offset, moved, bytes), 0,
			    1ULL << 40);
	return other;
}

/* Compare all moves with what a split of each write says. */
static void check_size(const struct moves *moves,
		       const struct align_geometry *g, uint32_t sectors)
{
	uint64_t touches[MOST], gaps[MOST];
	uint32_t moved, i;

	moves_count(moves, sectors, touches, gaps);
	for (moved = 0; moved < sectors; moved += 1 + sectors / 64) {
		struct align_geometry other = moved_on(g, sectors, moved);
		uint64_t want_touches = 0, want_gaps = 0;

		for (i = 0; i < NR_WRITES; i++) {
			struct align_split split;

			align_split_write(&other, first_of(i), length_of(i),
					  &split);
			want_touches += split.nr_touches;
			want_gaps += align_block_bytes(&other, first_of(i),
						       length_of(i)) /
				     ALIGN_SECTOR_SIZE - length_of(i);
		}
		CHECK(touches[moved] == want_touches &&
		      gaps[moved] == want_gaps, "%" PRIu32
		      " sectors, offset %" PRIu32 ", moved %" PRIu32
		      ": %" PRIu64 " touches for %" PRIu64 ", gaps %" PRIu64
		      " for %" PRIu64, sectors, g->offset, moved,
		      touches[moved], want_touches, gaps[moved], want_gaps);
	}
}

static void all_moves(void)
{
	static const struct { uint32_t physical, offset, least, largest; } all[] = {
		{ 4096, 0, 8, 512 }, { 4096, 3584, 8, 512 },
		{ 512, 0, 1, 512 }, { 2048, 512, 4, 512 },
		{ 1048576, 7680, 8, MOST },
	};
	uint64_t written = 0;
	uint32_t sectors, i;
	size_t a;

	for (i = 0; i < NR_WRITES; i++)
		written += length_of(i);
	for (a = 0; a < sizeof(all) / sizeof(all[0]); a++) {
		struct align_geometry g;
		struct moves *moves;

		align_geometry_init(&g, all[a].physical, ALIGN_SECTOR_SIZE,
				    all[a].offset, 0, 1ULL << 40);
		moves = moves_new(&g, all[a].least, all[a].largest);
		for (i = 0; i < NR_WRITES; i++)
			moves_note(moves, first_of(i), first_of(i) +
				   length_of(i));
		CHECK(moves_written(moves) == written, "%" PRIu64 " for %"
		      PRIu64, moves_written(moves), written);
		for (sectors = all[a].least; sectors <= all[a].largest;
		     sectors *= 2)
			check_size(moves, &g, sectors);
		moves_free(moves);
	}
}

const struct tap_test moves_tests[] = {
	{ "the touches and gaps of each move are those of writes on moved blocks",
	  all_moves },
	{ 0 },
};
