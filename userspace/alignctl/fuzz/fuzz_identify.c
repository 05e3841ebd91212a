// SPDX-License-Identifier: GPL-2.0
/* The SCSI page with a drive's Identify data. */
#include "fuzz_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stack_view view, before;
	int64_t physical;
	/* no readable byte behind the page */
	uint8_t *page = malloc(size ? size : 1);

	FUZZ_CHECK(page);
	if (size)
		memcpy(page, data, size);
	memset(&view, 0, sizeof(view));
	before = view;
	if (!header_identify(page, size, &view)) {
		FUZZ_CHECK(!memcmp(&view, &before, sizeof(view)));
	} else {
		fuzz_figure(view.figure[STACK_LOGICAL], 512, 65536);
		FUZZ_CHECK(maybe_get(view.figure[STACK_PHYSICAL], &physical));
		fuzz_figure(view.figure[STACK_PHYSICAL],
			    maybe_or(view.figure[STACK_LOGICAL], 65536), 65536);
		fuzz_figure(view.figure[STACK_OFFSET], 0, physical - 1);
	}
	free(page);
	return 0;
}
