// SPDX-License-Identifier: GPL-2.0
/* Runs the unit tests of the emulated drive. Exit status 1 if one failed. */
#include <stddef.h>
#include <stdint.h>

#include "tap.h"

unsigned int tap_failures;

unsigned int tap_random(unsigned int below)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (unsigned int)(state >> 33) % below;
}

int main(void)
{
	static const struct tap_test *const files[] = {
		touch_tests, store_tests, pace_tests, mechanics_tests,
		model_tests, rows_tests,
	};
	unsigned int n = 0, failed = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		for (const struct tap_test *t = files[i]; t->run; t++) {
			tap_failures = 0;
			t->run();
			failed += tap_failures > 0;
			printf("%sok %u - %s\n", tap_failures ? "not " : "",
			       ++n, t->promise);
			fflush(stdout);
		}
	}
	printf("1..%u\n# %u passed, %u failed\n", n, n - failed, failed);
	return failed > 0;
}
