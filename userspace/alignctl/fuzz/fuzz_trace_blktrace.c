// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's binary traces. Each record gets a valid magic number, in the
 * byte order that the first byte of the input chooses.
 */
#include <linux/blktrace_api.h>

#include "fuzz_trace.h"

#define VERSION	7U

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t magic = BLK_IO_TRACE_MAGIC | VERSION;
	struct blk_io_trace event;
	uint16_t behind;
	uint8_t *bytes;
	bool swapped;
	size_t at;

	if (!size)
		return 0;
	swapped = *data & 1;
	if (swapped)
		magic = __builtin_bswap32(magic);
	bytes = malloc(size);
	FUZZ_CHECK(bytes);
	memcpy(bytes, data + 1, --size);
	for (at = 0; at + sizeof(event) <= size;
	     at += sizeof(event) + behind) {
		memcpy(bytes + at, &magic, sizeof(magic));
		memcpy(&event, bytes + at, sizeof(event));
		behind = swapped ? __builtin_bswap16(event.pdu_len) :
				   event.pdu_len;
	}
	fuzz_trace(bytes, size);
	free(bytes);
	return 0;
}
