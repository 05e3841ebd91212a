/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PCT: priorities decide which thread goes on, and a few of them change at points
 * that chance has drawn before. Burckhardt, Kothari, Musuvathi and Nagarakatte: A
 * Randomized Scheduler with Probabilistic Guarantees of Finding Bugs, ASPLOS 2010.
 *
 * Each task, worker, interrupt and device draws a priority when it is started or
 * raised; the runnable one with the highest goes on. At d - 1 points,
 * drawn from k, the running thread gets a priority below all drawn ones. A fault that
 * shows whenever d things happen in a certain order, in a run of at most n threads
 * and interrupts and k points, is found with a probability of at least
 * 1 / (n * k^(d - 1)), if all else that chance decides is as the fault needs it.
 *
 * Two rules are added, as that schedule is unfair. Time has the lowest priority
 * of all, so that a thread that polls does not starve other threads; a change point
 * may have it go on to the next timer instead. And a thread that has run for very
 * many points without any switch may wait for the others: it draws a new priority, or
 * goes behind all, those before it included. Each of several threads that poll goes
 * there in its turn, so that the one for which they wait is not below them for ever.
 */
#ifndef SIM_STRATEGY_H
#define SIM_STRATEGY_H

/* The change at a point. */
enum pct_change {
	PCT_STAY,
	PCT_LOWER,	/* the thread gets pct_lowest_priority() */
	PCT_RENEW,	/* the thread gets pct_new_priority() */
	PCT_LAST,	/* the thread gets pct_last_priority() */
	PCT_TIME,	/* time goes on to the next timer */
};

/* Begin a run of @steps points, or about so many, for faults of @depth. */
void pct_begin(unsigned int depth, unsigned int steps);

unsigned int pct_new_priority(void);
/* Below all drawn ones and those of earlier change points. */
unsigned int pct_lowest_priority(void);
/* Below all priorities that there are. */
unsigned int pct_last_priority(void);

/* Points until a thread may have to be switched by the strategy alone. */
unsigned int pct_until_change(void);

/* So many points have passed. */
enum pct_change pct_pass(unsigned int points);
/* Another thread goes on. */
void pct_switched(void);

#endif
