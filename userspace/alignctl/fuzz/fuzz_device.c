// SPDX-License-Identifier: GPL-2.0
/* Attributes of a block device in sysfs, and the geometry from them. */
#include "base/exit_codes.h"
#include "sysfs/device.h"
#include "fake_files.h"
#include "geometry.h"

/* Check whether the file of that name in @dir holds @number. */
static bool says(const char *dir, const char *file, uint64_t number)
{
	char path[128];
	const char *text;
	size_t length;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	text = fake_file(path);
	if (text && *text == '-' && !number)
		text++;
	length = text ? strlen(text) : 0;

	while (length && strchr(" \t", text[length - 1]))
		length--;
	return text && fuzz_is_number(text, length, number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, size };
	uint32_t physical = 512U << fuzz_take(&bytes, 1) % 8, offset = 1;
	struct device device;
	const char *disk;
	char *reason;
	bool known;

	fake_files_open(&bytes);
	FUZZ_CHECK(device_open_devno(&device, 8, "/dev/fuzz") == ALIGNCTL_FINE);
	disk = device.sys.disk_dir;
	FUZZ_CHECK(device.logical == 512 ||
		   says(disk, "queue/logical_block_size", device.logical));
	FUZZ_CHECK(device.physical == 512 ||
		   says(disk, "queue/physical_block_size", device.physical) ||
		   says(disk, "align/target0_physical_block_size",
			device.physical));
	FUZZ_CHECK(!device.io_min ||
		   says(disk, "queue/minimum_io_size", device.io_min));
	FUZZ_CHECK(!device.io_opt ||
		   says(disk, "queue/optimal_io_size", device.io_opt));
	FUZZ_CHECK(!device.sectors ||
		   says(device.sys.dir, "size", device.sectors));
	FUZZ_CHECK(device.sectors <= UINT64_MAX >> ALIGN_SECTOR_SHIFT);

	if (device_suggested_physical(&device)) {
		uint32_t suggested = device_suggested_physical(&device);

		FUZZ_CHECK(align_is_power_of_2(suggested) &&
			   suggested <= ALIGN_MAX_BLOCK_SIZE &&
			   suggested > device.physical);
	}
	known = device_offset_for(&device, physical, &offset);
	FUZZ_CHECK(offset < physical && (known || !offset));
	reason = device_shared_reason(&device);
	FUZZ_CHECK(!reason || *reason);
	free(reason);
	device_close(&device);
	fake_files_close();
	return 0;
}
