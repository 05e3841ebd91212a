// SPDX-License-Identifier: GPL-2.0
/*
 * The program: which sets of requests are searched, in which surroundings, and
 * with --compare what two searches of one set have shown.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "search.h"

#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))

/* What surrounds the requests: rows that are searched each with all sets of requests. */
static const struct setting {
	const char *name;
	struct scenario scenario;
} settings[] = {
	{ "pad", { .modes = { ALIGN_PAD }, .nr_modes = 1, .failures = 1 } },
	{ "coalesce", { .modes = { ALIGN_COALESCE }, .nr_modes = 1, .failures = 1 } },
	{ "two-failures", { .modes = { ALIGN_COALESCE }, .nr_modes = 1, .failures = 2, .drops = 1 } },
	{ "pad-memory", { .modes = { ALIGN_PAD }, .nr_modes = 1, .failures = 1, .memory_changes = 2 } },
	{ "memory", { .modes = { ALIGN_COALESCE }, .nr_modes = 1, .memory_changes = 2 } },
	{ "one-block", { .modes = { ALIGN_COALESCE }, .nr_modes = 1, .failures = 1, .max_blocks = 1 } },
	{ "stream", { .modes = { ALIGN_PAD }, .nr_modes = 1, .failures = 1, .stream = true } },
	{ "no-runs", { .modes = { ALIGN_COALESCE }, .nr_modes = 1, .failures = 1, .max_run = 1 } },
	{ "long-runs", { .modes = { ALIGN_COALESCE }, .nr_modes = 1, .failures = 1, .max_run = 4 } },
	{ "forget", { .modes = { ALIGN_COALESCE }, .nr_modes = 1, .failures = 1, .forgets = 1 } },
	{ "suspend", { .modes = { ALIGN_COALESCE }, .nr_modes = 1, .failures = 1, .suspends = 1, .drops = 1 } },
	{ "pad-suspend", { .modes = { ALIGN_PAD }, .nr_modes = 1, .suspends = 1 } },
	{ "to-pad", { .modes = { ALIGN_COALESCE, ALIGN_PAD }, .nr_modes = 2, .failures = 1 } },
	{ "to-coalesce", { .modes = { ALIGN_PAD, ALIGN_COALESCE }, .nr_modes = 2 } },
	{ "from-report", { .modes = { ALIGN_REPORT, ALIGN_PAD }, .nr_modes = 2, .failures = 1 } },
	{ "over-report", { .modes = { ALIGN_PAD, ALIGN_REPORT, ALIGN_PAD }, .nr_modes = 3 } },
	{ "to-report", { .modes = { ALIGN_COALESCE, ALIGN_REPORT, ALIGN_COALESCE }, .nr_modes = 3 } },
	{ "mode-suspend", { .modes = { ALIGN_COALESCE, ALIGN_PAD }, .nr_modes = 2, .suspends = 1, .failures = 1 } },
};

/* What paths have shown, sorted. */
struct observations {
	struct observation *of;
	size_t nr;
	size_t room;
};

static struct observations observed;

/* By what is seen; @expected comes last. Texts of the same kind are the same text. */
static int compare(const struct observation *one, const struct observation *other)
{
	int order = strcmp(one->what, other->what);

	if (!order)
		order = memcmp(one->value, other->value, sizeof(one->value));
	return order ? order : one->expected - other->expected;
}

