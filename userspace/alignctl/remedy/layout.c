// SPDX-License-Identifier: GPL-2.0
/*
 * The table of layouts: tool, range of units, the command, and what remains
 * misaligned.
 */
#include <inttypes.h>

#include "base/message.h"
#include "base/units.h"
#include "remedy/layout.h"

#define UNIT_LEAST	512
#define UNIT_MOST	((int64_t)MIB)
#define EVERY_UNIT	.from = UNIT_LEAST, .to = UNIT_MOST
#define FROM_PAGE	(2 * (int64_t)PAGE_BYTES)

/* Where a partition begins, and what is left free behind: the tables' room. */
#define TABLE_ROOM	((int64_t)MIB)

/* Limits of the tools, bytes; each with its source. */
#define XFS_SECTOR_MAX	32768	/* mkfs.xfs(8), -s: XFS_MAX_SECTORSIZE, libxfs/xfs_fs.h */
#define XFS_BLOCK_MAX	65536	/* mkfs.xfs(8), -b: XFS_MAX_BLOCKSIZE, libxfs/xfs_fs.h */
#define XFS_LOG_MAX	262144	/* mkfs.xfs(8), -l su: XLOG_MAX_RECORD_BSIZE */
#define EXT_BLOCK_MAX	65536	/* mke2fs(8), -b: EXT2_MAX_BLOCK_SIZE, ext2fs/ext2_fs.h */
#define ASHIFT_MAX	65536	/* zpoolprops(7), ashift: 9 to 16 */
#define LUKS_SECTOR_MAX	4096	/* cryptsetup-luksFormat(8), --sector-size */
#define INNODB_PAGE_MAX	65536	/* MySQL's manual, innodb_page_size: 4096 to 65536 */

/* Where the device has to begin. */
enum layout_start {
	START_AT_UNIT,		/* at a unit */
	START_SHIFTED,		/* anywhere: the layout can be shifted to a unit */
	START_DISK,		/* it is no partition */
	START_FILES,		/* it is of files, which a file system places */
};

/* What {number} of a command is. */
enum layout_number {
	NUMBER_NONE,
	NUMBER_XFS_LOG,		/* the unit, at most XFS_LOG_MAX, bytes */
	NUMBER_XFS_SECTOR,	/* the unit, at most XFS_SECTOR_MAX, bytes */
	NUMBER_BLOCKS,		/* the unit, in blocks of a page */
	NUMBER_SHIFT,		/* binary logarithm of {size} */
};

/**
 * struct layout - a row of the table
 * @name: the layout's word; several rows have it, each for other units
 * @from: least unit that the row is for, bytes
 * @to: largest one
 * @least: least value of {size}, which is the unit, bytes
 * @most: largest one; 0: the unit
 * @writes: largest value of layout_advice.writes, bytes; 0: {size}
 * @start: place where the device has to begin
 * @number: kind of the value of {number}
 * @block_device: the tool takes no regular file
 * @setting: @give is no command
 * @give: command or settings to give, with words of struct remedy_words in braces
 * @shifted: command for a device that begins inside a unit, with START_SHIFTED
 * @needs: condition for using it, or NULL
 * @left: words for the writes that still cover a unit in part, or NULL
 */
struct layout {
	const char *name;
	int64_t from;
	int64_t to;
	int64_t least;
	int64_t most;
	int64_t writes;
	enum layout_start start;
	enum layout_number number;
	bool block_device;
	bool setting;
	const char *give;
	const char *shifted;
	const char *needs;
	const char *left;
};

/*
 * Each row has a test that makes the layout by its command and lets check judge
 * it, or that forecasts the writes of its settings: tests/remedy/test_layouts.py.
 */
