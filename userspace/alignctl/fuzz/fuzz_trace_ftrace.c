// SPDX-License-Identifier: GPL-2.0
/* Text of ftrace, perf script and trace-cmd. */
#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_trace(data, size);
	return 0;
}
