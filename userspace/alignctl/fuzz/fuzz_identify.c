// SPDX-License-Identifier: GPL-2.0
/* The SCSI page with a drive's Identify data. */
#include "fuzz_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stack_view view, before;
	size_t i;
	/* no readable byte behind the page */
	uint8_t *page = malloc(size ? size : 1);

	FUZZ_CHECK(page);
	if (size)
		memcpy(page, data, size);
	for (i = 0; i < STACK_NR_FIGURES; i++)
		view.figure[i] = STACK_UNKNOWN;
	before = view;
	if (!header_identify(page, size, &view)) {
		FUZZ_CHECK(!memcmp(&view, &before, sizeof(view)));
	} else {
		fuzz_figure(view.figure[STACK_LOGICAL], 512, 65536);
		fuzz_figure(view.figure[STACK_PHYSICAL],
			    view.figure[STACK_LOGICAL], 65536);
		fuzz_figure(view.figure[STACK_OFFSET], 0,
			    view.figure[STACK_PHYSICAL] - 1);
	}
	free(page);
	return 0;
}
