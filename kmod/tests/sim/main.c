// SPDX-License-Identifier: GPL-2.0
/*
 * sim: runs the engine in simulated worlds, one seed after the other.
 *
 * A seed is a life: a plan, a world that runs it, maybe a cut of the power, and
 * the next world on the same medium, a few times. The oracle judges a life while it
 * runs, at each cut and at its end.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "accesses.h"
#include "bounds.h"
#include "life.h"
#include "media.h"
#include "plan.h"
#include "script.h"
#include "sets.h"
#include "shrink.h"
#include "states.h"
#include "timeline.h"

/* Lines of the story to print of each world; 0: all. */
static size_t story_lines;

static const char *const focus_names[] = { "none", "drops", "memory", "reads",
					   "flood", "allocations", "gate",
					   "quiet", "tables", "changes",
					   "targets", "files", "scenes", "bounds", "layer", "reclaim", "logical" };
static const char *const strategy_names[] = { "random", "pct", "mixed" };

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static sim_u64 number(const char *name, const char *text)
{
	char *end;
	sim_u64 found = strtoull(text, &end, 0);

	if (*text && !*end)
		return found;
	fprintf(stderr, "sim: --%s %s: must be a whole number\n", name, text);
	exit(2);
}

static unsigned int name(const char *option, const char *text,
			 const char *const *names, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!strcmp(text, names[i]))
			return i;
	fprintf(stderr, "sim: --%s %s: must be one of", option, text);
	for (i = 0; i < nr; i++)
		fprintf(stderr, " %s", names[i]);
	fputc('\n', stderr);
	exit(2);
}

static void say_choice(const char *option, const char *const *names,
		       unsigned int nr)
{
	unsigned int i;

	fprintf(stderr, " [--%s", option);
	for (i = 0; i < nr; i++)
		fprintf(stderr, "%c%s", i ? '|' : ' ', names[i]);
	fputc(']', stderr);
}

/* Print the usage, and exit. */
static _Noreturn void usage(void)
{
	fputs("usage: sim [--seed N] [--seconds N | --lives N] [--story [--lines N]] [--hash] [--tears]", stderr);
	say_choice("focus", focus_names, FOCUS_KINDS);
	say_choice("strategy", strategy_names, LIFE_STRATEGIES);
	fputs(" [--output FILE]\n"
	      "       sim --seed N --shrink [--output FILE]\n"
	      "       sim --plan FILE [--story [--lines N]] [--shrink] [--output FILE]\n"
	      "       sim --exhaustive[=LENGTH] [--few | --set \"OPERATION ...\"] [--mode report|pad|coalesce] [--with error|no-memory|one-block] [--part I/N] [--most N] [--list]\n"
	      "           [--sleep | --full] [--loose] [--replay]\n"
	      "       sim --scenario NAME|all [--most N]\n", stderr);
	exit(2);
}

/* As the options have it. */
static struct {
	sim_u64 seed, lives, limit;
	bool story, hash, shrinks, tears;
	const char *plan, *output;
	bool exhaustive;
	struct sets_wanted sets;
} asked = { .seed = 1, .sets = { .length = 3, .parts = 1 } };

static void tell(void)
{
	machine_tell(stdout, story_lines);
}

static void read_plan(struct life_script *script)
{
	FILE *file = fopen(asked.plan, "r");
	const char *wrong;
	unsigned int line;

	if (!file) {
		perror(asked.plan);
		exit(2);
	}
	wrong = script_read(file, script, &line);
	fclose(file);
	if (!wrong)
		return;
	fprintf(stderr, "sim: %s, line %u: %s\n", asked.plan, line, wrong);
	exit(2);
}

static void write_plan(const struct life_script *script, const char *name)
{
	FILE *file = fopen(name, "w");

	if (!file) {
		perror(name);
		exit(2);
	}
	script_write(file, script);
	fclose(file);
}

static const struct world_plan *timed_plan;

/* The last machine that ends is told: the violation is in it. */
static void tell_timeline(void)
{
	timeline_write(stdout, timed_plan);
}

/* Print the requests of a script, its events, and the time line of the end. */
static void explain(struct life_script *script)
{
	const struct world_plan *plan = &script->world[script->nr - 1].plan;
	unsigned int i;

	for (i = 0; i < plan->nr_ops; i++) {
		printf("  thread %u: ", plan->op[i].thread);
		timeline_op(stdout, &plan->op[i]);
		putchar('\n');
	}
	for (i = 0; i < plan->nr_events; i++)
		printf("  administrator: %s\n", script_events[plan->event[i]]);
	putchar('\n');
	timed_plan = plan;
	life_told = tell_timeline;
	life_of_script(script, true);
	life_told = tell;
}

/* Shrink a script that has shown a violation, write it, and print it. */
static void make_small(struct life_script *script, const char *failure)
{
	char name[64], was[1024];
	const char *output = asked.output;
	unsigned int before = shrink_size(script);
	double began = seconds();
	struct life life;
	sim_u64 lives;

	snprintf(was, sizeof(was), "%s", failure);
	snprintf(name, sizeof(name), "seed-%llu.plan", asked.seed);
	lives = shrink(script, was);
	if (!output)
		output = name;
	write_plan(script, output);
	printf("shrunk from %u requests and events to %u, %u worlds, by %llu lives in %.1f s\n\n",
	       before, shrink_size(script), script->nr, lives,
	       seconds() - began);
	explain(script);
	life = life_of_script(script, false);
	printf("\n%s\nagain: sim --plan %s\n", life.failure, output);
}

