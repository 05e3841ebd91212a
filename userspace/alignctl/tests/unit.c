// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>

#include "tap.h"

unsigned int tap_failures;
const char *tap_skipped;

int main(void)
{
	static const struct tap_test *const files[] = {
		permutation_tests, plan_tests, pattern_tests, latency_tests,
		options_tests, status_tests, kernel_log_tests, record_tests,
		module_tests,
		device_tests, guard_tests, ledger_tests, io_queue_tests,
		replay_tests, histogram_tests, order_tests, placement_tests,
		engine_tests,
		trace_tests, trace_recording_tests, trace_iolog_tests,
		trace_blktrace_tests, forecast_tests, source_tests,
		arrivals_tests, buffered_tests, decimal_tests, nearest_tests,
		message_tests,
	};
	unsigned int number = 0, failed = 0;
	const struct tap_test *test;
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		for (test = files[i]; test->run; test++) {
			tap_failures = 0;
			tap_skipped = NULL;
			test->run();
			failed += tap_failures != 0;
			printf("%sok %u - %s%s%s\n",
			       tap_failures ? "not " : "", ++number,
			       test->promise, tap_skipped ? " # SKIP " : "",
			       tap_skipped ? tap_skipped : "");
		}
	}
	printf("1..%u\n", number);
	return failed != 0;
}
