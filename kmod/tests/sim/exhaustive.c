// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accesses.h"
#include "exhaustive.h"
#include "snapshot.h"
#include "states.h"

#define MOST_DEPTH	2000U
#define MOST_BRANCHES	64U
#define MOST_OUTCOMES	(1U << 20)

/**
 * struct branch - a candidate of a choice
 * @candidate: the candidate
 * @asleep: the orders that begin with the candidate were searched elsewhere
 * @done: the orders that begin with the candidate were searched here
 * @accesses: accesses of the candidate's step, if @asleep or @done
 */
struct branch {
	struct machine_candidate candidate;
	bool asleep, done;
	struct accesses accesses;
};

/**
 * struct choice - a choice on the way
 * @branch: the candidates, then those that sleep and cannot go on now
 * @nr: number of candidates
 * @all: number of @branch
 * @taken: the candidate that is searched now
 * @inner: a choice of a step, between @nr things, that does not end the step
 * @state: hash of the state, if states are looked at and there is a choice; or 0
 * @orders: orders that lead on from here, of those that were searched
 * @snapshot: the world here, if @state
 */
struct choice {
	struct branch branch[MOST_BRANCHES];
	unsigned int nr, all, taken;
	bool inner;
	sim_u64 state;
	double orders;
	struct snapshot snapshot;
};

enum exhaustive_reduction exhaustive_reduction;
bool exhaustive_replays;

static struct choice *way[MOST_DEPTH];
/* Choices that are given, of those that are on the way now. */
static unsigned int given, depth;
/* The first choice whose step is noted. */
static unsigned int noted_from;
static struct exhaustive_count counted;
static bool gave_up;
static sim_u64 outcomes[MOST_OUTCOMES];
static const struct world_plan *plan;
/* An order is lived once more: nothing is looked for. */
static bool again;
/* State of the end of the search of this order; 0: it was not looked at. */
static sim_u64 end_state;
/* Orders that the last life stands for. */
static double orders;

static void copy_accesses(struct accesses *to, const struct accesses *from)
{
	if (to->room < from->nr) {
		to->room = from->nr;
		to->entry = realloc(to->entry, to->room * sizeof(*to->entry));
		if (!to->entry)
			abort();
	}
	memcpy(to->entry, from->entry, from->nr * sizeof(*to->entry));
	to->nr = from->nr;
	to->all = from->all;
}

static bool is_same(const struct machine_candidate *a,
		    const struct machine_candidate *b)
{
	return a->kind == b->kind && a->who == b->who && a->offer == b->offer;
}

/* Return the last choice between candidates, or NULL if there is none yet. */
static struct choice *last_switch(void)
{
	unsigned int i;

	for (i = depth; i--;)
		if (!way[i]->inner)
			return way[i];
	return NULL;
}

/* The step that was chosen last has ended. */
static void end_step(void)
{
	struct choice *choice = last_switch();

	if (!choice || depth < given)
		return;
	accesses_add(&choice->branch[choice->taken].accesses);
}

static struct branch *find_branch(struct choice *choice,
				  const struct machine_candidate *candidate)
{
	unsigned int i;

	for (i = 0; i < choice->nr; i++)
		if (is_same(&choice->branch[i].candidate, candidate))
			return &choice->branch[i];
	return NULL;
}

/*
 * Put to sleep candidates that slept or were searched before, and are independent of
 * the last step.
 */
static void put_to_sleep(struct choice *choice, struct choice *before)
{
	unsigned int i;

	for (i = 0; before && i < before->all; i++) {
		const struct branch *from = &before->branch[i];
		struct branch *to;

		if (!from->asleep && !from->done)
			continue;
		if (i == before->taken || !accesses_apart(&from->accesses))
			continue;
		to = find_branch(choice, &from->candidate);
		if (!to) {
			if (choice->all == MOST_BRANCHES)
				continue;
			to = &choice->branch[choice->all++];
			to->candidate = from->candidate;
			to->done = false;
		}
		to->asleep = true;
		copy_accesses(&to->accesses, &from->accesses);
	}
}

