// SPDX-License-Identifier: GPL-2.0
/* The boot sector of NTFS. */
#include "fuzz_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_device device = { .data = data, .size = size };

	fuzz_header(header_ntfs, &device);
	return 0;
}
