// SPDX-License-Identifier: GPL-2.0
/* The superblock of bcache. */
#include "fuzz_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_device device = { .data = data, .size = size, .at = 4096 };

	fuzz_header(header_bcache, &device);
	return 0;
}