static struct choice *new_choice(unsigned int nr)
{
	struct choice *choice;

	if (!way[depth])
		way[depth] = calloc(1, sizeof(*choice));
	choice = way[depth];
	if (!choice || nr > MOST_BRANCHES) {
		fprintf(stderr, "sim: no room for %u candidates\n", nr);
		exit(2);
	}
	choice->nr = nr;
	choice->all = nr;
	choice->inner = false;
	choice->state = 0;
	choice->orders = 0;
	return choice;
}

/* Take the first branch that is neither searched nor asleep. Return: there is one. */
static bool take_next(struct choice *choice)
{
	unsigned int i;

	for (i = 0; i < choice->nr; i++)
		if (!choice->branch[i].asleep && !choice->branch[i].done) {
			choice->taken = i;
			choice->branch[i].accesses.nr = 0;
			choice->branch[i].accesses.all = false;
			return true;
		}
	return false;
}

static void set_branches(struct choice *choice,
			 const struct machine_candidate *candidate)
{
	unsigned int i;

	for (i = 0; i < choice->nr; i++) {
		struct branch *branch = &choice->branch[i];

		branch->asleep = false;
		branch->done = false;
		if (candidate)
			branch->candidate = candidate[i];
	}
}

static void __attribute__((noreturn)) give_up(void)
{
	gave_up = true;
	machine_stop("given up");
}

/* Give up an order at a state from which all was searched. Return: the state, a new one. */
static sim_u64 look_at_state(void)
{
	sim_u64 hash = states_hash(plan);
	const struct state *state = states_find(hash);

	if (!state) {
		states_add(hash);
		counted.states++;
		return hash;
	}
	counted.same++;
	/* A circle is no order that ends. */
	counted.circles += !state->done;
	orders = state->orders;
	give_up();
}

/* Behind the search nothing is chosen: orders that get there in one state end alike. */
static void rest(void)
{
	if (exhaustive_reduction == BY_STATES && !again)
		end_state = look_at_state();
}

static unsigned int pick(const struct machine_candidate *candidate,
			 unsigned int nr)
{
	struct choice *before, *choice;

	end_step();
	if (depth < given) {
		choice = way[depth++];
		if (nr != choice->nr ||
		    !is_same(&candidate[choice->taken],
			     &choice->branch[choice->taken].candidate))
			machine_fail("the same choices do not lead to the same place");
		if (depth > noted_from)
			accesses_begin();
		return choice->taken;
	}
	if (depth == MOST_DEPTH) {
		counted.cut_off++;
		give_up();
	}
	before = last_switch();
	choice = new_choice(nr);
	set_branches(choice, candidate);
	if (exhaustive_reduction == BY_STATES && nr > 1) {
		choice->state = look_at_state();
		if (!exhaustive_replays)
			snapshot_take(&choice->snapshot, plan);
	}
	if (exhaustive_reduction == BY_SLEEP)
		put_to_sleep(choice, before);
	if (!take_next(choice)) {
		counted.same++;
		orders = 0;
		give_up();
	}
	counted.choices += nr > 1;
	depth++;
	given = depth;
	accesses_begin();
	return choice->taken;
}

/* A choice inside a step: all of its outcomes are searched. */
static unsigned int decide(unsigned int n)
{
	struct choice *choice;

	if (depth < given)
		return way[depth++]->taken;
	if (depth == MOST_DEPTH)
		return 0;
	choice = new_choice(n);
	set_branches(choice, NULL);
	choice->inner = true;
	choice->taken = 0;
	counted.choices++;
	depth++;
	given = depth;
	return 0;
}

static void end_of_state(sim_u64 hash, double of)
{
	struct state *state = states_find(hash);

	state->orders = of;
	state->done = true;
}

