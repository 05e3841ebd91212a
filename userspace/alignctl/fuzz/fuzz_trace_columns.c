// SPDX-License-Identifier: GPL-2.0
/* Tables of any columns: the first line is the argument of --columns. */
#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	char *columns;

	if (!end)
		return 0;
	columns = strndup((const char *)data, end - data);
	fuzz_choice.columns = columns;
	fuzz_trace(end + 1, size - (end + 1 - data));
	free(columns);
	return 0;
}
