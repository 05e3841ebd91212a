// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "script.h"
#include "shrink.h"

/* A life of so many times the choices that the smallest has had leads nowhere. */
#define PATIENCE	10U
/* Seeds of the machines that a candidate is lived with, and requests of them all. */
#define LEAST_TRIES	30U
#define MOST_TRIES	600U
#define TRY_OPS		20000U

/* The smallest script so far, the candidate, and the violation in words. */
static struct life_script best, candidate;
static char wanted[256];
static sim_u64 lives;
/* Choices of the machines in the life of the smallest script. */
static sim_u64 choices;

/* Copy a violation without its numbers. */
static void put_words(char *to, size_t room, const char *failure)
{
	size_t nr = 0;

	while (*failure && nr + 1 < room) {
		if (isdigit((unsigned char)*failure)) {
			while (isalnum((unsigned char)*failure))
				failure++;
			to[nr++] = '#';
		} else {
			to[nr++] = *failure++;
		}
	}
	to[nr] = 0;
}

static bool is_wanted(const char *failure)
{
	char words[sizeof(wanted)];

	if (!failure)
		return false;
	put_words(words, sizeof(words), failure);
	return !strcmp(words, wanted);
}

unsigned int shrink_size(const struct life_script *script)
{
	unsigned int i, size = 0;

	for (i = 0; i < script->nr; i++)
		size += script->world[i].plan.nr_ops +
			script->world[i].plan.nr_events;
	return size;
}

static unsigned int tries_of(const struct life_script *script)
{
	unsigned int tries = TRY_OPS / (shrink_size(script) + 1);

	return tries < LEAST_TRIES ? LEAST_TRIES :
	       tries > MOST_TRIES ? MOST_TRIES : tries;
}

/* Live the candidate; if it shows the wanted violation, it is the best one. */
static bool try_candidate(void)
{
	unsigned int tries = tries_of(&candidate), i, j;

	for (i = 0; i < candidate.nr; i++) {
		candidate.world[i].machine.most_choices = PATIENCE * choices;
		if (script_check(&candidate.world[i].plan))
			return false;
	}
	for (i = 0; i < tries; i++) {
		struct life life = life_of_script(&candidate, false);

		lives++;
		if (is_wanted(life.failure)) {
			candidate.nr = life.worlds;
			choices = life.choices;
			best = candidate;
			return true;
		}
		for (j = 0; j < candidate.nr; j++)
			candidate.world[j].machine.seed += 1000003;
	}
	return false;
}

static bool drop_worlds(void)
{
	unsigned int i;
	bool any = false;

	for (i = 0; i + 1 < best.nr;) {
		candidate = best;
		memmove(&candidate.world[i], &candidate.world[i + 1],
			(best.nr - i - 1) * sizeof(candidate.world[0]));
		candidate.nr--;
		if (try_candidate())
			any = true;
		else
			i++;
	}
	return any;
}

/* Drop @nr entries of an array from @at on. Return: how many are left. */
static unsigned int drop(void *array, size_t size, unsigned int all,
			 unsigned int at, unsigned int nr)
{
	char *entry = array;

	if (nr > all - at)
		nr = all - at;
	memmove(entry + at * size, entry + (at + nr) * size,
		(all - at - nr) * size);
	return all - nr;
}

/* Drop requests, or events, in ever smaller groups. */
static bool drop_groups(unsigned int i, bool events)
{
	struct world_plan *of = &best.world[i].plan;
	struct world_plan *plan = &candidate.world[i].plan;
	unsigned int *all = events ? &of->nr_events : &of->nr_ops;
	unsigned int group, at;
	bool any = false;

	for (group = *all; group; group /= 2)
		for (at = 0; at < *all && i < best.nr;) {
			candidate = best;
			if (events)
				plan->nr_events = drop(plan->event, 1,
						       *all, at, group);
			else
				plan->nr_ops = drop(plan->op,
						    sizeof(plan->op[0]), *all,
						    at, group);
			if (try_candidate())
				any = true;
			else
				at += group;
		}
	return any;
}