static const struct layout layouts[] = {
	/* sfdisk(8), input format: start and size in sectors of the device */
	{
		.name = "partition", EVERY_UNIT, .start = START_DISK,
		.give = "echo 'start={number}, size={size}' | sfdisk --label gpt {device}",
	},
	/*
	 * mkfs.xfs(8). A sector or block above a page: Linux 6.12 mounts such
	 * blocks, and refuses such sectors; 7.2 mounts both.
	 */
	{
		.name = "xfs", .from = UNIT_LEAST, .to = PAGE_BYTES,
		.give = "mkfs.xfs -s size={size} -b size=4096 {device}",
	},
	{
		.name = "xfs", .from = FROM_PAGE, .to = UNIT_MOST,
		.writes = PAGE_BYTES, .number = NUMBER_XFS_LOG,
		.give = "mkfs.xfs -s size=4096 -b size=4096 -d su={size},sw=1 -l su={number} {device}",
		.left = "metadata, small files and the ends of files are written in blocks of 4096",
	},
	{
		.name = "xfs-block", .from = FROM_PAGE, .to = XFS_BLOCK_MAX,
		.writes = PAGE_BYTES, .number = NUMBER_XFS_LOG,
		.give = "mkfs.xfs -s size=4096 -b size={size} -l su={number} {device}",
		.needs = "Linux 6.12 or later",
		.left = "superblocks and the headers of free space are written in sectors of 4096",
	},
	{
		.name = "xfs-block", .from = 2 * XFS_BLOCK_MAX, .to = UNIT_MOST,
		.most = XFS_BLOCK_MAX,
		.writes = PAGE_BYTES, .number = NUMBER_XFS_LOG,
		.give = "mkfs.xfs -s size=4096 -b size={size} -l su={number} {device}",
		.needs = "Linux 6.12 or later",
		.left = "blocks have 65536 bytes at most, and headers are written in sectors of 4096",
	},
	{
		.name = "xfs-sector", .from = FROM_PAGE, .to = XFS_SECTOR_MAX,
		.number = NUMBER_XFS_SECTOR,
		.give = "mkfs.xfs -s size={number} -b size={size} {device}",
		.needs = "a later Linux than 6.12, as 7.2",
	},
	{
		.name = "xfs-sector", .from = 2 * XFS_SECTOR_MAX, .to = UNIT_MOST,
		.most = XFS_BLOCK_MAX,
		.writes = XFS_SECTOR_MAX, .number = NUMBER_XFS_SECTOR,
		.give = "mkfs.xfs -s size={number} -b size={size} {device}",
		.needs = "a later Linux than 6.12, as 7.2",
		.left = "sectors have 32768 bytes at most, and blocks 65536",
	},
	/* mke2fs(8); stride and stripe_width are in blocks */
	{
		.name = "ext4", .from = UNIT_LEAST, .to = PAGE_BYTES,
		.least = PAGE_BYTES,
		.give = "mkfs.ext4 -b {size} {device}",
	},
	{
		.name = "ext4", .from = FROM_PAGE, .to = UNIT_MOST,
		.most = PAGE_BYTES, .number = NUMBER_BLOCKS,
		.give = "mkfs.ext4 -b {size} -E stride={number},stripe_width={number} {device}",
		.left = "metadata, the journal, small files and the ends of files are written in blocks of 4096",
	},
	{
		.name = "ext4-block", .from = FROM_PAGE, .to = EXT_BLOCK_MAX,
		.give = "mkfs.ext4 -b {size} {device}",
		.needs = "a later Linux than 6.12, as 7.2",
	},
	{
		.name = "ext4-block", .from = 2 * EXT_BLOCK_MAX, .to = UNIT_MOST,
		.most = EXT_BLOCK_MAX,
		.give = "mkfs.ext4 -b {size} {device}",
		.needs = "a later Linux than 6.12, as 7.2",
		.left = "blocks have 65536 bytes at most",
	},
	/* zpoolprops(7); uberblocks: MAX_UBERBLOCK_SHIFT, sys/vdev_impl.h */
	{
		.name = "zpool", .from = UNIT_LEAST, .to = 8192,
		.number = NUMBER_SHIFT,
		.give = "zpool create -o ashift={number} {name} {device}",
	},
	{
		.name = "zpool", .from = 16384, .to = ASHIFT_MAX,
		.number = NUMBER_SHIFT,
		.give = "zpool create -o ashift={number} {name} {device}",
		.left = "uberblocks are written in 8192 bytes, some for each transaction group",
	},
	{
		.name = "zpool", .from = 2 * ASHIFT_MAX, .to = UNIT_MOST,
		.most = ASHIFT_MAX, .number = NUMBER_SHIFT,
		.give = "zpool create -o ashift={number} {name} {device}",
		.left = "blocks are multiples of 65536 bytes, and uberblocks are written in 8192",
	},
	/* cryptsetup-luksFormat(8); --offset is in sectors of 512 bytes */
	{
		.name = "luks", .from = UNIT_LEAST, .to = LUKS_SECTOR_MAX,
		.give = "cryptsetup luksFormat --type luks2 --sector-size {size} --offset 32768 {device}",
	},
	{
		.name = "luks", .from = 2 * LUKS_SECTOR_MAX, .to = UNIT_MOST,
		.most = LUKS_SECTOR_MAX,
		.give = "cryptsetup luksFormat --type luks2 --sector-size {size} --offset 32768 {device}",
		.left = "it adds none, and passes on writes of 4096 bytes: what is inside decides",
	},
	/* pvcreate(8); extents of vgcreate, 4 MiB, are multiples of each unit */
	{
		.name = "lvm", EVERY_UNIT, .start = START_SHIFTED,
		.block_device = true,
		.give = "pvcreate --dataalignment 1m {device}",
		.shifted = "pvcreate --dataalignment 1m --dataalignmentoffset {offset}b {device}",
	},
	/* mdadm(8); the superblock has 512 bytes for two members: md_p.h */
	{
		.name = "md", .from = UNIT_LEAST, .to = UNIT_LEAST,
		.block_device = true,
		.give = "mdadm --create /dev/md/{name} --level=1 --raid-devices=2 --data-offset=1M {device} missing",
	},
	{
		.name = "md", .from = 2 * UNIT_LEAST, .to = UNIT_MOST,
		.block_device = true,
		.give = "mdadm --create /dev/md/{name} --level=1 --raid-devices=2 --data-offset=1M {device} missing",
		.left = "the superblock is written in 512 bytes when the state of the array changes",
	},
	/*
	 * Ceph's BlueStore configuration reference: a power of two, set before
	 * the OSD is made. bdev_block_size is 4096: common/options/global.yaml.in
	 */
	{
		.name = "ceph", .from = UNIT_LEAST, .to = PAGE_BYTES,
		.least = PAGE_BYTES, .setting = true,
		.give = "bluestore_min_alloc_size = {size}",
		.needs = "set before the OSD is made",
	},
	{
		.name = "ceph", .from = FROM_PAGE, .to = UNIT_MOST,
		.setting = true,
		.give = "bluestore_min_alloc_size = {size}",
		.needs = "set before the OSD is made",
		.left = "overwrites of less, and RocksDB's log, are written in multiples of bdev_block_size, 4096 bytes",
	},
	/*
	 * PostgreSQL's manual, Preset Options and configure: 1 to 32 KiB, of
	 * the log 1 to 64. initdb has --wal-segsize only, a multiple of 1 MiB.
	 */
	{
		.name = "postgresql", .from = UNIT_LEAST, .to = 8192,
		.least = 8192, .start = START_FILES, .setting = true,
		.give = "block_size {size}, wal_block_size {size}, as it is by default",
	},
	{
		.name = "postgresql", .from = 16384, .to = 16384,
		.start = START_FILES, .setting = true,
		.give = "./configure --with-blocksize=16 --with-wal-blocksize=16",
		.needs = "compiling it: initdb cannot change its block sizes",
	},
	{
		.name = "postgresql", .from = 32768, .to = 32768,
		.start = START_FILES, .setting = true,
		.give = "./configure --with-blocksize=32 --with-wal-blocksize=32",
		.needs = "compiling it: initdb cannot change its block sizes",
	},
	{
		.name = "postgresql", .from = 65536, .to = UNIT_MOST,
		.writes = 32768, .start = START_FILES, .setting = true,
		.give = "./configure --with-blocksize=32 --with-wal-blocksize=64",
		.needs = "compiling it: initdb cannot change its block sizes",
		.left = "pages have 32768 bytes at most, and pages of the log 65536",
	},
	/*
	 * MySQL's manual, InnoDB Startup Options: innodb_log_write_ahead_size is
	 * at most a page. The log itself grows in blocks of 512 bytes, which the
	 * page cache makes pages of.
	 */
	{
		.name = "innodb", .from = UNIT_LEAST, .to = PAGE_BYTES,
		.least = 16384, .start = START_FILES, .setting = true,
		.give = "innodb_page_size={size} innodb_log_write_ahead_size=8192, as it is by default",
	},
	{
		.name = "innodb", .from = 8192, .to = 8192,
		.least = 16384, .start = START_FILES, .setting = true,
		.give = "innodb_page_size={size} innodb_log_write_ahead_size=8192, as it is by default",
		.left = "the end of the redo log is written in pages of 4096",
	},
	{
		.name = "innodb", .from = 16384, .to = INNODB_PAGE_MAX,
		.start = START_FILES, .setting = true,
		.give = "innodb_page_size={size} innodb_log_write_ahead_size={size}",
		.needs = "set before the data directory is made",
		.left = "the end of the redo log is written in pages of 4096",
	},
	{
		.name = "innodb", .from = 2 * INNODB_PAGE_MAX, .to = UNIT_MOST,
		.most = INNODB_PAGE_MAX, .start = START_FILES, .setting = true,
		.give = "innodb_page_size={size} innodb_log_write_ahead_size={size}",
		.needs = "set before the data directory is made",
		.left = "pages have 65536 bytes at most, and the end of the redo log is written in pages of 4096",
	},
};

