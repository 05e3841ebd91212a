// SPDX-License-Identifier: GPL-2.0
/*
 * Run the unit tests: all, or those whose file or promise the arguments name.
 * Exit status 1 if a test failed, 2 if none ran. A test that starts threads
 * says so in its promise, by which make check-threads chooses.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "../../tap_words.h"
#include "tests/tap.h"

unsigned int tap_failures;
const char *tap_skipped;

static const struct {
	const char *name;
	const struct tap_test *tests;
} files[] = {
#define FILE_ENTRY(name) { #name, name##_tests },
	TAP_FILES(FILE_ENTRY)
};

static atomic_uint threads;	/* that were started in the running test */

/* The linker puts this in the place of pthread_create(). */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*run)(void *), void *context);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*run)(void *), void *context);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*run)(void *), void *context)
{
	threads++;
	return __real_pthread_create(thread, attributes, run, context);
}

int main(int argc, char **argv)
{
	unsigned int number = 0, failed = 0, skipped = 0;
	const struct tap_test *test;
	size_t i;

	(void)argc;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		for (test = files[i].tests; test->run; test++) {
			if (!tap_wanted(argv + 1, files[i].name, test->promise))
				continue;
			tap_failures = 0;
			tap_skipped = NULL;
			threads = 0;
			test->run();
			CHECK(!threads || strstr(test->promise, "thread"),
			      "it starts threads, and does not say so");
			failed += tap_failures != 0;
			skipped += !tap_failures && tap_skipped;
			printf("%sok %u - %s%s%s\n",
			       tap_failures ? "not " : "", ++number,
			       test->promise, tap_skipped ? " # SKIP " : "",
			       tap_skipped ? tap_skipped : "");
		}
	}
	printf("1..%u\n# %u passed, %u failed, %u skipped\n", number,
	       number - failed - skipped, failed, skipped);
	if (!number)
		return 2;
	return failed != 0;
}