/* Set numbers of a plan to their simplest values. */
static bool set_simple(unsigned int i)
{
	static const struct {
		size_t at;
		unsigned int simple;
	} numbers[] = {
#define SIMPLE(name, simple) { offsetof(struct world_plan, name), simple }
		SIMPLE(nowait_one_in, 0), SIMPLE(nowait_nth, 0), SIMPLE(hang_at, 0),
		SIMPLE(nth, 0), SIMPLE(error_one_in, 0),
		SIMPLE(bad_nr, 0), SIMPLE(bad_first, 0), SIMPLE(slow_one_in, 0),
		SIMPLE(tags, 256), SIMPLE(cut_after, 0), SIMPLE(cut_late, 0),
		SIMPLE(offset, 0),
		SIMPLE(start, 0), SIMPLE(border, 0), SIMPLE(max_sectors, 2048), SIMPLE(zeroes, 1024),
		SIMPLE(limited, 0), SIMPLE(ceiling, 0), SIMPLE(granule, 0), SIMPLE(gapless, 0), SIMPLE(large_memory, 0), SIMPLE(max_blocks, 64), SIMPLE(hold_ms, 500), SIMPLE(depth, 16),
		SIMPLE(workers, 1), SIMPLE(workers, 4), SIMPLE(physical, 4096),
		SIMPLE(mode, 1), SIMPLE(mode, 2),
	};
	static const size_t switches[] = {
		offsetof(struct world_plan, stacked),
		offsetof(struct world_plan, inline_end),
		offsetof(struct world_plan, reboot),
		offsetof(struct world_plan, streams),
		offsetof(struct world_plan, flood),
		offsetof(struct world_plan, has_twin),
		offsetof(struct world_plan, linear),
		offsetof(struct world_plan, files),
		offsetof(struct world_plan, reclaims),
	};
	/* A setting with two simple values goes to the first that will do. */
	char *plan = (char *)&candidate.world[i].plan;
	unsigned int j;
	bool any = false;

	for (j = 0; j < sizeof(numbers) / sizeof(numbers[0]); j++) {
		unsigned int *number = (unsigned int *)(plan + numbers[j].at);

		candidate = best;
		if (j && numbers[j].at == numbers[j - 1].at &&
		    *number == numbers[j - 1].simple)
			continue;
		if (*number == numbers[j].simple)
			continue;
		*number = numbers[j].simple;
		any |= try_candidate();
	}
	for (j = 0; j < sizeof(switches) / sizeof(switches[0]); j++) {
		candidate = best;
		if (!*(bool *)(plan + switches[j]))
			continue;
		*(bool *)(plan + switches[j]) = false;
		any |= try_candidate();
	}
	return any;
}

/* Have the power cut after fewer requests of the drive, by ever smaller steps. */
static bool cut_earlier(unsigned int i)
{
	unsigned int *after = &candidate.world[i].plan.cut_after;
	unsigned int step;
	bool any = false;

	for (step = best.world[i].plan.cut_after / 2; step; step /= 2)
		do {
			candidate = best;
			if (*after <= step)
				break;
			*after -= step;
			if (!try_candidate())
				break;
			any = true;
		} while (i < best.nr);
	return any;
}

/* Move the device to the begin of the drive. */
static bool drop_base(unsigned int i)
{
	struct world_plan *plan = &candidate.world[i].plan;

	candidate = best;
	if (!plan->base)
		return false;
	plan->start -= plan->base;
	plan->bad_first = plan->bad_first > plan->base ?
			  plan->bad_first - plan->base : 0;
	plan->base = 0;
	return try_candidate();
}

/* Give the requests of thread @from to thread @to, and close the gap. */
static void join_threads(struct world_plan *plan, unsigned int from,
			 unsigned int to)
{
	unsigned int i;

	for (i = 0; i < plan->nr_ops; i++) {
		unsigned char *thread = &plan->op[i].thread;

		if (*thread == from)
			*thread = (unsigned char)to;
		if (*thread > from)
			--*thread;
	}
	plan->threads--;
}