/* Go back to the last choice that has another branch. Return: there is one. */
static bool go_back(void)
{
	for (given = depth; given; given--) {
		struct choice *choice = way[given - 1];

		choice->branch[choice->taken].done = true;
		choice->orders += orders;
		if (!take_next(choice)) {
			orders = choice->orders;
			if (choice->state)
				end_of_state(choice->state, orders);
			continue;
		}
		depth = given;
		for (noted_from = given - 1; way[noted_from]->inner;)
			noted_from--;
		return true;
	}
	return false;
}

bool exhaustive_can(enum exhaustive_reduction reduction)
{
	/* With ASan, memory lies elsewhere in each life, and none is lived again. */
	return states_seen && (reduction != BY_SLEEP || accesses_seen);
}

static const struct machine_search search = {
	.pick = pick, .decide = decide, .note = accesses_note,
	.ignore = accesses_ignore, .stop = accesses_stop, .rest = rest,
	.early = 1,
};

/* Add an outcome to the set of them. */
static void add_outcome(sim_u64 outcome)
{
	sim_u64 at = outcome % MOST_OUTCOMES;

	outcome |= 1;
	while (outcomes[at] && outcomes[at] != outcome)
		at = (at + 1) % MOST_OUTCOMES;
	if (outcomes[at])
		return;
	outcomes[at] = outcome;
	counted.outcomes++;
	counted.outcome += outcome * outcome;
}

static sim_u64 hash_text(const char *text)
{
	sim_u64 hash = 0xcbf29ce484222325ULL;

	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
	return hash;
}

static struct life live(struct life_script *script)
{
	struct life_world *world = &script->world[0];

	world->machine.strategy = STRATEGY_SEARCH;
	world->machine.search = &search;
	world->cut = CUT_ALL;
	gave_up = false;
	end_state = 0;
	depth = given;
	while (depth && !(way[depth - 1]->state && !exhaustive_replays && !again))
		depth--;
	if (depth) {
		snapshot_bring_back(&way[--depth]->snapshot);
		return life_go_on(script);
	}
	world_count.outcome = 0;
	accesses_forget_ignored();
	accesses_stop();
	return life_of_script(script, world->machine.keep_story);
}

/* Hash the content of the medium, a part of an outcome. */
static sim_u64 hash_contents(void)
{
	sim_u64 contents = 0;
	unsigned int i;

	for (i = 0; i < plan->sectors; i++)
		contents = contents * 0x100000001b3ULL +
			   media_read(plan->start - plan->base + i);
	return contents;
}

/* Add a life to the searched ones. */
static void count_life(struct life life)
{
	counted.lived++;
	orders = 1;
	if (end_state)
		end_of_state(end_state, 1);
	add_outcome(world_count.outcome + hash_contents() +
		    hash_text(life.failure));
}

const char *exhaustive_search(struct life_script *script, sim_u64 most,
			      struct exhaustive_count *count)
{
	static char failure[1024];

	plan = &script->world[0].plan;
	again = false;
	states_forget();
	counted = (struct exhaustive_count) { 0 };
	memset(outcomes, 0, sizeof(outcomes));
	given = 0;
	noted_from = 0;
	failure[0] = 0;
	do {
		struct life life = live(script);

		/* A step that ends the life depends on all: it is judged there. */
		end_step();
		accesses_stop();
		if (last_switch())
			last_switch()->branch[last_switch()->taken].accesses.all =
				true;
		if (!gave_up)
			count_life(life);
		if (!gave_up && life.failure) {
			snprintf(failure, sizeof(failure), "%s", life.failure);
			break;
		}
		counted.given_up = most && counted.lived + counted.same >= most;
	} while (!counted.given_up && go_back());
	counted.orders = orders;
	*count = counted;
	return failure[0] ? failure : NULL;
}

struct life exhaustive_again(struct life_script *script)
{
	given = depth;
	noted_from = depth;
	again = true;
	return live(script);
}