static size_t place_of(const struct observations *in, const struct observation *observation)
{
	size_t from = 0, to = in->nr, middle;

	while (from < to) {
		middle = (from + to) / 2;
		if (compare(&in->of[middle], observation) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static void add_observation(const struct observation *observation)
{
	size_t at = place_of(&observed, observation);

	if (at < observed.nr && !compare(&observed.of[at], observation))
		return;
	if (observed.nr == observed.room) {
		observed.room = observed.room ? 2 * observed.room : 64;
		observed.of = renew(observed.of, observed.room, sizeof(*observed.of));
	}
	memmove(&observed.of[at + 1], &observed.of[at], (observed.nr++ - at) * sizeof(*observed.of));
	observed.of[at] = *observation;
}

struct options {
	unsigned int nr_requests;
	unsigned int concurrent;
	int failures;	/* or negative: as the setting says */
	size_t max_states;
	bool setting[ARRAY_SIZE(settings)];
	bool any_setting;
	unsigned int part;
	unsigned int parts;
	unsigned int sample;	/* sets of a setting, drawn; 0: all */
	uint64_t seed;
	bool fine;
	bool compare;
	bool assignments;
	bool terminal;
};

struct totals {
	uint64_t scenarios;
	uint64_t states;
	uint64_t transitions;
	uint64_t most_states;
	uint64_t depth;
	double collisions;
	/* of a comparison */
	uint64_t fine_states;
	uint64_t observations;
	uint64_t violations;
	uint64_t too_large;
};

static double now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec + at.tv_nsec * 1e-9;
}

static struct scenario make_scenario(const struct options *options, size_t setting, const u8 *kind)
{
	struct scenario scenario = settings[setting].scenario;

	scenario.nr_requests = options->nr_requests;
	scenario.concurrent = options->concurrent;
	if (!scenario.max_blocks)
		scenario.max_blocks = 8;
	if (options->failures >= 0)
		scenario.failures = options->failures;
	if (!scenario.max_run)
		scenario.max_run = 2;
	scenario.reduce = !options->fine;
	scenario.fine = !scenario.reduce || scenario.stream;
	memcpy(scenario.kind, kind, options->nr_requests);
	return scenario;
}

static int run_one(const struct options *options, size_t setting, const u8 *kind, struct totals *totals)
{
	struct scenario scenario = make_scenario(options, setting, kind);
	struct result result = search(&scenario, options->max_states, false);

	totals->scenarios++;
	totals->states += result.states;
	totals->transitions += result.transitions;
	totals->collisions += (double)result.states * result.states / 0x1p65;
	if (result.states > totals->most_states)
		totals->most_states = result.states;
	if (result.depth > totals->depth)
		totals->depth = result.depth;
	return result.status;
}

/* Whether it was seen, or was with more expected of it. */
static bool is_among(const struct observation *observation, const struct observations *in)
{
	size_t at;

	for (at = place_of(in, observation); at < in->nr; at++) {
		if (memcmp(in->of[at].value, observation->value, sizeof(observation->value)) ||
		    strcmp(in->of[at].what, observation->what))
			return false;
		if (!(observation->expected & ~in->of[at].expected))
			return true;
	}
	return false;
}

/* Return: how much of what was seen in one way was not in the other. */
static size_t print_missing(const struct scenario *scenario, const char *how, const struct observations *of,
			    const struct observations *in)
{
	size_t missing = 0, i, j;

	for (i = 0; i < of->nr; i++) {
		const struct observation *observation = &of->of[i];

		if (is_among(observation, in))
			continue;
		if (missing++)
			continue;
		printf("DIFFERENCE %s: %s", how, observation->what);
		for (j = 0; j < observation->nr; j++)
			printf(" %u", observation->value[j]);
		printf(" expected %x of ", observation->expected);
		print_scenario(stdout, scenario);
		printf("\n");
	}
	return missing;
}

/* With all reductions and without any. Return: EXIT_VIOLATION, if something shows with one of them only. */
static int compare_one(const struct options *given, size_t setting, const u8 *kind, struct totals *totals)
{
	struct options options = *given;
	struct scenario scenario = make_scenario(&options, setting, kind);
	struct observations reduced;
	struct result result, fine;
	size_t missing;

	observed = (struct observations) { 0 };
	result = search(&scenario, options.max_states, true);
	reduced = observed;
	observed = (struct observations) { 0 };
	options.fine = true;
	scenario = make_scenario(&options, setting, kind);
	fine = search(&scenario, options.max_states, true);
	totals->states += result.states;
	totals->fine_states += fine.states;
	if (fine.status == EXIT_LIMIT || result.status == EXIT_LIMIT) {
		totals->too_large++;
		result.status = EXIT_CLEAN;
		goto out;
	}
	totals->scenarios++;
	totals->observations += observed.nr;
	if (result.status != fine.status) {
		printf("DIFFERENCE: %s with reductions, %s without: ",
		       result.status == EXIT_CLEAN ? "clean" : "a violation",
		       fine.status == EXIT_CLEAN ? "clean" : "a violation");
		print_scenario(stdout, &scenario);
		printf("\n");
		result.status = EXIT_VIOLATION;
	} else if (result.status == EXIT_CLEAN) {
		missing = print_missing(&scenario, "left out", &observed, &reduced);
		missing += print_missing(&scenario, "made up", &reduced, &observed);
		result.status = missing ? EXIT_VIOLATION : EXIT_CLEAN;
	} else {
		totals->violations++;
		result.status = EXIT_CLEAN;
	}
out:
	free(reduced.of);
	free(observed.of);
	observed = (struct observations) { 0 };
	return result.status;
}

/* The next set of requests, as falling numbers of kinds. Return: there is one. */
static bool next_kinds(u8 *kind, unsigned int nr)
{
	unsigned int i, at;

	for (at = nr; at-- > 0;) {
		if (kind[at] + 1U < (at ? kind[at - 1] + 1U : nr_request_kinds)) {
			kind[at]++;
			for (i = at + 1; i < nr; i++)
				kind[i] = 0;
			return true;
		}
	}
	return false;
}

/* A set of requests, as above. Return: there is one. */
static bool draw_kinds(u8 *kind, unsigned int nr, uint64_t *seed)
{
	unsigned int i, at;
	u8 drawn;

	for (i = 0; i < nr; i++) {
		drawn = mix(*seed += 0x9e3779b97f4a7c15) % nr_request_kinds;
		for (at = i; at && kind[at - 1] < drawn; at--)
			kind[at] = kind[at - 1];
		kind[at] = drawn;
	}
	return true;
}

static unsigned int count_kinds(unsigned int nr)
{
	u8 kind[MODEL_REQUESTS] = { 0 };
	unsigned int count = 1;

	while (next_kinds(kind, nr))
		count++;
	return count;
}

/* Where it is: on a terminal always, elsewhere a line a minute. */
static void show_progress(const struct options *options, const char *setting, unsigned int set,
			  unsigned int sets, uint64_t states, double seconds)
{
	static double shown;

	if (!options->terminal && (seconds < 60 || now() - shown < 60))
		return;
	shown = now();
	fprintf(stderr, "%s%-14s set %u of %u, %llu states, %.0f s %s", options->terminal ? "\r" : "", setting,
		set, sets, (unsigned long long)states, seconds, options->terminal ? "" : "\n");
}

static int run_all(const struct options *options, struct totals *totals)
{
	unsigned int sets = count_kinds(options->nr_requests);
	size_t setting;

	for (setting = 0; setting < ARRAY_SIZE(settings); setting++) {
		u8 kind[MODEL_REQUESTS] = { 0 };
		uint64_t states = totals->states;
		double start = now();
		uint64_t too_large = totals->too_large, seed = mix(options->seed) + setting;
		unsigned int nr = 0, done = 0;

		if (options->any_setting && !options->setting[setting])
			continue;
		if (options->sample)
			draw_kinds(kind, options->nr_requests, &seed);
		do {
			int status;

			if (nr++ % options->parts != options->part)
				continue;
			show_progress(options, settings[setting].name, nr, sets, totals->states - states,
				      now() - start);
			status = (options->compare ? compare_one : run_one)(options, setting, kind, totals);
			if (status != EXIT_CLEAN)
				return status;
			done++;
		} while (options->sample ? nr < options->sample && draw_kinds(kind, options->nr_requests, &seed) :
			 next_kinds(kind, options->nr_requests));
		if (options->terminal)
			fprintf(stderr, "\r%70s\r", "");
		too_large = totals->too_large - too_large;
		printf("model: %s: %u requests, %u sets%s, %llu states in %.1f s: clean\n", settings[setting].name,
		       options->nr_requests, done - (unsigned int)too_large, options->compare ? " compared" : "",
		       (unsigned long long)(totals->states - states), now() - start);
		fflush(stdout);
	}
	return EXIT_CLEAN;
}

static void usage(FILE *out)
{
	size_t i;

	fprintf(out, "usage: engine_model [OPTION]... [REQUEST]...\n"
		"Visits all states of a model of the engine for all sets of requests, or one.\n"
		"  --requests=N    requests of a set, 1 to %u (default 3)\n"
		"  --concurrent=N  requests in flight at a time (default 3)\n"
		"  --setting=NAME  what surrounds them (default all; may be given again)\n"
		"  --failures=N    requests that the drive fails in a path (default: as the setting says)\n"
		"  --part=K/N      only each N-th set, from the K-th on (to use several processors)\n"
		"  --break=NAME    with a deliberate fault\n"
		"  --max-states=N  give up a scenario beyond that (default 200000000)\n"
		"  --fine          the finest steps everywhere, and no reduction\n"
		"  --compare       search with and without reductions; a violation is a difference in what reads\n"
		"                  return, the drive writes, a power cut leaves, flushes say, in which state a request\n"
		"                  finds its blocks, how all ends and what the ledger says then, or in whether there\n"
		"                  is a violation; --max-states leaves out what is larger, and counts it\n"
		"  --sample=N      of each setting N sets, drawn\n"
		"  --seed=N        by this (default 1)\n"
		"  --loosen=NAME   without a condition of a reduction\n"
		"  --assignments   print which function has assigned which state, how often\n"
		"  --list          print the names of requests, settings, faults and conditions\n"
		"Exit status: 0 clean, 1 a violation, 2 usage, 3 a limit was reached\n"
		"requests:", MODEL_REQUESTS);
	for (i = 0; i < nr_request_kinds; i++)
		fprintf(out, " %s", request_kinds[i].name);
	fprintf(out, "\nsettings:");
	for (i = 0; i < ARRAY_SIZE(settings); i++)
		fprintf(out, " %s", settings[i].name);
	fprintf(out, "\nfaults:");
	for (i = 0; i < nr_breaks; i++)
		fprintf(out, " %s", break_names[i]);
	fprintf(out, "\nconditions:");
	for (i = 0; i < nr_loose; i++)
		fprintf(out, " %s", loose_names[i]);
	fprintf(out, "\n");
}

static unsigned int number(const char *text, unsigned int from, unsigned int to)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!*text || *end || value < from || value > to) {
		fprintf(stderr, "engine_model: '%s' is no number from %u to %u\n", text, from, to);
		exit(EXIT_USAGE);
	}
	return value;
}

