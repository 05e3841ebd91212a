/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One line per test, in the form of the Test Anything Protocol.  A test is a
 * function; CHECK() records a failed condition and goes on.
 */
#ifndef DRIVE512E_TAP_H
#define DRIVE512E_TAP_H

#include <stdio.h>

extern unsigned int tap_failures;	/* of the running test */

/* Record a failure unless @condition holds; the rest is printf()'s arguments. */
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

/* The test files: test_<name>.c has <name>_tests[], ended by an entry without a function. */
#define TAP_FILES(X)						\
	X(touch) X(store) X(pace) X(mechanics) X(model) X(rows)

#define TAP_DECLARE(name) extern const struct tap_test name##_tests[];
TAP_FILES(TAP_DECLARE)
#undef TAP_DECLARE

/* The same numbers in every run. */
unsigned int tap_random(unsigned int below);

#endif
