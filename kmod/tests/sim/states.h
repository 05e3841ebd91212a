/* SPDX-License-Identifier: GPL-2.0 */
/*
 * States of a world at rest, for a search: each is gone on from once.
 *
 * All that decides how a world goes on, and how it is judged, is in its memory:
 * static data, allocations, the stacks of threads that wait, the machine, the drive's
 * cache and medium, the oracle, and the outcome so far. Two orders that lead to the
 * same memory go on alike.
 *
 * Where memory lies depends on the order in which it was allocated, and threads are
 * taken from a pool. So a pointer to memory or to a thread counts as the number of
 * its target, by the order in which a walk from the static data comes to it, and the
 * place in there. That is all that a pointer can be used for: no code compares two
 * addresses for their order, and in a search no address is used twice.
 *
 * The hash has 64 bits. Of n states, two of the same hash are to be expected with a
 * probability of n * n / 2^65: one in 10^7 for two million.
 */
#ifndef SIM_STATES_H
#define SIM_STATES_H

#include "world.h"

/* Whether the program was built so that states can be told. */
extern const bool states_seen;
/* Tell too few apart: sectors and read content make no difference. For a test. */
extern bool states_loose;

/* The hash of the state that a world at rest is in; never 0. */
sim_u64 states_hash(const struct world_plan *plan);

/**
 * struct state - a state that was seen
 * @hash: its hash
 * @orders: number of orders that lead on from the state, if @done
 * @done: all orders that lead on were searched
 */
struct state {
	sim_u64 hash;
	double orders;
	bool done;
};

/* Forget all states; find one; add one that was not seen. */
void states_forget(void);
struct state *states_find(sim_u64 hash);
void states_add(sim_u64 hash);

#endif
