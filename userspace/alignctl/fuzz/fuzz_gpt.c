// SPDX-License-Identifier: GPL-2.0
/* The header of a GPT, at the second sector of each size. */
#include "fuzz_header.h"

static bool read_512(const struct header_source *source,
		     struct stack_content *content)
{
	return header_gpt(source, 512, content);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t sector;

	for (sector = 512; sector <= 65536; sector *= 2) {
		struct fuzz_device device = {
			.data = data, .size = size, .at = sector,
		};

		fuzz_header(read_512, &device);
	}
	return 0;
}
