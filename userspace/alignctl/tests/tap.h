/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unit tests as lines of the Test Anything Protocol. A test is a function;
 * CHECK() notes what did not hold and goes on.
 */
#ifndef ALIGNCTL_TAP_H
#define ALIGNCTL_TAP_H

#include <stdio.h>

extern unsigned int tap_failures;	/* of the running test */
extern const char *tap_skipped;		/* why it cannot run here, or NULL */

/* Notes a failure unless @condition holds; what follows is for printf(). */
#define CHECK(condition, ...)						\
	do {								\
		if (!(condition)) {					\
			tap_failures++;					\
			printf("# %s:%d: %s: ", __FILE__, __LINE__,	\
			       #condition);				\
			printf(__VA_ARGS__);				\
			putchar('\n');					\
		}							\
	} while (0)

struct tap_test {
	const char *promise;
	void (*run)(void);
};

/* The tests of each file, ended by one without a function. */
extern const struct tap_test permutation_tests[];
extern const struct tap_test plan_tests[];
extern const struct tap_test pattern_tests[];
extern const struct tap_test latency_tests[];
extern const struct tap_test message_tests[];
extern const struct tap_test nearest_tests[];
extern const struct tap_test options_tests[];
extern const struct tap_test status_tests[];
extern const struct tap_test kernel_log_tests[];
extern const struct tap_test record_tests[];
extern const struct tap_test module_tests[];
extern const struct tap_test device_tests[];
extern const struct tap_test guard_tests[];
extern const struct tap_test ledger_tests[];
extern const struct tap_test io_queue_tests[];
extern const struct tap_test replay_tests[];
extern const struct tap_test histogram_tests[];
extern const struct tap_test order_tests[];
extern const struct tap_test arrivals_tests[];
extern const struct tap_test decimal_tests[];
extern const struct tap_test placement_tests[];
extern const struct tap_test engine_tests[];
extern const struct tap_test trace_tests[];
extern const struct tap_test trace_recording_tests[];
extern const struct tap_test trace_iolog_tests[];
extern const struct tap_test trace_blktrace_tests[];
extern const struct tap_test forecast_tests[];
extern const struct tap_test source_tests[];
extern const struct tap_test buffered_tests[];

#endif