static void parse(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "seed", required_argument, NULL, 'n' },
		{ "seconds", required_argument, NULL, 's' },
		{ "lives", required_argument, NULL, 'l' },
		{ "story", no_argument, NULL, 't' },
		{ "lines", required_argument, NULL, 'i' },
		{ "hash", no_argument, NULL, 'h' },
		{ "tears", no_argument, NULL, 'r' },
		{ "focus", required_argument, NULL, 'f' },
		{ "strategy", required_argument, NULL, 'y' },
		{ "shrink", no_argument, NULL, 'k' },
		{ "plan", required_argument, NULL, 'p' },
		{ "output", required_argument, NULL, 'o' },
		{ "exhaustive", optional_argument, NULL, 'x' },
		{ "few", no_argument, NULL, 'w' },
		{ "list", no_argument, NULL, 'b' },
		{ "part", required_argument, NULL, 'a' },
		{ "most", required_argument, NULL, 'm' },
		{ "set", required_argument, NULL, 'e' },
		{ "scenario", required_argument, NULL, 'c' },
		{ "mode", required_argument, NULL, 'd' },
		{ "with", required_argument, NULL, 'g' },
		{ "full", no_argument, NULL, 'u' },
		{ "loose", no_argument, NULL, 'q' },
		{ "sleep", no_argument, NULL, 'z' },
		{ "replay", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (option) {
		case 'n':
			asked.seed = number("seed", optarg);
			break;
		case 's':
			asked.limit = number("seconds", optarg);
			break;
		case 'l':
			asked.lives = number("lives", optarg);
			break;
		case 't':
			asked.story = true;
			break;
		case 'i':
			story_lines = (size_t)number("lines", optarg);
			break;
		case 'h':
			asked.hash = true;
			break;
		case 'r':
			asked.tears = true;
			break;
		case 'f':
			plan_focus = name("focus", optarg, focus_names,
					  FOCUS_KINDS);
			break;
		case 'y':
			life_strategy = name("strategy", optarg, strategy_names,
					     LIFE_STRATEGIES);
			break;
		case 'k':
			asked.shrinks = true;
			break;
		case 'p':
			asked.plan = optarg;
			break;
		case 'o':
			asked.output = optarg;
			break;
		case 'x':
			asked.exhaustive = true;
			if (optarg)
				asked.sets.length =
					(unsigned int)number("exhaustive",
							     optarg);
			break;
		case 'b':
			asked.sets.list = true;
			break;
		case 'w':
			asked.sets.few = true;
			break;
		case 'a':
			if (sscanf(optarg, "%u/%u", &asked.sets.part,
				   &asked.sets.parts) != 2)
				asked.sets.parts = 0;
			break;
		case 'm':
			asked.sets.most = number("most", optarg);
			break;
		case 'e':
			asked.sets.set = optarg;
			break;
		case 'c':
			asked.exhaustive = true;
			asked.sets.scenario = optarg;
			break;
		case 'd':
			asked.sets.mode = optarg;
			break;
		case 'g':
			asked.sets.with = optarg;
			break;
		case 'u':
			exhaustive_reduction = BY_NOTHING;
			break;
		case 'z':
			exhaustive_reduction = BY_SLEEP;
			break;
		case 'v':
			exhaustive_replays = true;
			break;
		case 'q':
			accesses_loose = true;
			states_loose = true;
			break;
		default:
			usage();
		}
	}
	if ((!asked.limit && !asked.lives) || asked.plan)
		asked.lives = 1;
}

/* Live a seed, or the plan. Return: it broke a promise. */
static bool live(sim_u64 seed, sim_u64 *cuts)
{
	static struct life_script script;
	struct life life;

	if (asked.plan) {
		read_plan(&script);
		life = life_of_script(&script, asked.story);
	} else {
		life = life_of_seed(seed, &script, asked.story);
	}
	*cuts += life.cuts;
	if (asked.hash)
		printf("%" PRIu64 " %016llx\n", (uint64_t)seed, life.hash);
	if (asked.output && !asked.shrinks)
		write_plan(&script, asked.output);
	if (!life.failure)
		return false;
	if (asked.plan)
		printf("plan %s: %s\n", asked.plan, life.failure);
	else
		printf("seed %llu: %s\n", seed, life.failure);
	if (asked.shrinks) {
		asked.seed = seed;
		make_small(&script, life.failure);
	}
	return true;
}

int main(int argc, char **argv)
{
	sim_u64 done, cuts = 0, violations = 0;
	bool progress = isatty(STDERR_FILENO);
	double began = seconds(), told = began, took;

	parse(argc, argv);
	life_init();
	if (asked.exhaustive) {
		int status;

		if (!exhaustive_can(exhaustive_reduction)) {
			fputs("sim: this build does not see what the reduction needs\n",
			      stderr);
			return 2;
		}
		status = sets_search(&asked.sets);
		if (status == 2)
			fputs("sim: --exhaustive: no such length, set, scenario, part or circumstance\n",
			      stderr);
		return status;
	}
	life_told = tell;
	for (done = 0; !violations && (!asked.lives || done < asked.lives) &&
	     (!asked.limit || seconds() - began < (double)asked.limit); done++) {
		if (progress && seconds() - told > 1) {
			told = seconds();
			fprintf(stderr, "\rsim: seed %llu, %llu operations, %llu cuts ",
				asked.seed + done, world_count.ops, cuts);
		}
		violations += live(asked.seed + done, &cuts);
	}
	if (progress)
		fputs("\r\033[K", stderr);
	took = seconds() - began;
	if (asked.tears)
		printf("tears: %u of 256 masks\n", media_masks());
	bounds_tell();
	printf("sim: %llu operations, %llu cuts, %llu violations, %.0f operations/s\n",
	       world_count.ops, cuts, violations,
	       (double)world_count.ops / (took > 0 ? took : 1));
	return violations ? 1 : 0;
}
