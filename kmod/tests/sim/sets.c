// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "accesses.h"
#include "script.h"
#include "sets.h"
#include "timeline.h"

#define BLOCK		8
#define MOST_LENGTH	6U

/* Operations on two neighbouring blocks; those of the short list come first. */
static const struct operation {
	const char *name;
	enum { REQUEST, EVENT, CUT } is;
	unsigned char kind;
	unsigned char first, nr;
} operations[] = {
	{ "partial", REQUEST, OP_WRITE, 2, 3 },
	{ "whole", REQUEST, OP_WRITE, 0, BLOCK },
	{ "read", REQUEST, OP_READ, 0, 2 * BLOCK },
	{ "flush", REQUEST, OP_FLUSH, 0, 0 },
	{ "cut", CUT, 0, 0, 0 },
	{ "two-block", REQUEST, OP_WRITE, 4, BLOCK },
	{ "fua", REQUEST, OP_FUA, 3, 3 },
	{ "discard", REQUEST, OP_DISCARD, 0, BLOCK },
	{ "zeroes", REQUEST, OP_ZEROES, 1, 3 },
	{ "suspend", EVENT, EVENT_SUSPEND, 0, 0 },
	{ "mode", EVENT, EVENT_MODE, 0, 0 },
	/* Only of sets that are asked for by name. */
	{ "right", REQUEST, OP_WRITE, BLOCK + 2, 3 },
	{ "end", REQUEST, OP_WRITE, 6, 2 },
	{ "zero-all", REQUEST, OP_ZEROES, 0, BLOCK },
};

#define NAMED	(sizeof(operations) / sizeof(operations[0]))
#define ALL	11U
#define FEW	5U

/*
 * Known races by name. The first six are of a write of a whole block, or of a discard
 * or zeroes, with content that is cached or read around it: dm-ebs loses both. The
 * rest are the interleavings of qemu's iotest 077: read-modify-writes that overlap
 * each other, aligned writes, and each other in a chain.
 */
static const struct scenario {
	const char *name, *mode, *set;
} scenarios[] = {
	{ "write-then-cached-read", "pad", "partial+whole+end read" },
	{ "write-under-rmw", "pad", "partial whole" },
	{ "discard-then-cached-read", "pad", "partial+discard+end read" },
	{ "discard-under-rmw", "coalesce", "partial discard" },
	{ "zeroes-then-cached-read", "pad", "partial+zero-all+end read" },
	{ "zeroes-under-rmw", "pad", "partial zero-all" },
	{ "rmw-beside-rmw", "pad", "partial end" },
	{ "rmw-behind-rmw", "pad", "partial+end fua" },
	{ "rmw-of-two-blocks", "pad", "two-block partial" },
	{ "aligned-beside-two-blocks", "pad", "whole two-block" },
	{ "chained-rmws", "pad", "partial two-block right" },
};

#define SCENARIOS	(sizeof(scenarios) / sizeof(scenarios[0]))

/* Circumstances: a failing request or allocation, at any moment, or little room. */
static const struct circumstance {
	const char *name;
	unsigned int error_one_in, nowait_one_in, max_blocks;
} circumstances[] = {
	{ "nothing", 0, 0, 64 },
	{ "error", 1, 0, 64 },
	{ "no-memory", 0, 1, 64 },
	{ "one-block", 0, 0, 1 },
};

#define CIRCUMSTANCES	(sizeof(circumstances) / sizeof(circumstances[0]))

static const struct circumstance *with = circumstances;

static const char *const reductions[] = { "states", "sleep sets", "none" };
static const char *const modes[] = { "report", "pad", "coalesce" };

static struct life_script script;
/* Whether an operation of a named set waits for the one before it. */
static bool follows[MOST_LENGTH];
static struct exhaustive_count total;
static unsigned int searched, given_up;

