/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All orders in the small: each sequence of a few operations on two neighbouring
 * blocks, sent together, in every order in which the drive can do its requests, and
 * interrupts, work items, timers, threads, a cut of the power and the administrator
 * can come.
 *
 * A step is all that a thread does until it waits or ends; steps of other threads
 * within it are not searched. When an order has ended, the search goes back to the
 * last choice that has another candidate, with a copy of the world as it was there
 * (snapshot.h), and goes on with that. Where an order comes to a state that was seen,
 * it is given up: all that can follow was searched from there (states.h).
 *
 * For comparison there are two other searches. One leaves nothing out. The other knows
 * no states, and has a candidate sleep in a subtree where it would do the same as in
 * one that has been searched: nothing that was done since depends on it (sleep sets:
 * Godefroid, 1996). Steps depend on each other by the memory that they access; see
 * accesses.h.
 */
#ifndef SIM_EXHAUSTIVE_H
#define SIM_EXHAUSTIVE_H

#include "life.h"

/**
 * struct exhaustive_count - the coverage of a search
 * @orders: orders that there are, as far as they were searched: those that were given
 *	up count with all that follow; by sleep sets, those that were lived
 * @lived: orders that were lived to their end
 * @same: orders that were given up where they became the same as another
 * @states: states in which there was a choice
 * @circles: orders that have come back to a state of their own
 * @choices: choices with more than one candidate
 * @cut_off: orders that were longer than can be followed
 * @given_up: there are more orders than were asked for
 * @outcomes: different outcomes
 * @outcome: hash of the set of outcomes
 */
struct exhaustive_count {
	double orders;
	sim_u64 lived, same, states, circles, choices, cut_off;
	sim_u64 outcomes, outcome;
	bool given_up;
};

/* The orders that a search leaves out. */
enum exhaustive_reduction {
	BY_STATES,	/* orders that go on from a seen state; states.h */
	BY_SLEEP,	/* orders that differ in independent steps only */
	BY_NOTHING,
};

extern enum exhaustive_reduction exhaustive_reduction;
/* Whether this build can tell the states and accesses that a reduction needs. */
bool exhaustive_can(enum exhaustive_reduction reduction);
/* Whether each order is lived from its start on, and not from a copy of the world. */
extern bool exhaustive_replays;

/*
 * Search all orders of a script of one world, or about @most. Return: the first violation, whose
 * order exhaustive_again() lives again; or NULL.
 */
const char *exhaustive_search(struct life_script *script, sim_u64 most,
			      struct exhaustive_count *count);
struct life exhaustive_again(struct life_script *script);

#endif
