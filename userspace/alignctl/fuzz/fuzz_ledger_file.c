// SPDX-License-Identifier: GPL-2.0
/*
 * Saved documents of stats --json. An accepted one has names and counts of the
 * bins that the target has, and can be compared and read back.
 */
#include "ledger/ledger_compare.h"
#include "ledger/ledger_file.h"
#include "fuzz.h"

static void check(const struct ledger_selection *selection)
{
	unsigned int h, bin;
	size_t i, k;

	for (i = 0; i < selection->nr; i++) {
		const struct ledger *ledger = &selection->ledger[i];

		FUZZ_CHECK(ledger->device.name && ledger->device.dm);
		for (h = 0; h < HISTOGRAM_NR; h++)
			for (bin = ledger_histograms[h].bins;
			     bin < LEDGER_MAX_BINS; bin++)
				FUZZ_CHECK(!ledger->bins[h][bin]);
		for (k = 0; k < ledger->device.nr_targets; k++)
			FUZZ_CHECK(ledger->device.target[k].device &&
				   strlen(ledger->device.target[k].status.mode) <
				   STATUS_MODE_MAX);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ledger_selection selection;
	char *text = fuzz_text(data, size);
	char *error = ledger_file_parse(&selection, text, strlen(text));

	FUZZ_CHECK(error ? *error && !selection.nr : true);
	if (!error) {
		check(&selection);
		ledger_compare(&selection, &selection, size & 1);
	}
	ledger_select_free(&selection);
	free(error);
	free(text);
	return 0;
}
