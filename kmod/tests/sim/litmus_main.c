// SPDX-License-Identifier: GPL-2.0
/*
 * sim-litmus: runs each litmus test, or one, many times on the simulated machine, each
 * run from a seed of its own, and prints a table: the test, whether the kernel's
 * memory model allows the outcome that it looks for, and in how many runs that was
 * seen.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "litmus.h"
#include "world.h"

/* A test that must show and has not is run so many times as often. */
#define PATIENCE	20U

/* All static data of the simulated kernel, as they were at the start. */
extern char __start_sim_data[], __stop_sim_data[];
static char *pristine;

/* A litmus test counts nothing. */
struct world_count world_count;

sim_u64 litmus_r[LITMUS_PROCESSES][4];

static void process(void *argument)
{
	void (*run)(void) = *(void (**)(void))argument;
	unsigned int wait = machine_choose(8);

	while (wait--)
		machine_bare_point();
	run();
}

static void first(void *argument)
{
	struct litmus *test = argument;
	unsigned int i;

	litmus_begin();
	litmus_engine_begin();
	for (i = 0; i < LITMUS_PROCESSES && test->process[i]; i++)
		machine_start(CONTEXT_TASK, "process", process,
			      &test->process[i]);
}

/* Run a test, more often if it must show and has not. Return: the number of runs. */
static unsigned int run(const struct litmus *test, sim_u64 seed, unsigned int runs,
			unsigned int *seen)
{
	struct litmus copy = *test;
	unsigned int i;

	*seen = 0;
	for (i = 0; i < runs ||
	     (test->modelled && !*seen && i < PATIENCE * runs); i++) {
		struct machine_options options = {
			.seed = seed + i, .cpus = MACHINE_CPUS,
			.mean = 1U << i % 3,
		};
		struct machine_result result;

		memset(litmus_r, 0, sizeof(litmus_r));
		memcpy(__start_sim_data, pristine,
		       (size_t)(__stop_sim_data - __start_sim_data));
		machine_reset(&options);
		result = machine_run(first, &copy);
		if (result.failure) {
			printf("%s: %s\n", test->name, result.failure);
			exit(1);
		}
		*seen += test->seen();
	}
	return i;
}

static void tell(const struct litmus *test, sim_u64 seed, unsigned int runs)
{
	unsigned int seen, done = run(test, seed, runs, &seen);

	printf("%-52s %-9s %-8s %u of %u\n", test->name,
	       test->sometimes ? "Sometimes" : "Never",
	       test->modelled || !test->sometimes ? "" : "left out", seen,
	       done);
}

/* Tell of the tests of a list that have the name, or of all if there is none. */
static unsigned int tell_each(const struct litmus *tests, unsigned int nr, const char *name,
			      sim_u64 seed, unsigned int runs)
{
	unsigned int i, told = 0;

	for (i = 0; i < nr; i++) {
		if (name && strcmp(tests[i].name, name))
			continue;
		tell(&tests[i], seed, runs);
		told++;
	}
	return told;
}

/* Usage: sim-litmus [SEED [RUNS [NAME]]] */
int main(int argc, char **argv)
{
	sim_u64 seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	unsigned int runs = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 0) :
			    10000, told;
	const char *name = argc > 3 ? argv[3] : NULL;

	pristine = malloc((size_t)(__stop_sim_data - __start_sim_data));
	memcpy(pristine, __start_sim_data,
	       (size_t)(__stop_sim_data - __start_sim_data));
	told = tell_each(litmus_tests, litmus_nr, name, seed, runs);
	told += tell_each(litmus_engine_tests, litmus_engine_nr, name, seed, runs);
	return told ? 0 : 2;
}