static void add(struct world_plan *plan, const struct operation *operation,
		bool behind)
{
	struct world_op *op;

	switch (operation->is) {
	case REQUEST:
		op = &plan->op[plan->nr_ops];
		memset(op, 0, sizeof(*op));
		op->thread = plan->nr_ops ? op[-1].thread + !behind : 0;
		op->wait = true;
		plan->nr_ops++;
		op->kind = operation->kind;
		op->first = operation->first;
		op->nr = operation->nr;
		op->pieces = 1;
		break;
	case EVENT:
		plan->event[plan->nr_events++] = operation->kind;
		break;
	case CUT:
		plan->power = true;
		break;
	}
}

static void make_script(const unsigned int *set, unsigned int length,
			unsigned int mode)
{
	struct world_plan *plan = &script.world[0].plan;
	unsigned int i;

	memset(&script.world[0], 0, sizeof(script.world[0]));
	script.nr = 1;
	script.world[0].machine = (struct machine_options) {
		.cpus = 1, .mean = 1, .depth = 1, .steps = 1,
	};
	*plan = (struct world_plan) {
		.physical = 512 * BLOCK, .sectors = 2 * BLOCK, .mode = mode,
		.max_blocks = with->max_blocks, .hold_ms = 500,
		.error_one_in = with->error_one_in,
		.nowait_one_in = with->nowait_one_in, .max_sectors = 2048,
		.zeroes = 1024, .workers = 2, .tags = 256, .depth = 16,
	};
	for (i = 0; i < length; i++)
		add(plan, &operations[set[i]], follows[i]);
	plan->threads = plan->nr_ops ?
			plan->op[plan->nr_ops - 1].thread + 1U : 1;
}

static void print_set(FILE *file, const unsigned int *set, unsigned int length,
		      unsigned int mode)
{
	unsigned int i;

	for (i = 0; i < length; i++)
		fprintf(file, "%s%s", !i ? "" : follows[i] ? "+" : " ",
			operations[set[i]].name);
	fprintf(file, " in mode %s", modes[mode]);
}

static void tell(void)
{
	timeline_write(stdout, &script.world[0].plan);
}

/* Search a set. Return: it breaks a promise. */
static bool search_set(const unsigned int *set, unsigned int length,
		       unsigned int mode, const struct sets_wanted *wanted)
{
	struct exhaustive_count count;
	const char *failure;

	make_script(set, length, mode);
	failure = exhaustive_search(&script, wanted->most, &count);
	searched++;
	given_up += count.given_up;
	total.orders += count.orders;
	total.lived += count.lived;
	total.same += count.same;
	total.states += count.states;
	total.circles += count.circles;
	total.choices += count.choices;
	total.cut_off += count.cut_off;
	total.outcomes += count.outcomes;
	total.outcome += count.outcome;
	if (wanted->set) {
		print_set(stdout, set, length, mode);
		printf(": %.0f orders, %llu outcomes, %016llx\n",
		       count.orders, count.outcomes, count.outcome);
	}
	if (!failure)
		return false;
	print_set(stdout, set, length, mode);
	printf(", order %llu: %s\n", count.lived + count.same, failure);
	life_told = tell;
	script.world[0].machine.keep_story = true;
	exhaustive_again(&script);
	return true;
}

/* Without a change of the mode, report makes no request of its own. */
static bool is_wanted(const unsigned int *set, unsigned int length,
		      unsigned int mode, const struct sets_wanted *wanted)
{
	unsigned int i;

	if (wanted->mode)
		return !strcmp(wanted->mode, modes[mode]);
	for (i = 0; i < length && !mode; i++)
		if (!strcmp(operations[set[i]].name, "mode"))
			return true;
	return mode;
}

/* Cuts after the first change nothing. */
static bool cuts_twice(const unsigned int *set, unsigned int length)
{
	unsigned int i, cuts = 0;

	for (i = 0; i < length; i++)
		cuts += operations[set[i]].is == CUT;
	return cuts > 1;
}

