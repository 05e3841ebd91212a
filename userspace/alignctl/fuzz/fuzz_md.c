// SPDX-License-Identifier: GPL-2.0
/* The superblock of md, at each of its four places in turn. */
#include "fuzz_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t places[] = {
		0, 4096, FUZZ_DEVICE_BYTES - 8192, FUZZ_DEVICE_BYTES - 65536,
	};
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct fuzz_device device = {
			.data = data, .size = size, .at = places[i],
		};

		fuzz_header(header_md, &device);
	}
	return 0;
}
