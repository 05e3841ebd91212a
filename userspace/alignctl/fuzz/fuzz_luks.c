// SPDX-License-Identifier: GPL-2.0
/* The header of LUKS: its first sector, and the JSON of LUKS 2. */
#include "fuzz_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_device device = { .data = data, .size = size, .split = 512,
				      .second = 4096 };

	fuzz_header(header_luks, &device);
	return 0;
}
