// SPDX-License-Identifier: GPL-2.0
#include "machine.h"
#include "strategy.h"

#define MOST_CHANGES	64U
/* No thread that works towards an end runs for so long without any switch. */
#define MOST_ALONE	20000U
/* At one in so many change points time goes on. */
#define TIME_ONE_IN	4U
/* Priorities below this are of threads that have gone last, which is once in MOST_ALONE points. */
#define LAST_BELOW	(1U << 30)

/* The change points, ascending. */
static unsigned int change[MOST_CHANGES], nr_changes, next_change;
static unsigned int passed, alone, nr_last;

static void add_change(unsigned int at)
{
	unsigned int i;

	for (i = nr_changes++; i && change[i - 1] > at; i--)
		change[i] = change[i - 1];
	change[i] = at;
}

void pct_begin(unsigned int depth, unsigned int steps)
{
	unsigned int i;

	nr_changes = 0;
	next_change = 0;
	passed = 0;
	alone = 0;
	nr_last = 0;
	for (i = 1; i < depth && i <= MOST_CHANGES; i++)
		add_change(1 + machine_choose(steps));
}

/* Lower priorities are those of the change points. */
unsigned int pct_new_priority(void)
{
	return LAST_BELOW + MOST_CHANGES + machine_choose(1U << 31);
}

unsigned int pct_lowest_priority(void)
{
	return LAST_BELOW + MOST_CHANGES - next_change;
}

unsigned int pct_last_priority(void)
{
	return LAST_BELOW - ++nr_last;
}

unsigned int pct_until_change(void)
{
	unsigned int left = next_change < nr_changes ?
			    change[next_change] - passed : MOST_ALONE;

	if (left > MOST_ALONE - alone)
		left = MOST_ALONE - alone;
	return left;
}

enum pct_change pct_pass(unsigned int points)
{
	passed += points;
	alone += points;
	if (next_change < nr_changes && passed >= change[next_change]) {
		next_change++;
		return machine_chance(TIME_ONE_IN) ? PCT_TIME : PCT_LOWER;
	}
	if (alone < MOST_ALONE)
		return PCT_STAY;
	alone = 0;
	return machine_chance(2) ? PCT_RENEW : PCT_LAST;
}

void pct_switched(void)
{
	alone = 0;
}
