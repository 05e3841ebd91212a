/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of the machine, for a search that keeps its states and tells them apart.
 * Other files must not use this.
 */
#ifndef SIM_INSIDE_H
#define SIM_INSIDE_H

#include "machine.h"

#define STACK_BYTES	(64 * 1024)
#define MOST_THREADS	1024

/**
 * struct interrupt - an interrupt that is pending
 * @name: its name
 * @run: called in it
 * @argument: its argument
 * @priority: strategy.c's
 */
struct interrupt {
	const char *name;
	void (*run)(void *argument);
	void *argument;
	unsigned int priority;
};

/**
 * struct machine_inside - the parts of a machine
 * @threads: all threads that were ever needed
 * @timers: all timers that are set
 * @interrupts: pending ones: hard, soft
 * @now: virtual time
 * @early: how often time has gone on while a thread could
 * @explored: orders are searched
 * @nr_pieces: pieces of memory that were allocated
 * @allocated: bytes of memory in use
 */
struct machine_inside {
	struct thread *threads;
	size_t nr_threads;
	struct machine_timer *const *timers;
	size_t nr_timers;
	struct {
		const struct interrupt *entry;
		size_t nr;
	} interrupts[2];
	sim_u64 now;
	unsigned int early;
	bool explored;
	unsigned int nr_pieces;
	size_t allocated;
};

struct machine_inside machine_inside(void);

/* Call @part for all memory that makes up a machine at rest, but for static data. */
void machine_parts(void (*part)(void *at, size_t bytes));
/* Go on with a machine whose memory is as it was, until the end. */
struct machine_result machine_go_on(void);

/**
 * struct machine_piece - an allocation, as a search has them: no memory is used twice
 * @at: its first byte
 * @bytes: its size
 * @used: the allocation has not been freed
 */
struct machine_piece {
	const char *at;
	size_t bytes;
	bool used;
};

/* Most pieces of a run. */
#define MACHINE_MOST_PIECES	(1U << 14)

/* The number of the piece of memory that an address is in; 0: in none. */
unsigned int machine_piece_at(const void *at);
struct machine_piece machine_piece(unsigned int number);

#endif
