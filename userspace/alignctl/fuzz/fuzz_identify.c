// SPDX-License-Identifier: GPL-2.0
/* The SCSI pages with a drive's Identify data, serial number and rotation. */
#include "fuzz_header.h"
#include "unit/decode.h"

/* Check a text of the drive: printable, and without blanks around. */
static void check_text(char *text, size_t most)
{
	size_t length = text ? strlen(text) : 0, i;

	FUZZ_CHECK(!text || (length && length <= most));
	FUZZ_CHECK(!text || (*text != ' ' && text[length - 1] != ' '));
	for (i = 0; i < length; i++)
		FUZZ_CHECK(text[i] >= ' ' && text[i] <= '~');
	free(text);
}

/* Check a rotation rate: none, or one that the standards allow. */
static void check_rpm(struct maybe rpm)
{
	if (!maybe_is(rpm, 0))
		fuzz_figure(rpm, 0x401, 0xfffe);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct decoded_sectors found, before;
	int64_t physical;
	/* no readable byte behind the page */
	uint8_t *page = malloc(size ? size : 1);

	FUZZ_CHECK(page);
	if (size)
		memcpy(page, data, size);
	memset(&found, 0, sizeof(found));
	before = found;
	if (!decode_ata(page, size, &found)) {
		FUZZ_CHECK(!memcmp(&found, &before, sizeof(found)));
	} else {
		fuzz_figure(found.logical, 512, 65536);
		FUZZ_CHECK(maybe_get(found.physical, &physical));
		fuzz_figure(found.physical, maybe_or(found.logical, 65536),
			    DECODE_BLOCK_MAX);
		fuzz_figure(found.offset, 0, physical - 1);
	}
	check_text(decode_ata_model(page, size), 40);
	check_text(decode_ata_firmware(page, size), 8);
	check_text(decode_scsi_serial(page, size), size);
	check_rpm(decode_ata_rpm(page, size));
	check_rpm(decode_scsi_rpm(page, size));
	free(page);
	return 0;
}
