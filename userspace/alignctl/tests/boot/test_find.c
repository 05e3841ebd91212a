// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "boot/find.h"
#include "tests/tap.h"

/* Properties as "NAME=value;...", found by their names. */
static const char *property_of(const char *name, void *context)
{
	static char value[256];
	const char *at = context;
	size_t length = strlen(name);

	while (*at) {
		size_t size = strcspn(at, ";");

		if (size > length && !strncmp(at, name, length) &&
		    at[length] == '=') {
			snprintf(value, sizeof(value), "%.*s",
				 (int)(size - length - 1), at + length + 1);
			return value;
		}
		at += size + !!at[size];
	}
	return NULL;
}

static void meant(void)
{
	static const struct {
		const char *device;
		const char *properties;
		bool means;
	} rows[] = {
		{ "/dev/sdb", "DEVNAME=/dev/sdb", true },
		{ "/dev/sdb", "DEVNAME=/dev/sdb1", false },
		{ "/dev/mapper/vg-lv",
		  "DEVNAME=/dev/dm-3;DEVLINKS=/dev/vg/lv /dev/mapper/vg-lv",
		  true },
		{ "/dev/vg/l", "DEVNAME=/dev/dm-3;DEVLINKS=/dev/vg/lv", false },
		{ "ID=wwn-1", "DEVLINKS=/dev/disk/by-id/wwn-1 /dev/x", true },
		{ "ID=wwn-1", "DEVLINKS=/dev/disk/by-id/wwn-1-part1", false },
		{ "UUID=AB-CD", "ID_FS_UUID_ENC=ab-cd", true },
		{ "UUID=ab", "ID_FS_UUID_ENC=abc", false },
		{ "UUID=ab", "ID_PART_ENTRY_UUID=ab", false },
		{ "LABEL=Ab", "ID_FS_LABEL_ENC=ab", false },
		{ "LABEL=a\\040b", "ID_FS_LABEL_ENC=a\\x20b", true },
		{ "PARTUUID=1-01", "ID_PART_ENTRY_UUID=1-01", true },
		{ "PARTLABEL=x", "ID_PART_ENTRY_NAME=x", true },
		/* the align device has the same content */
		{ "UUID=ab", "ID_FS_UUID_ENC=ab;DM_UUID=ALIGN-1", false },
		{ "UUID=ab", "ID_FS_UUID_ENC=ab;DM_UUID=part12-ALIGN-1",
		  false },
		{ "UUID=ab", "ID_FS_UUID_ENC=ab;DM_UUID=part1-mpath-1", true },
		{ "UUID=ab", "ID_FS_UUID_ENC=ab;DM_UUID=LVM-1", true },
		/* the paths below a multipath device, too */
		{ "ID=w", "DEVLINKS=/dev/disk/by-id/w;ID_FS_TYPE=mpath_member",
		  false },
		{ "ID=w",
		  "DEVLINKS=/dev/disk/by-id/w;DM_MULTIPATH_DEVICE_PATH=1",
		  false },
		{ "ID=w",
		  "DEVLINKS=/dev/disk/by-id/w;DM_MULTIPATH_DEVICE_PATH=0",
		  true },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP_FREE char *text = message_format("x %s", rows[i].device);
		struct aligntab tab = { 0 };

		aligntab_parse(&tab, "tab", text, strlen(text), true);
		CHECK(tab.nr == 1 &&
		      find_means(&tab.line[0], property_of,
				 (void *)rows[i].properties) == rows[i].means,
		      "%s, %s", rows[i].device, rows[i].properties);
		aligntab_free(&tab);
	}
}

/* The names of a multipath device, of which those of the disk are its paths', too. */
static void ranks(void)
{
	static const char *const links[] = {
		"dm-uuid-mpath-3600", "wwn-0x600", "scsi-3600", "dm-name-mpatha",
	};
	size_t i;

	for (i = 1; i < sizeof(links) / sizeof(links[0]); i++)
		CHECK(find_link_rank(links[i - 1]) < find_link_rank(links[i]),
		      "%s, %s", links[i - 1], links[i]);
	CHECK(find_link_rank("dm-uuid-mpath-3600") < FIND_RANK_DISK &&
	      find_link_rank("md-uuid-1") < FIND_RANK_DISK &&
	      find_link_rank("wwn-0x600") == FIND_RANK_DISK, "of a disk");
	CHECK(find_link_rank("lvm-pv-uuid-1") == SIZE_MAX, "content");
}

const struct tap_test find_tests[] = {
	{ "a line means its device, but never what attach made of it", meant },
	{ "a mapped device is named by its own UUID, not as its paths are", ranks },
	{ 0 },
};
