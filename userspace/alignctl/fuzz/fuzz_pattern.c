// SPDX-License-Identifier: GPL-2.0
/* Sectors as a drive may return them: intact, torn, or with other data. */
#include "base/pattern.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *sector = malloc(PATTERN_SECTOR);
	unsigned char whole[PATTERN_SECTOR];
	struct fuzz_bytes bytes = { data, size };
	struct pattern_label label, found = { 1, 2, 3 };
	enum pattern_state state;

	FUZZ_CHECK(sector);
	label.sector = fuzz_take(&bytes, 8);
	label.sequence = fuzz_take(&bytes, 8);
	label.run = pattern_run(fuzz_take(&bytes, 8));
	pattern_fill(whole, 1);
	pattern_label(whole, &label, 1);
	FUZZ_CHECK(pattern_read(whole, &found) == PATTERN_WHOLE);
	FUZZ_CHECK(found.sector == label.sector &&
		   found.sequence == label.sequence && found.run == label.run);

	/* overwrite the sector with the rest of the input */
	memcpy(sector, whole, PATTERN_SECTOR);
	if (bytes.left) {
		size_t at = fuzz_take(&bytes, 2) % PATTERN_SECTOR;
		size_t count = PATTERN_SECTOR - at;

		if (count > bytes.left)
			count = bytes.left;
		if (count)
			memcpy(sector + at, bytes.at, count);
	}
	found = (struct pattern_label) { 1, 2, 3 };
	state = pattern_read(sector, &found);
	if (state == PATTERN_ABSENT) {
		FUZZ_CHECK(found.sector == 1 && found.sequence == 2 &&
			   found.run == 3);
	} else {
		/* only content that we would write is whole */
		pattern_fill(whole, 1);
		pattern_label(whole, &found, 1);
		FUZZ_CHECK((state == PATTERN_WHOLE) ==
			   !memcmp(whole, sector, PATTERN_SECTOR));
	}
	free(sector);
	return 0;
}
