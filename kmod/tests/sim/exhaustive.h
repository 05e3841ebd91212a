/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All orders in the small: each sequence of a few operations on two neighbouring
 * blocks, sent together, in every order in which the drive can do its requests, and
 * interrupts, work items, timers, threads, a cut of the power and the administrator
 * can come.
 *
 * Each order is lived from its start. A thread goes on until it waits or ends; what
 * others could do in between is not searched. When an order has ended, the search
 * goes back to the last choice that has another candidate. A candidate sleeps in a
 * subtree where it would do the same as in one that has been searched: nothing that
 * was done since depends on it (sleep sets: Godefroid, 1996). Which steps depend on
 * which others is told by the memory that they access, in accesses.h. So of orders
 * that differ only in steps that do not depend on each other one is lived.
 */
#ifndef SIM_EXHAUSTIVE_H
#define SIM_EXHAUSTIVE_H

#include "life.h"

/**
 * struct exhaustive_count - what a search has covered
 * @schedules: orders that were lived to their end
 * @asleep: orders that were given up, as another one is the same
 * @choices: choices with more than one candidate
 * @cut_off: orders that were longer than can be followed
 * @given_up: there are more orders than were asked for
 * @outcomes: different outcomes
 * @outcome: hash of the set of outcomes
 */
struct exhaustive_count {
	sim_u64 schedules, asleep, choices, cut_off, outcomes, outcome;
	bool given_up;
};

/* Whether nothing is left out. */
extern bool exhaustive_full;

/*
 * Search all orders of a script of one world, or about @most. Return: the first violation, whose
 * order exhaustive_again() lives again; or NULL.
 */
const char *exhaustive_search(struct life_script *script, sim_u64 most,
			      struct exhaustive_count *count);
struct life exhaustive_again(struct life_script *script);

#endif
