// SPDX-License-Identifier: GPL-2.0
/*
 * Run the unit tests of the emulated drive: all, or the ones that the arguments
 * name by file or by a part of the promise. Exit status 1 if one failed, 2 if
 * none ran.
 */
#include <stddef.h>
#include <stdint.h>

#include "../../tap_words.h"
#include "tap.h"

unsigned int tap_failures;

unsigned int tap_random(unsigned int below)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (unsigned int)(state >> 33) % below;
}

static const struct {
	const char *name;
	const struct tap_test *tests;
} files[] = {
#define FILE_ENTRY(name) { #name, name##_tests },
	TAP_FILES(FILE_ENTRY)
};

int main(int argc, char **argv)
{
	unsigned int n = 0, failed = 0;

	(void)argc;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		for (const struct tap_test *t = files[i].tests; t->run; t++) {
			if (!tap_wanted(argv + 1, files[i].name, t->promise))
				continue;
			tap_failures = 0;
			t->run();
			failed += tap_failures > 0;
			printf("%sok %u - %s\n", tap_failures ? "not " : "",
			       ++n, t->promise);
			fflush(stdout);
		}
	}
	printf("1..%u\n# %u passed, %u failed\n", n, n - failed, failed);
	if (!n)
		return 2;
	return failed > 0;
}
