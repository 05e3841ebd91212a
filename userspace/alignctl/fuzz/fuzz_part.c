// SPDX-License-Identifier: GPL-2.0
/* Partial plans: what is read is written again as it was. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_codes.h"
#include "forecast/part.h"
#include "fuzz.h"
#include "fuzz_files.h"
#include "trace/crc32c.h"

/* Memory that a file of a few bytes cannot need. */
#define MOST_BYTES	(16U << 20)

static void read_again(const struct tallies *tallies)
{
	struct tallies again = { .most_bytes = MOST_BYTES };
	uint32_t i;

	FUZZ_CHECK(part_write(tallies, fuzz_written) == ALIGNCTL_FINE);
	FUZZ_CHECK(part_read(&again, fuzz_written) == ALIGNCTL_FINE);
	FUZZ_CHECK(again.nr == tallies->nr);
	for (i = 0; i < again.nr; i++) {
		FUZZ_CHECK(tally_same(&again.tally[i], &tallies->tally[i]));
		FUZZ_CHECK(!tally_compare(&again.tally[i],
					  &tallies->tally[i]));
		FUZZ_CHECK(again.tally[i].nr_kinds ==
			   tallies->tally[i].nr_kinds);
	}
	tallies_free(&again);
}

/* Return the lines with the last one that they need, whose checksum is theirs. */
static char *complete(const uint8_t *data, size_t size)
{
	char *lines = fuzz_text(data, size), *text = NULL;
	uint32_t nr = 0;
	const char *at;

	for (at = strstr(lines, "\ndisk "); at; at = strstr(at + 1, "\ndisk "))
		nr++;
	FUZZ_CHECK(asprintf(&text, "%send %" PRIu32 " %08" PRIx32 "\n", lines,
			    nr, crc32c(0, lines, strlen(lines))) > 0);
	free(lines);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tallies tallies = { .most_bytes = MOST_BYTES };
	char *text = complete(data, size);

	if (part_read(&tallies, fuzz_given(text, strlen(text))) ==
	    ALIGNCTL_FINE) {
		tallies_sort(&tallies);
		read_again(&tallies);
		if (tallies_check(&tallies) == ALIGNCTL_FINE &&
		    tallies_add_up(&tallies) == ALIGNCTL_FINE)
			FUZZ_CHECK(!tallies.nr || tallies.tally[0].disk[0]);
	}
	tallies_free(&tallies);
	free(text);
	return 0;
}
