// SPDX-License-Identifier: GPL-2.0
/* The answer of a SCSI disk to READ CAPACITY(16). */
#include "fuzz_header.h"
#include "unit/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct decoded_sectors found, before;
	/* no readable byte behind the answer */
	uint8_t *answer = malloc(size ? size : 1);

	FUZZ_CHECK(answer);
	if (size)
		memcpy(answer, data, size);
	memset(&found, 0, sizeof(found));
	before = found;
	if (!decode_capacity(answer, size, &found)) {
		FUZZ_CHECK(!memcmp(&found, &before, sizeof(found)));
	} else {
		FUZZ_CHECK(maybe_known(found.logical));
		fuzz_figure(found.logical, 512, 65536);
		fuzz_figure(found.physical, maybe_or(found.logical, 65536),
			    DECODE_BLOCK_MAX);
		fuzz_figure(found.offset, 0, maybe_or(found.physical, 1) - 1);
		FUZZ_CHECK(maybe_known(found.physical) ||
			   !maybe_known(found.offset));
	}
	free(answer);
	return 0;
}
