// SPDX-License-Identifier: GPL-2.0
/* The table of content types: the figure by which each is judged, and its reader. */
#include <string.h>

#include "audit/content.h"

#define ANEW(how)	"fixed when it is made: back up, make it anew with " how ", restore"
#define LARGER		ANEW("larger ones")
#define CLUSTERS \
	ANEW("larger clusters, the first at a multiple of their size")
#define POOL \
	"fixed when the vdev is made: send the pool's content to a new one with a larger ashift"

/* Rows by what judges them, and inside of each group by name. */
static const struct content_type types[] = {
	/* the smallest write is a block, which libblkid gives */
	{ .name = "apfs", CONTENT_BLOCK },
	{ .name = "bcachefs", CONTENT_BLOCK, .way_out = LARGER },
	{ .name = "befs", CONTENT_BLOCK, .way_out = LARGER },
	{ .name = "btrfs", CONTENT_BLOCK, .way_out = LARGER },
	{ .name = "exfs", CONTENT_BLOCK, .way_out = LARGER },
	{ .name = "f2fs", CONTENT_BLOCK },
	{ .name = "gfs", CONTENT_BLOCK, .way_out = LARGER },
	{ .name = "gfs2", CONTENT_BLOCK, .way_out = LARGER },
	{ .name = "hfs", CONTENT_BLOCK, .way_out = LARGER },
	{ .name = "hfsplus", CONTENT_BLOCK, .way_out = LARGER },
	{ .name = "hpfs", CONTENT_BLOCK },
	{ .name = "jfs", CONTENT_BLOCK },
	{ .name = "minix", CONTENT_BLOCK, .way_out = ANEW("version 3 and larger ones") },
	{ .name = "nilfs2", CONTENT_BLOCK, .way_out = LARGER },
	{ .name = "ocfs2", CONTENT_BLOCK, .way_out = LARGER },
	{ .name = "reiserfs", CONTENT_BLOCK },
	{ .name = "scoutfs", CONTENT_BLOCK },
	{ .name = "swap", CONTENT_BLOCK, .unit = "pages" },
	{ .name = "swsuspend", CONTENT_BLOCK, .unit = "pages" },
	{ .name = "udf", CONTENT_BLOCK, .way_out = LARGER },
	{ .name = "ufs", CONTENT_BLOCK, .unit = "fragments", .way_out = LARGER },
	{ .name = "vxfs", CONTENT_BLOCK, .way_out = LARGER },
	{ .name = "zfs_member", CONTENT_BLOCK, .way_out = POOL },
	{ .name = "zonefs", CONTENT_BLOCK },

	/* a block that a reader of ours finds */
	{ .name = "bcache", CONTENT_BLOCK, header_bcache, .way_out = LARGER },
	{ .name = "exfat", CONTENT_BLOCK, header_exfat, "clusters", CLUSTERS },
	{ .name = "ext2", CONTENT_BLOCK, header_ext, .way_out = LARGER },
	{ .name = "ext3", CONTENT_BLOCK, header_ext, .way_out = LARGER },
	{ .name = "ext4", CONTENT_BLOCK, header_ext, .way_out = LARGER },
	{ .name = "ext4dev", CONTENT_BLOCK, header_ext, .way_out = LARGER },
	{ .name = "jbd", CONTENT_BLOCK, header_ext, .way_out = LARGER },
	{ .name = "ntfs", CONTENT_BLOCK, header_ntfs, "clusters",
	  ANEW("larger clusters") },
	{ .name = "vfat", CONTENT_BLOCK, header_fat, "clusters", CLUSTERS },
	{ .name = "xfs", CONTENT_SECTOR, header_xfs, .way_out = LARGER },

	/* something else lies in its data */
	{ .name = "LVM2_member", CONTENT_DATA, header_lvm },
	{ .name = "crypto_LUKS", CONTENT_DATA, header_luks },
	{ .name = "linux_raid_member", CONTENT_DATA, header_md },

	/* images, and tables of hashes */
	{ .name = "DM_verity_hash", CONTENT_READ_ONLY },
	{ .name = "cramfs", CONTENT_READ_ONLY },
	{ .name = "erofs", CONTENT_READ_ONLY },
	{ .name = "iso9660", CONTENT_READ_ONLY },
	{ .name = "nss", CONTENT_READ_ONLY },
	{ .name = "romfs", CONTENT_READ_ONLY },
	{ .name = "squashfs", CONTENT_READ_ONLY },
	{ .name = "squashfs3", CONTENT_READ_ONLY },

	{ .name = "BitLocker", CONTENT_UNREAD },
	{ .name = "DM_integrity", CONTENT_UNREAD },
	{ .name = "DM_snapshot_cow", CONTENT_UNREAD },
	{ .name = "LVM1_member", CONTENT_UNREAD },
	{ .name = "ReFS", CONTENT_UNREAD },
	{ .name = "VMFS", CONTENT_UNREAD },
	{ .name = "VMFS_volume_member", CONTENT_UNREAD },
	{ .name = "adaptec_raid_member", CONTENT_UNREAD },
	{ .name = "bfs", CONTENT_UNREAD },
	{ .name = "ceph_bluestore", CONTENT_UNREAD },
	{ .name = "cs_fvault2", CONTENT_UNREAD },
	{ .name = "ddf_raid_member", CONTENT_UNREAD },
	{ .name = "drbd", CONTENT_UNREAD },
	{ .name = "drbdmanage_control_volume", CONTENT_UNREAD },
	{ .name = "drbdproxy_datalog", CONTENT_UNREAD },
	{ .name = "hpt37x_raid_member", CONTENT_UNREAD },
	{ .name = "hpt45x_raid_member", CONTENT_UNREAD },
	{ .name = "isw_raid_member", CONTENT_UNREAD },
	{ .name = "jmicron_raid_member", CONTENT_UNREAD },
	{ .name = "lsi_mega_raid_member", CONTENT_UNREAD },
	{ .name = "mpool", CONTENT_UNREAD },
	{ .name = "nvidia_raid_member", CONTENT_UNREAD },
	{ .name = "ocfs", CONTENT_UNREAD },
	{ .name = "oracleasm", CONTENT_UNREAD },
	{ .name = "promise_fasttrack_raid_member", CONTENT_UNREAD },
	{ .name = "reiser4", CONTENT_UNREAD },
	{ .name = "silicon_medley_raid_member", CONTENT_UNREAD },
	{ .name = "stratis", CONTENT_UNREAD },
	{ .name = "sysv", CONTENT_UNREAD },
	{ .name = "ubi", CONTENT_UNREAD },
	{ .name = "ubifs", CONTENT_UNREAD },
	{ .name = "vdo", CONTENT_UNREAD },
	{ .name = "via_raid_member", CONTENT_UNREAD },
	{ .name = "xenix", CONTENT_UNREAD },
	{ .name = "xfs_external_log", CONTENT_UNREAD },
};

