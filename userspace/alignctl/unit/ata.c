// SPDX-License-Identifier: GPL-2.0
/* Read IDENTIFY DEVICE from VPD page 89h in sysfs. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "unit/ata.h"

#define PAGE_89H_BYTES	572U

void ata_identify(const char *disk_dir, struct ata_identity *ata)
{
	CLEANUP_FREE char *path = message_format("%s/device/vpd_pg89",
						 disk_dir);
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t page[PAGE_89H_BYTES];
	ssize_t got = fd < 0 ? -1 : read(fd, page, sizeof(page));

	memset(ata, 0, sizeof(*ata));
	if (got <= 0)
		return;
	decode_ata(page, (size_t)got, &ata->sectors);
	ata->rpm = decode_ata_rpm(page, (size_t)got);
	ata->model = decode_ata_model(page, (size_t)got);
	ata->firmware = decode_ata_firmware(page, (size_t)got);
}