size_t layout_nr(void)
{
	return sizeof(layouts) / sizeof(layouts[0]);
}

static int64_t at_most(int64_t bytes, int64_t most)
{
	return bytes < most ? bytes : most;
}

static int64_t size_of(const struct layout *row, int64_t unit)
{
	int64_t size = unit > row->least ? unit : row->least;

	return row->most ? at_most(size, row->most) : size;
}

static int64_t number_of(const struct layout *row, int64_t unit)
{
	switch (row->number) {
	case NUMBER_NONE:
		break;
	case NUMBER_XFS_LOG:
		return at_most(unit, XFS_LOG_MAX);
	case NUMBER_XFS_SECTOR:
		return at_most(unit, XFS_SECTOR_MAX);
	case NUMBER_BLOCKS:
		return unit / PAGE_BYTES;
	case NUMBER_SHIFT:
		return __builtin_ctzll((uint64_t)size_of(row, unit));
	}
	return 0;
}

/*
 * Find the place of one partition that has all of a disk, in its sectors.
 * Return: NULL, or why there is none.
 */
static const char *place_partition(const struct layout_place *place,
				   int64_t offset, struct remedy_words *words)
{
	int64_t start = TABLE_ROOM + offset, bytes, size;

	if (offset % place->logical)
		return "units begin inside its logical blocks, where no partition can begin";
	if (!maybe_get(place->bytes, &bytes))
		return "its size is not known";
	size = (bytes - start - TABLE_ROOM) & -place->unit;
	if (size <= 0)
		return "it is too small for a partition table and a partition";
	words->number = start / place->logical;
	words->size = size / place->logical;
	return NULL;
}

