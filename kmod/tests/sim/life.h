/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A life: up to four worlds on one medium, one after the other.
 *
 * A script is all that decides how a life goes: for each world its plan, how the
 * machine is run, and how the medium comes out of its end. The script of a seed is
 * made while the seed is lived. A script that is lived again tells the same story.
 */
#ifndef SIM_LIFE_H
#define SIM_LIFE_H

#include "machine.h"
#include "media.h"
#include "world.h"

#define LIFE_WORLDS	4U	/* of one life */

/**
 * struct life_world - a world of a life
 * @plan: requests, events and faults of the world
 * @machine: options of the machine that runs the world
 * @cut: how sectors come out of the world, unless that ends in good order
 * @cut_seed: chance of the cut
 */
struct life_world {
	struct world_plan plan;
	struct machine_options machine;
	enum media_cut cut;
	sim_u64 cut_seed;
};

struct life_script {
	struct life_world world[LIFE_WORLDS];
	unsigned int nr;
};

/**
 * struct life - the result of a script
 * @failure: the violation, or NULL; it is valid until the next life
 * @hash: of the whole story
 * @cuts: cuts of the power
 * @worlds: worlds that have begun
 * @choices: of their machines
 */
struct life {
	const char *failure;
	sim_u64 hash;
	unsigned int cuts;
	unsigned int worlds;
	sim_u64 choices;
};

/*
 * How seeds choose the next thread: all by chance, all by priorities, or each as the
 * seed has it.
 */
enum life_strategy {
	LIFE_RANDOM,
	LIFE_PCT,
	LIFE_MIXED,
	LIFE_STRATEGIES,
};

extern enum life_strategy life_strategy;

/* Called when a machine has ended whose story was kept, if set. */
extern void (*life_told)(void);

/* Keep how the engine's data are; once, before all else. */
void life_init(void);
/* Live a seed, and make its script. */
struct life life_of_seed(sim_u64 seed, struct life_script *script,
			 bool keep_story);
/* Live a script. */
struct life life_of_script(struct life_script *script, bool keep_story);
/* Go on with the first world of a script, all of whose memory is as it was. */
struct life life_go_on(struct life_script *script);
/* Call @part for all memory that makes up a world at rest, but for its plan. */
void life_parts(const struct world_plan *plan, void (*part)(void *at, size_t bytes));

#endif
