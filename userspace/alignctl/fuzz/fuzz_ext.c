// SPDX-License-Identifier: GPL-2.0
/* The superblock of ext2, 3 and 4. */
#include "fuzz_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_device device = { .data = data, .size = size,
				      .at = 1024 };

	fuzz_header(header_ext, &device);
	return 0;
}
