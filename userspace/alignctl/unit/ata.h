/* SPDX-License-Identifier: GPL-2.0 */
/* What an ATA drive says of itself, as the kernel has kept it. */
#ifndef ALIGNCTL_ATA_H
#define ALIGNCTL_ATA_H

#include "unit/decode.h"

/**
 * struct ata_identity - the drive's Identify data
 * @sectors: its sectors; all unknown: it does not say, or is no ATA drive
 * @rpm: its revolutions a minute, as decode_ata_rpm() has them
 * @model: its model, for free(), or NULL
 * @firmware: version of its firmware, for free(), or NULL
 */
struct ata_identity {
	struct decoded_sectors sectors;
	struct maybe rpm;
	char *model;
	char *firmware;
};

/* Read the page that sysfs has of a disk; no device is opened. */
void ata_identify(const char *disk_dir, struct ata_identity *ata);

#endif
