/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The content that each sector may lawfully have: the promises, judged from outside.
 *
 * 1. A sector has the content of one write, whole. Writes in flight together come
 *    in any order, and in another one for each sector. A write that failed, or whose
 *    touches the target has given up, may be there or not.
 * 2. A read finds the content of a write unless another write surely came between:
 *    it began after the first had ended, and had ended before the read began.
 *    Content that a read has found is not undone while its write is in flight,
 *    either: a read that begins after the first has ended finds that content or
 *    newer, unless the machine stops in between, or oracle_gives_up is set.
 * 3. A write is durable if it was FUA and has ended well, or a flush that began
 *    after its end has ended well. After a cut of the power a sector has the
 *    content of a write of which none that is durable began after its end.
 * 4. A discarded sector has zeroes, or its content of before: a drive may ignore a
 *    discard, and then nothing older may come back. If oracle_gives_up is set, a
 *    discard of a whole block also ends data that a target could not write to it,
 *    and then a sector there has any content.
 *
 * The order of begin and end is that in which these functions are called.
 */
#ifndef SIM_ORACLE_H
#define SIM_ORACLE_H

#include "machine.h"

/*
 * Whether writes fail, so that a discard may give up held data, and content of a
 * write in flight may be undone after a read has found it.
 */
extern bool oracle_gives_up;

#define ORACLE_SECTORS	4096U

enum oracle_effect {
	ORACLE_WRITE,
	ORACLE_ZEROES,
	ORACLE_DISCARD,
};

/* A write, zeroing or discard in flight. */
struct oracle_write {
	unsigned int first;
	unsigned int nr;
	unsigned int number;
};

/*
 * Forget all. A flush concerns the sectors in front of @border, or those from it
 * on: two devices.
 */
void oracle_reset(unsigned int border);
/* The tag of a write's sector: never 0. */
sim_u64 oracle_tag(sim_u64 write, unsigned int sector);

/* Whether a range has room for one more write in flight. */
bool oracle_has_room(unsigned int first, unsigned int nr);
/* A write begins, of a @number that no other one has. */
void oracle_begin(struct oracle_write *write, unsigned int first, unsigned int nr,
		  enum oracle_effect effect, sim_u64 number);
/* Sectors from @first up to @end are whole blocks of a discard that has just begun. */
void oracle_whole(const struct oracle_write *write, unsigned int first,
		  unsigned int end);
void oracle_end(const struct oracle_write *write, bool ok, bool durable);
/* The target has given up the held data of a range. */
void oracle_lost(unsigned int first, unsigned int nr);

/* The machine has stopped: found content of writes in flight may be undone. */
void oracle_stopped(void);

/*
 * Call @word for the versions of the first @nr sectors, without their order: for a
 * search.
 */
void oracle_state(unsigned int nr, void (*word)(sim_u64 word));
/* Call @part for the memory that keeps the first @nr sectors. */
void oracle_parts(unsigned int nr, void (*part)(void *at, size_t bytes));

sim_u64 oracle_now(void);
/* A read begins, and returns when; and it has ended. */
sim_u64 oracle_read_begin(void);
void oracle_read_end(sim_u64 began);
/* A flush of the device of a sector that began at @began has ended well. */
void oracle_flushed(unsigned int sector, sim_u64 began);
/* A read of a sector that began at @began has found @tag. */
void oracle_found(unsigned int sector, sim_u64 began,
		  sim_u64 tag);
/* After a cut, a sector has @tag; nothing is in flight any more. */
void oracle_survived(unsigned int sector, sim_u64 tag);

#endif
