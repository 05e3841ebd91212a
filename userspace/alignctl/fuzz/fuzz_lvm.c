// SPDX-License-Identifier: GPL-2.0
/* The label of LVM, and the metadata that follow at byte 4096. */
#include "fuzz_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_device device = { .data = data, .size = size, .split = 1024,
				      .second = 4096 };

	fuzz_header(header_lvm, &device);
	return 0;
}
