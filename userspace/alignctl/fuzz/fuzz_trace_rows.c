// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of known formats. The first byte says which one is named, and whether
 * one disk is read.
 */
#include "fuzz_trace.h"

/* Bit of the first byte: the disk "1" alone. */
#define ONE_DISK	0x10

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum trace_readable from;

	if (!size)
		return 0;
	from = TRACE_READABLE_MSR + data[0] % ONE_DISK;
	fuzz_choice.from = from <= TRACE_READABLE_BLKREPLAY ? from :
							      TRACE_NR_READABLE;
	fuzz_choice.disk = data[0] & ONE_DISK ? "1" : NULL;
	fuzz_trace(data + 1, size - 1);
	return 0;
}
