/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kinds of rounds: which requests are in flight together, two or three of
 * them, and whether they meet in one physical block or across a boundary.
 *
 * A round works on a cell, four physical blocks in a row: a guard, the blocks A
 * and B, and a guard. Requests lie in A, or across the boundary of A and B.
 */
#ifndef ALIGNCTL_CONFORM_KIND_H
#define ALIGNCTL_CONFORM_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conform/lawful.h"
#include "engine/io_queue.h"

/* What a request of a round is. */
enum kind_part {
	PART_SUB_BLOCK,		/* a write of a part of a physical block, or across */
	PART_WHOLE,		/* a write of a physical block */
	PART_TWO_BLOCKS,	/* a write of both */
	PART_READ,
	PART_FLUSH,
	PART_FUA,		/* as PART_SUB_BLOCK, durable when it ends */
	PART_DISCARD,
	PART_ZEROES,
	PART_NR,
};

#define KIND_PARTS	3U	/* most requests of a round */
#define CELL_BLOCKS	4U

/**
 * struct kind - a kind of round
 * @nr: number of requests, 2 or 3
 * @part: the requests, none less than the one before
 * @across: the requests meet across a boundary of physical blocks
 */
struct kind {
	size_t nr;
	enum kind_part part[KIND_PARTS];
	bool across;
};

/* Number of kinds: 36 pairs and 120 triples, in one block and across. */
#define KIND_NR		(2U * (36U + 120U))

/* Return kind number @number, less than KIND_NR; pairs come first. */
struct kind kind_at(size_t number);

/* Find a kind by its name; return false if no kind has it. */
bool kind_find(const char *name, size_t *number);

/* Return its name, as "sub-block+read/across", for free(). */
char *kind_name(const struct kind *kind);

/* Return a request's name, "sub-block". */
const char *kind_part_name(enum kind_part part);

/* Return what a request does to blocks, how, and whether a part is in a kind. */
enum lawful_effect kind_effect(enum kind_part part);
enum io_op kind_op(enum kind_part part);
bool kind_has(const struct kind *kind, enum kind_part part);

/**
 * struct kind_shape - what a request covers of its cell
 * @part: kind of request
 * @first: first logical block, counted from the start of the cell
 * @nr: number of logical blocks; 0: a flush
 * @wait: when it is sent, in parts of 256 of the time that requests take
 */
struct kind_shape {
	enum kind_part part;
	uint32_t first;
	uint32_t nr;
	uint32_t wait;
};

/*
 * Choose the requests of a round by @random: places, and when each is sent.
 * @per_block: logical blocks in a physical block, at least 2
 */
void kind_shapes(const struct kind *kind, uint32_t per_block, uint64_t random,
		 struct kind_shape shapes[KIND_PARTS]);

#endif