static void no_such(const char *what, const char *name)
{
	fprintf(stderr, "engine_model: there is no %s '%s' (see --list)\n", what, name);
	exit(EXIT_USAGE);
}

static void parse_setting(struct options *options, const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(settings) && strcmp(settings[i].name, name); i++)
		;
	if (i == ARRAY_SIZE(settings))
		no_such("setting", name);
	options->setting[i] = true;
	options->any_setting = true;
}

static unsigned int place_of_name(const char *what, const char *name, const char *const *names, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr && strcmp(names[i], name); i++)
		;
	if (i == nr)
		no_such(what, name);
	return i;
}

static u8 parse_kind(const char *name)
{
	unsigned int i;

	for (i = 0; i < nr_request_kinds && strcmp(request_kinds[i].name, name); i++)
		;
	if (i == nr_request_kinds)
		no_such("request", name);
	return i;
}

static void parse_part(struct options *options, const char *text)
{
	char rest;

	if (sscanf(text, "%u/%u%c", &options->part, &options->parts, &rest) != 2 || !options->part ||
	    options->part > options->parts) {
		fprintf(stderr, "engine_model: '%s' is no K/N with K from 1 to N\n", text);
		exit(EXIT_USAGE);
	}
	options->part--;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "requests", required_argument, NULL, 'r' },
		{ "concurrent", required_argument, NULL, 'c' },
		{ "setting", required_argument, NULL, 's' },
		{ "failures", required_argument, NULL, 'F' },
		{ "part", required_argument, NULL, 'p' },
		{ "break", required_argument, NULL, 'b' },
		{ "max-states", required_argument, NULL, 'm' },
		{ "fine", no_argument, NULL, 'f' },
		{ "compare", no_argument, NULL, 'C' },
		{ "sample", required_argument, NULL, 'S' },
		{ "seed", required_argument, NULL, 'D' },
		{ "loosen", required_argument, NULL, 'l' },
		{ "assignments", no_argument, NULL, 'a' },
		{ "list", no_argument, NULL, 'L' },
		{ NULL }
	};
	struct options options = { .nr_requests = 3, .concurrent = 3, .failures = -1,
				   .max_states = 200000000, .parts = 1, .seed = 1 };
	struct totals totals = { 0 };
	u8 kind[MODEL_REQUESTS];
	struct rusage usage_now;
	double seconds = now();
	double cpu;
	int option, status = EXIT_CLEAN;
	unsigned int i;

	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (option) {
		case 'r':
			options.nr_requests = number(optarg, 1, MODEL_REQUESTS);
			break;
		case 'c':
			options.concurrent = number(optarg, 1, MODEL_REQUESTS);
			break;
		case 's':
			parse_setting(&options, optarg);
			break;
		case 'F':
			options.failures = number(optarg, 0, 255);
			break;
		case 'p':
			parse_part(&options, optarg);
			break;
		case 'b':
			model_break(place_of_name("fault", optarg, break_names, nr_breaks));
			break;
		case 'l':
			model_loosen(place_of_name("condition", optarg, loose_names, nr_loose));
			break;
		case 'm':
			options.max_states = number(optarg, 1, 2000000000);
			break;
		case 'f':
			options.fine = true;
			break;
		case 'C':
			options.compare = true;
			model_observe(add_observation);
			break;
		case 'S':
			options.sample = number(optarg, 1, 1000000);
			break;
		case 'D':
			options.seed = number(optarg, 0, UINT32_MAX);
			break;
		case 'a':
			options.assignments = true;
			break;
		case 'L':
			usage(stdout);
			return EXIT_CLEAN;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (argc - optind > MODEL_REQUESTS) {
		usage(stderr);
		return EXIT_USAGE;
	}
	options.terminal = isatty(STDERR_FILENO);

	if (optind < argc) {
		options.nr_requests = argc - optind;
		for (i = 0; i < options.nr_requests; i++)
			kind[i] = parse_kind(argv[optind + i]);
		for (i = 0; i < ARRAY_SIZE(settings) && status == EXIT_CLEAN; i++)
			if (!options.any_setting || options.setting[i])
				status = (options.compare ? compare_one : run_one)(&options, i, kind, &totals);
	} else {
		status = run_all(&options, &totals);
	}

	seconds = now() - seconds;
	getrusage(RUSAGE_SELF, &usage_now);
	for (i = 0; i < nr_assignments && options.assignments; i++)
		printf("assigned %s %s %llu\n", assignments[i].function, model_state_name(assignments[i].state),
		       (unsigned long long)assignments[i].times);
	if (options.compare)
		printf("compared: sets=%llu violations_in_both=%llu too_large=%llu observations=%llu "
		       "states_without_reductions=%llu\n",
		       (unsigned long long)totals.scenarios, (unsigned long long)totals.violations,
		       (unsigned long long)totals.too_large, (unsigned long long)totals.observations,
		       (unsigned long long)totals.fine_states);
	cpu = usage_now.ru_utime.tv_sec + usage_now.ru_utime.tv_usec * 1e-6;
	printf("%s: scenarios=%llu states=%llu transitions=%llu most_states=%llu depth=%llu seconds=%.1f "
	       "cpu_seconds=%.1f states_per_cpu_second=%.0f memory_mib=%ld hash_omission<%.1e\n",
	       status == EXIT_CLEAN ? "clean" : "NOT CLEAN",
	       (unsigned long long)totals.scenarios, (unsigned long long)totals.states,
	       (unsigned long long)totals.transitions, (unsigned long long)totals.most_states,
	       (unsigned long long)totals.depth, seconds, cpu, totals.states / (cpu > 0 ? cpu : 1),
	       usage_now.ru_maxrss / 1024, totals.collisions);
	return status;
}
