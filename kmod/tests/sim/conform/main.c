// SPDX-License-Identifier: GPL-2.0
/*
 * sim-conform: runs each case of the shim's suites of kunit/ in simulated machines,
 * one seed after the other.
 *
 *     sim-conform [SEEDS [FIRST [CASE]]]
 *
 * Each choice is by chance, the only strategy of the machine that lets every thread go
 * on in the end, as a case that waits for another task wants it.
 *
 * Exit status 1 if an expectation failed, 2 if the arguments are bad.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../machine.h"
#include "conform.h"

/* All static data of the shim and the suite, as they were at the start. */
extern char __start_sim_data[], __stop_sim_data[];

/* Run a case with one seed. Return: the violation, or NULL. */
static const char *run(unsigned int number, sim_u64 seed, const char *pristine)
{
	struct machine_options options = {
		.seed = seed, .cpus = 1 + seed % MACHINE_CPUS,
		.mean = 1U << seed / MACHINE_CPUS % 6,
	};
	struct machine_result result;

	memcpy(__start_sim_data, pristine,
	       (size_t)(__stop_sim_data - __start_sim_data));
	machine_reset(&options);
	result = machine_run(conform_run, &number);
	if (!result.failure && !result.why)
		return MACHINE_HANGS ", and the case has not ended";
	return result.failure;
}

static sim_u64 number_of(const char *text)
{
	char *end;
	sim_u64 number = strtoull(text, &end, 0);

	if (*text && !*end && *text != '-')
		return number;
	fprintf(stderr, "usage: sim-conform [SEEDS [FIRST [CASE]]]\n");
	exit(2);
}

int main(int argc, char **argv)
{
	size_t bytes = (size_t)(__stop_sim_data - __start_sim_data);
	sim_u64 seeds = argc > 1 ? number_of(argv[1]) : 200;
	sim_u64 first = argc > 2 ? number_of(argv[2]) : 1;
	const char *wanted = argc > 3 ? argv[3] : NULL, *name;
	char *pristine = malloc(bytes);
	unsigned int i, failed = 0, cases = 0;

	memcpy(pristine, __start_sim_data, bytes);
	for (i = 0; (name = conform_case(i)); i++) {
		const char *failure = NULL;
		sim_u64 seed;

		if (wanted && strcmp(wanted, name))
			continue;
		cases++;
		for (seed = first; !failure && seed < first + seeds; seed++)
			failure = run(i, seed, pristine);
		if (failure) {
			printf("not ok %s: seed %llu: %s\n", name, seed - 1,
			       failure);
			failed++;
		} else {
			printf("ok %s\n", name);
		}
	}
	free(pristine);
	if (!cases) {
		fprintf(stderr, "sim-conform: no case %s\n", wanted);
		return 2;
	}
	printf("sim-conform: %u cases, %u failed, %llu seeds each\n", cases,
	       failed, seeds);
	return !!failed;
}
