// SPDX-License-Identifier: GPL-2.0
/* Traces in Parquet: what the process writes that reads the file. */
#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_choice.from = TRACE_READABLE_PARQUET;
	fuzz_trace(data, size);
	return 0;
}
