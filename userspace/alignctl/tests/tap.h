/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unit tests as lines of the Test Anything Protocol. A test is a function;
 * CHECK() notes a failure and goes on.
 */
#ifndef ALIGNCTL_TAP_H
#define ALIGNCTL_TAP_H

#include <stdio.h>

extern unsigned int tap_failures;	/* failures of the running test */
extern const char *tap_skipped;		/* why it cannot run here, or NULL */

/* Note a failure unless @condition holds, with a text as for printf(). */
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

/* Test files: test_<name>.c has <name>_tests[], ended by a NULL @run. */
#define TAP_FILES(X)						\
	X(permutation) X(plan) X(pattern) X(latency) X(options)		\
	X(status) X(kernel_log) X(record) X(module) X(device)		\
	X(guard) X(ledger) X(io_queue) X(replay) X(histogram)		\
	X(order) X(placement) X(engine) X(trace) X(trace_recording)	\
	X(trace_iolog) X(trace_blktrace) X(trace_rows) X(trace_vscsi)	\
	X(trace_unpack) X(trace_letters) X(trace_ftrace) X(forecast)	\
	X(moves) X(changes) X(source) X(ledger_interval)		\
	X(arrivals) X(buffered) X(decimal) X(bits) X(nearest) X(message)	\
	X(figure) X(table) X(record_report) X(aligntab) X(find)		\
	X(unit_name) X(mapping) X(judge) X(header)	\
	X(cause) X(drive_log) X(drive_interval) X(mode_keeper) X(top_counting) X(top_names)	\
	X(top_report) X(shapes) X(probed) X(decode) X(unit_claims) X(hwdb)	\
	X(layout) X(lawful) X(kind) X(rounds) X(cut) X(cut_state) X(cut_judge)	\
	X(same_disk) X(online) X(lanes) X(members) X(schema)

#define TAP_DECLARE(name) extern const struct tap_test name##_tests[];
TAP_FILES(TAP_DECLARE)
#undef TAP_DECLARE

#endif
