/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A set of tallies, each of a disk or of a part of its requests, that answer the same
 * question: put together in any order, and added up disk by disk.
 */
#ifndef ALIGNCTL_TALLIES_H
#define ALIGNCTL_TALLIES_H

#include "forecast/tally.h"
#include "geometry.h"

/* Memory for all disks together where no other limit is given, bytes. */
#define TALLIES_MEMORY	(1ULL << 30)

/**
 * struct tallies_question - what is asked of each disk
 * @geometry: blocks and size of the disks
 * @shift: sectors by which all requests are moved
 * @touches_only: what the modes leave is not asked for
 * @sectors: sectors of the blocks by which kinds of writes are told apart, so that
 *	all sizes up to these can be answered for
 */
struct tallies_question {
	struct align_geometry geometry;
	uint64_t shift;
	bool touches_only;
	uint32_t sectors;
};

/**
 * struct tallies - tallies of disks, or of parts of their requests
 * @question: what they answer
 * @nr: number of tallies
 * @room: number of elements of @tally
 * @tally: the tallies
 * @bytes: memory of all tallies
 * @most_bytes: limit of @bytes
 */
struct tallies {
	struct tallies_question question;
	uint32_t nr;
	uint32_t room;
	struct tally *tally;
	uint64_t bytes;
	uint64_t most_bytes;
};

/* Return where in a block of @question->sectors a sector lies. */
static inline uint32_t
tallies_start_of(const struct tallies_question *question, uint64_t sector)
{
	const uint32_t lead = -(question->geometry.offset / ALIGN_SECTOR_SIZE);

	return (uint32_t)(sector + lead) & (question->sectors - 1);
}

/* Begin without tallies. */
void tallies_begin(struct tallies *tallies, const struct align_geometry *g,
		 uint64_t shift, bool touches_only, uint64_t most_bytes);
void tallies_free(struct tallies *tallies);

/*
 * Check that @nr disks, with @bytes of memory, are within the limit. Return: enum
 * alignctl_exit; reported, after the name of the source or disk.
 */
int tallies_check_memory(const struct tallies *tallies, const char *name,
			 uint32_t nr, uint64_t bytes);

/* Take over a tally. Return: enum alignctl_exit; no memory is left for it: reported. */
int tallies_take(struct tallies *tallies, struct tally *tally);

/*
 * Put the tallies in the order of tally_compare(), and drop those that are there
 * twice. Return: the number that was dropped.
 */
uint32_t tallies_sort(struct tallies *tallies);

/*
 * Check that tallies in order can be added disk by disk: parts of a disk's requests
 * do not overlap in time, and nothing is asked that depends on their order. Return:
 * enum alignctl_exit; reported.
 */
int tallies_check(const struct tallies *tallies);

/*
 * Add up the tallies of each disk, after tallies_check(). Return: enum alignctl_exit;
 * reported.
 */
int tallies_add_up(struct tallies *tallies);

#endif
