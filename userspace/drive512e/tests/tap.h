/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unit tests as lines of the Test Anything Protocol.  A test is a function;
 * CHECK() notes a failure and goes on.
 */
#ifndef DRIVE512E_TAP_H
#define DRIVE512E_TAP_H

#include <stdio.h>

extern unsigned int tap_failures;	/* failures of the running test */

/* Note a failure unless @condition holds, with a text as for printf(). */
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

/* Test files: test_<name>.c has <name>_tests[], ended by a NULL @run. */
#define TAP_FILES(X)						\
	X(touch) X(store) X(media) X(cuts) X(pace) X(profile)	\
	X(mechanics) X(model) X(queue) X(ssd) X(drive)

#define TAP_DECLARE(name) extern const struct tap_test name##_tests[];
TAP_FILES(TAP_DECLARE)
#undef TAP_DECLARE

/* Return a pseudo-random number below @below, from a fixed sequence. */
unsigned int tap_random(unsigned int below);

#endif