static bool search_modes(const unsigned int *set, unsigned int length,
			 unsigned int *number, const struct sets_wanted *wanted)
{
	unsigned int mode;

	for (mode = 0; mode < 3; mode++) {
		if (!is_wanted(set, length, mode, wanted) ||
		    (*number)++ % wanted->parts != wanted->part)
			continue;
		if (wanted->list) {
			print_set(stdout, set, length, mode);
			putchar('\n');
		} else if (search_set(set, length, mode, wanted)) {
			return true;
		}
	}
	return false;
}

/* All sets: one order of their names, as all orders of the operations are searched. */
static bool search_all(const struct sets_wanted *wanted)
{
	unsigned int set[MOST_LENGTH] = { 0 }, nr = wanted->few ? FEW : ALL;
	unsigned int number = 0, at = wanted->length, i;

	for (;;) {
		if (!cuts_twice(set, wanted->length) &&
		    search_modes(set, wanted->length, &number, wanted))
			return true;
		if (!wanted->list && isatty(STDERR_FILENO))
			fprintf(stderr, "\rsim: %u sets, %.0f orders ", searched,
				total.orders);
		for (at = wanted->length; at-- && set[at] == nr - 1;)
			;
		if (at == ~0U)
			return false;
		set[at]++;
		for (i = at + 1; i < wanted->length; i++)
			set[i] = set[at];
	}
}

/* Read "one+behind other": words by "+" are sent by one thread, one after the other. */
static unsigned int read_set(const char *names, unsigned int *set)
{
	unsigned int nr = 0, i;
	size_t length;
	bool behind = false;

	for (; *names; names += length + !!names[length]) {
		length = strcspn(names, " +");
		for (i = 0; i < NAMED; i++)
			if (strlen(operations[i].name) == length &&
			    !strncmp(names, operations[i].name, length))
				break;
		if (i == NAMED || nr == MOST_LENGTH)
			return 0;
		follows[nr] = behind;
		set[nr++] = i;
		behind = names[length] == '+';
	}
	return nr;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Search all scenarios, or one. Return: 0, 1: a violation, 2: there is none such. */
static int search_scenarios(const struct sets_wanted *wanted)
{
	unsigned int set[MOST_LENGTH], i, length, number = 0, searches = 0;
	struct sets_wanted one = { .parts = 1, .most = wanted->most };
	bool failed = false;

	for (i = 0; i < SCENARIOS && !failed; i++) {
		if (strcmp(wanted->scenario, "all") &&
		    strcmp(wanted->scenario, scenarios[i].name))
			continue;
		searches++;
		printf("%s: ", scenarios[i].name);
		one.set = scenarios[i].set;
		one.mode = scenarios[i].mode;
		length = read_set(one.set, set);
		failed = search_modes(set, length, &number, &one);
	}
	return !searches ? 2 : failed;
}

static bool read_with(const char *name)
{
	unsigned int i;

	for (i = 0; i < CIRCUMSTANCES; i++) {
		with = &circumstances[i];
		if (!name || !strcmp(name, with->name))
			return true;
	}
	return false;
}

int sets_search(const struct sets_wanted *wanted)
{
	unsigned int set[MOST_LENGTH], length, number = 0;
	double began = seconds();
	int failed;

	if (!wanted->parts || wanted->part >= wanted->parts ||
	    !wanted->length || wanted->length > MOST_LENGTH ||
	    !read_with(wanted->with))
		return 2;
	if (wanted->scenario) {
		failed = search_scenarios(wanted);
		if (failed == 2)
			return 2;
	} else if (wanted->set) {
		length = read_set(wanted->set, set);
		if (!length)
			return 2;
		failed = search_modes(set, length, &number, wanted);
	} else {
		failed = search_all(wanted);
	}
	if (wanted->list)
		return failed;
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	printf("exhaustive: %u sets, %.0f orders, %llu lived to the end, %llu given up as the same as another, %llu states, %llu choices, %llu outcomes, %llu circles, %llu cut off, %u sets not to the end, reduction %s, %.1f s\n",
	       searched, total.orders, total.lived, total.same, total.states,
	       total.choices, total.outcomes, total.circles, total.cut_off,
	       given_up, reductions[exhaustive_reduction], seconds() - began);
	return failed;
}
