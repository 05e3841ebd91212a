// SPDX-License-Identifier: GPL-2.0
/*
 * drive512e-clock: the drive model on a virtual clock, driven by lines of text
 * (lines.h).
 *
 *   drive512e-clock PARAMETER... [noise=PERCENT] [seed=N]
 *   drive512e-clock profiles
 *
 * With noise each time is multiplied by a normally distributed factor of mean 1
 * and this standard deviation, from a generator that seed= starts. The host
 * sees an answer after that time, but never before the drive has answered, and
 * sends its next request then. Equal input gives equal output.
 *
 * The second form prints the profiles that have a model of a drive, each as
 * "NAME KIND CAPACITY BLOCK BOUNDARY ABOUT": disk or flash, its bytes (0: any),
 * the bytes of a block, the byte at which the first whole one starts, and a line
 * for people.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "virtual.h"

#define NOISE_MAX	50.0

/* What the parameters say of the clock. */
static double noise;
static uint64_t seed;

/* Print each profile that has a model. */
static void print_profiles(void)
{
	for (const struct profile *const *at = profiles, *p; (p = *at); at++) {
		const char *kind = p->kind == PROFILE_MECHANICAL ? "disk" :
				   p->kind == PROFILE_FLASH ? "flash" : NULL;

		if (kind)
			printf("%s %s %" PRIu64 " %" PRIu32 " %" PRIu32 " %s\n",
			       p->name, kind, p->capacity,
			       p->blocks.physical ?: 4096, p->blocks.alignment,
			       p->about);
	}
}

static bool take_parameter(const char *name, const char *value)
{
	char *end;

	if (strcmp(name, "seed") == 0) {
		if (!lines_take_number(&value, UINT64_MAX, &seed) ||
		    *value)
			lines_die("seed", "give a whole number");
		return true;
	}
	if (strcmp(name, "noise") != 0)
		return false;
	noise = strtod(value, &end) / 100;
	if (end == value || *end || !(noise >= 0) || noise > NOISE_MAX / 100)
		lines_die("noise", "give a percentage from 0 to 50");
	return true;
}

int main(int argc, char **argv)
{
	struct model_config config;
	struct model *model;
	struct clock clock;

	if (argc == 2 && strcmp(argv[1], "profiles") == 0) {
		print_profiles();
		return 0;
	}
	config = lines_configure(argv + (argc > 0), take_parameter);
	model = model_new(&config);
	if (!model)
		lines_die("model", "no memory");
	clock_init(&clock, model);
	clock.noise = noise;
	clock.seed = seed;
	lines_obey(&clock.host, &config);
	model_free(model);
	return 0;
}