const struct content_type *content_type_of(const char *name)
{
	size_t i;

	for (i = 0; name && i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(name, types[i].name))
			return &types[i];
	return NULL;
}

bool content_is_unread(const struct stack_content *content)
{
	const struct content_type *type = content_type_of(content->type);

	if (!content->type || content->unread)
		return false;
	switch (type ? type->rule : CONTENT_UNREAD) {
	case CONTENT_BLOCK:
		return !maybe_known(content->block);
	case CONTENT_SECTOR:
		return !maybe_known(content->sector);
	case CONTENT_DATA:
	case CONTENT_READ_ONLY:
		return false;
	case CONTENT_UNREAD:
		break;
	}
	return true;
}

bool content_is_ext(const char *type)
{
	return !strcmp(type, "ext2") || !strcmp(type, "ext3") ||
	       !strcmp(type, "ext4");
}

bool content_writes_blocks(const struct stack_content *content, int64_t block)
{
	const char *type = content->type;

	if (!type)
		return !content->table && !content->unread;
	if (content->unread)
		return false;
	if (!strcmp(type, "xfs") || !strcmp(type, "crypto_LUKS"))
		return maybe_above(content->sector, block - 1);
	return (content_is_ext(type) || !strcmp(type, "btrfs") ||
		!strcmp(type, "swap")) && maybe_above(content->block, block - 1);
}
