/* SPDX-License-Identifier: GPL-2.0 */
/* The search of one scenario, and what its program shares with it. */
#ifndef MODEL_SEARCH_H
#define MODEL_SEARCH_H

#include "engine.h"

/* Of the program, and of a search. */
enum { EXIT_CLEAN, EXIT_VIOLATION, EXIT_USAGE, EXIT_LIMIT };

/**
 * struct result - what came of a search
 * @states: states that were seen
 * @transitions: events between them
 * @depth: events to the last of them
 * @status: EXIT_CLEAN, EXIT_VIOLATION, or EXIT_LIMIT: there are more states
 */
struct result {
	size_t states;
	uint64_t transitions;
	size_t depth;
	int status;
};

/* All states of a scenario. What is wrong is printed, unless @silent. */
struct result search(const struct scenario *scenario, size_t max_states, bool silent);

void print_scenario(FILE *out, const struct scenario *scenario);

/* As reallocarray(), for memory that is looked at all over; there always is some, or the program ends. */
void *renew(void *memory, size_t nr, size_t size);

/* The finalizer of splitmix64: every bit of the result depends on every bit. */
static inline uint64_t mix(uint64_t word)
{
	word ^= word >> 30;
	word *= 0xbf58476d1ce4e5b9;
	word ^= word >> 27;
	word *= 0x94d049bb133111eb;
	return word ^ word >> 31;
}

#endif