static bool drop_threads(unsigned int i)
{
	unsigned int from;
	bool any = false;

	for (from = best.world[i].plan.threads; from-- > 1;) {
		candidate = best;
		join_threads(&candidate.world[i].plan, from, from - 1);
		any |= try_candidate();
	}
	return any;
}

/* Make one thing of a request simpler. Return: false if there are no more. */
static bool simplify(struct world_op *op, unsigned int how)
{
	switch (how) {
	case 0:
		op->pieces = 1;
		break;
	case 1:
		op->plug = false;
		break;
	case 2:
		op->wait = false;
		break;
	case 3:
		op->nowait = false;
		break;
	case 4:
		if (op->kind == OP_FUA || op->kind == OP_FLUSH_FUA)
			op->kind = OP_WRITE;
		break;
	case 5:
		if (op->nr > 8)
			op->nr = 8;
		break;
	case 6:
		if (op->nr > 1)
			op->nr /= 2;
		break;
	case 7:
		op->twin = false;
		break;
	case 8:
		op->first /= 2;
		break;
	default:
		return false;
	}
	return true;
}

static bool simplify_ops(unsigned int i)
{
	unsigned int j, how;
	bool any = false;

	for (j = 0; j < best.world[i].plan.nr_ops; j++)
		for (how = 0;; how++) {
			struct world_op *op = &candidate.world[i].plan.op[j];

			candidate = best;
			if (!simplify(op, how))
				break;
			if (memcmp(op, &best.world[i].plan.op[j], sizeof(*op)))
				any |= try_candidate();
		}
	return any;
}

/* Fold the device to few blocks, as small as its requests allow. */
static bool fold(unsigned int i, unsigned int blocks)
{
	struct world_plan *plan = &candidate.world[i].plan;
	unsigned int block = best.world[i].plan.physical / 512, j;
	unsigned int sectors = blocks * block;

	candidate = best;
	if (plan->sectors <= sectors || plan->has_twin || plan->border)
		return false;
	plan->twin = 0;
	for (j = 0; j < plan->nr_ops; j++) {
		struct world_op *op = &plan->op[j];

		op->first = (unsigned short)(op->first % sectors);
		if (op->nr > sectors - op->first)
			op->nr = (unsigned short)(sectors - op->first);
	}
	if (plan->bad_first > plan->start)
		plan->bad_first = plan->start +
				  (plan->bad_first - plan->start) % sectors;
	plan->sectors = sectors;
	return try_candidate();
}

static bool make_device_small(unsigned int i)
{
	return fold(i, 8) || fold(i, 16) || fold(i, 64);
}

/* Fewer CPUs, choices by chance, and few of them. */
static void simplify_machine(unsigned int i)
{
	struct machine_options *machine = &candidate.world[i].machine;

	do {
		candidate = best;
	} while (machine->cpus-- > 1 && try_candidate() && i < best.nr);
	candidate = best;
	if (machine->strategy != STRATEGY_RANDOM) {
		machine->strategy = STRATEGY_RANDOM;
		try_candidate();
	}
	do {
		candidate = best;
		machine->mean *= 2;
	} while (machine->strategy == STRATEGY_RANDOM &&
		 machine->mean <= 256 && try_candidate() && i < best.nr);
}

static bool pass(void)
{
	bool any = drop_worlds();
	unsigned int i;

	for (i = 0; i < best.nr; i++) {
		any |= make_device_small(i);
		any |= i < best.nr && drop_groups(i, false);
		any |= i < best.nr && drop_groups(i, true);
		any |= i < best.nr && set_simple(i);
		any |= i < best.nr && drop_base(i);
		any |= i < best.nr && cut_earlier(i);
		any |= i < best.nr && drop_threads(i);
		any |= i < best.nr && simplify_ops(i);
	}
	return any;
}

sim_u64 shrink(struct life_script *script, const char *failure)
{
	unsigned int i;

	put_words(wanted, sizeof(wanted), failure);
	best = *script;
	choices = life_of_script(script, false).choices;
	lives = 1;
	while (pass())
		;
	for (i = 0; i < best.nr; i++)
		simplify_machine(i);
	for (i = 0; i < best.nr; i++)
		best.world[i].machine.most_choices = 0;
	*script = best;
	return lives;
}