/* Return why a layout cannot be made on a place, for free(), or NULL. */
static char *why_not(const struct layout *row,
		     const struct layout_place *place,
		     struct remedy_words *words)
{
	const char *why;
	int64_t offset;

	if (row->start == START_FILES)
		return NULL;
	if (!maybe_get(place->offset, &offset))
		return message_format("where its units begin is not known");
	words->offset = offset;
	if (row->start == START_AT_UNIT && offset)
		return message_format("its first unit begins at byte %" PRId64
				      ": make it on a partition that begins at one",
				      offset);
	if (row->start != START_DISK)
		return NULL;
	why = place_partition(place, offset, words);
	return why ? message_format("%s", why) : NULL;
}

bool layout_advise(size_t index, const struct layout_place *place,
		   const struct remedy_words *device,
		   struct layout_advice *advice)
{
	const struct layout *row = &layouts[index];
	struct remedy_words words = *device;
	char *why;

	if (place->unit < row->from || place->unit > row->to ||
	    (row->start == START_DISK && place->partition))
		return false;
	words.size = size_of(row, place->unit);
	words.number = number_of(row, place->unit);
	words.name = "new";
	words.block_device = row->block_device;
	*advice = (struct layout_advice) {
		.name = row->name,
		.writes = row->writes ? at_most(words.size, row->writes) :
					words.size,
		.command = !row->setting,
		.needs = row->needs,
	};
	why = why_not(row, place, &words);
	if (why) {
		advice->left = why;
		return true;
	}
	/* settings are of no device */
	words.image &= !row->setting;
	advice->give = remedy_fill(words.offset && row->shifted ? row->shifted :
								  row->give,
				   &words);
	if (row->left)
		advice->left = message_format("%s", row->left);
	return true;
}
