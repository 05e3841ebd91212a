/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One line per test, in the form of the Test Anything Protocol.  A test is a
 * function; CHECK() notes what did not hold and goes on.
 */
#ifndef DRIVE512E_TAP_H
#define DRIVE512E_TAP_H

#include <stdio.h>

extern unsigned int tap_failures;	/* of the running test */

/* Notes a failure unless @condition holds; what follows is a printf(). */
#define CHECK(condition, ...)						\
	do {								\
		if (!(condition) && tap_failures++ < 10) {		\
			printf("# %s:%d: %s: ", __FILE__, __LINE__,	\
			       #condition);				\
			printf(__VA_ARGS__);				\
			printf("\n");					\
		}							\
	} while (0)

struct tap_test {
	const char *promise;
	void (*run)(void);
};

/* The tests of each file, ended by an entry without a function. */
extern const struct tap_test touch_tests[];
extern const struct tap_test store_tests[];
extern const struct tap_test pace_tests[];
extern const struct tap_test mechanics_tests[];
extern const struct tap_test model_tests[];
extern const struct tap_test rows_tests[];

/* The same numbers in every run. */
unsigned int tap_random(unsigned int below);

#endif
