// SPDX-License-Identifier: GPL-2.0
/* The boot sectors of FAT, exFAT and NTFS: where clusters begin, and their size. */
#include <string.h>

#include "audit/header.h"
#include "base/bytes.h"
#include "geometry.h"

#define SECTOR_MAX		4096U
#define FAT_CLUSTER_MAX		(256U << 10)
#define FAT_ENTRY		32U	/* of the root directory of FAT 12 and 16 */
#define EXFAT_CLUSTER_SHIFT	25U
#define NTFS_CLUSTER_SHIFT	21U

static bool is_power(uint64_t value, uint64_t least, uint64_t most)
{
	return value >= least && value <= most && !(value & (value - 1));
}

bool header_fat(const struct header_source *source,
		struct stack_content *content)
{
	uint8_t boot[ALIGN_SECTOR_SIZE];
	uint64_t sector, cluster, tables, reserved, root, start;

	if (!header_read(source, 0, boot, sizeof(boot)))
		return false;
	sector = le16_at(boot + 11);
	cluster = sector * boot[13];
	reserved = le16_at(boot + 14);
	root = le16_at(boot + 17) * FAT_ENTRY;
	tables = le16_at(boot + 22) ? le16_at(boot + 22) : le32_at(boot + 36);
	if (!is_power(sector, ALIGN_SECTOR_SIZE, SECTOR_MAX) ||
	    !is_power(cluster, sector, FAT_CLUSTER_MAX) || !reserved ||
	    !boot[16] || !tables)
		return false;
	/* the root directory of FAT 12 and 16 lies before the first cluster */
	start = (reserved + boot[16] * tables +
		 (root + sector - 1) / sector) * sector;
	if (start >= source->size)
		return false;
	content->start = maybe_of((int64_t)start);
	content->block = maybe_of((int64_t)cluster);
	return true;
}

bool header_exfat(const struct header_source *source,
		  struct stack_content *content)
{
	uint8_t boot[ALIGN_SECTOR_SIZE];
	uint64_t start;

	if (!header_read(source, 0, boot, sizeof(boot)) ||
	    memcmp(boot + 3, "EXFAT   ", 8) || boot[108] < 9 ||
	    boot[108] > 12 || boot[109] > EXFAT_CLUSTER_SHIFT - boot[108])
		return false;
	start = (uint64_t)le32_at(boot + 88) << boot[108];
	if (!start || start >= source->size)
		return false;
	content->start = maybe_of((int64_t)start);
	content->block = maybe_of(INT64_C(1) << (boot[108] + boot[109]));
	return true;
}

bool header_ntfs(const struct header_source *source,
		 struct stack_content *content)
{
	uint8_t boot[ALIGN_SECTOR_SIZE];
	uint64_t sector, cluster;

	if (!header_read(source, 0, boot, sizeof(boot)) ||
	    memcmp(boot + 3, "NTFS    ", 8))
		return false;
	sector = le16_at(boot + 11);
	/* above 128 it is a shift that is negative */
	if (boot[13] > 128 && 256U - boot[13] > NTFS_CLUSTER_SHIFT)
		return false;
	cluster = boot[13] > 128 ? sector << (256 - boot[13]) :
				   sector * boot[13];
	if (!is_power(sector, ALIGN_SECTOR_SIZE, SECTOR_MAX) ||
	    !is_power(cluster, sector, 1U << NTFS_CLUSTER_SHIFT))
		return false;
	content->block = maybe_of((int64_t)cluster);
	return true;
}
