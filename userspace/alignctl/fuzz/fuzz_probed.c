// SPDX-License-Identifier: GPL-2.0
/*
 * Files of 'alignctl probe'. An accepted one has blocks that an align device takes,
 * or a speed within its interval, and is of the disk.
 */
#include "base/json.h"
#include "sysfs/probed.h"
#include "fuzz.h"
#include "geometry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct probed_disk disk = {
		.name = "naa.5", .bytes = 1048576000,
		.logical = size & 1 ? 4096 : 512,
	};
	struct probed probed = { 7, 7 };
	struct probed_rotation rotation = { 7, 8, 9 };
	struct align_geometry geometry;
	struct json_object *document;
	char *text = fuzz_text(data, size);
	char *wrong = probed_parse(&probed, text, strlen(text), &disk);

	if (wrong) {
		FUZZ_CHECK(*wrong && probed.block == 7 && probed.offset == 7);
	} else {
		uint64_t number;

		FUZZ_CHECK(!align_geometry_init(&geometry, probed.block,
						disk.logical, probed.offset, 0,
						disk.bytes >> ALIGN_SECTOR_SHIFT));
		document = json_tokener_parse(text);
		FUZZ_CHECK(json_get_number(document, "size_bytes", &number) &&
			   number == disk.bytes);
		FUZZ_CHECK(!strcmp(json_get_text(document, "wwid"),
				   disk.name));
		json_object_put(document);
	}
	free(wrong);
	wrong = probed_rotation_parse(&rotation, text, strlen(text), &disk);
	if (wrong)
		FUZZ_CHECK(*wrong && rotation.rpm == 7 &&
			   rotation.least == 8 && rotation.most == 9);
	else
		FUZZ_CHECK(rotation.least <= rotation.rpm &&
			   rotation.rpm <= rotation.most &&
			   rotation.most < 0xffff);
	free(wrong);
	free(text);
	return 0;
}
